package measured

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// WriteRows writes rows in the format that [Read] reads. Settings by an engine's own name
// have a column each.
func WriteRows(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	var others []string
	for i := range rows {
		for _, o := range rows[i].Others {
			if !slices.Contains(others, o.Column) {
				others = append(others, o.Column)
			}
		}
	}
	slices.Sort(others)
	head := []string{}
	for _, c := range (&Row{}).columns() {
		head = append(head, c.name)
	}
	if err := out.Write(append(head, others...)); err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		var record []string
		for _, c := range r.columns() {
			record = append(record, c.value)
		}
		for _, name := range others {
			at := slices.IndexFunc(r.Others, func(o Other) bool { return o.Column == name })
			value := ""
			if at >= 0 {
				value = r.Others[at].Value
			}
			record = append(record, value)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// column is a value of a row as a file has it.
type column struct{ name, value string }

// columns are those of an aggregated row.
func (r *Row) columns() []column {
	n := func(x int) string { return number(float64(x)) }
	stat := func(median bool) string {
		if median {
			return "median"
		}
		return "mean"
	}
	out := []column{
		{"id", r.ID},
		{"silicon_data_source", r.Source},
		{"measured", r.Measured},
		{"backend", r.Engine},
		{"backend_version", r.Version},
		{"model_path", r.Model},
		{"system", r.System},
		{"precision", r.Precision},
		{"mode", r.Mode},
		{"isl", n(r.Input)},
		{"osl", n(r.Output)},
		{"concurrency", n(r.Concurrency)},
		{"num_prompts", n(r.Requests)},
		{"length_ratio_low", number(r.LengthLow)},
		{"tp_size", n(r.TP)},
		{"pp_size", n(r.PP)},
		{"attention_dp_size", n(r.DP)},
		{"moe_tp_size", n(r.MoETP)},
		{"moe_ep_size", n(r.MoEEP)},
		{"gpus", n(r.GPUs)},
		{"kv_cache_dtype", r.KV},
		{"token_budget", n(r.TokenBudget)},
		{"memory_fraction", number(r.MemoryShare)},
		{"max_num_seqs", n(r.MaxSequences)},
		{"cuda_graph_max_bs", n(r.GraphBatch)},
		{"recv_interval", n(r.ReceiveEvery)},
		{"batch_wait_iters", n(r.BatchWaitSteps)},
		{"batch_wait_ratio", number(r.BatchWaitRatio)},
		{"mtp_tokens", n(r.Drafted)},
		{"spec_method", string(r.Drafter)},
		{"silicon_ttft_ms", number(r.TTFT.Ms())},
		{"ttft_stat", stat(r.TTFTMedian)},
		{"silicon_tpot_ms", number(r.TPOT.Ms())},
		{"tpot_stat", stat(r.TPOTMedian)},
		{"tput_per_gpu", number(r.PerGPU)},
		{"quality", r.Quality},
	}
	return out
}

// number is how a file writes a number; one that a row does not give is empty.
func number(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 8, 64)
}

// Set gives the row a setting of its engine, in the column that has it.
func (r *Row) Set(key, value string) error {
	x, err := strconv.ParseFloat(value, 64)
	whole := func(to *int) error {
		*to = int(x)
		return err
	}
	switch key {
	case "token_budget":
		return whole(&r.TokenBudget)
	case "max_sequences":
		return whole(&r.MaxSequences)
	case "graph.max_batch":
		if x == 0 {
			return errors.New("rows cannot say that no graphs are captured")
		}
		return whole(&r.GraphBatch)
	case "receive_interval":
		return whole(&r.ReceiveEvery)
	case "batch_wait.steps":
		return whole(&r.BatchWaitSteps)
	case "batch_wait.ratio":
		r.BatchWaitRatio = x
		return err
	case "memory_share":
		r.MemoryShare = x
		return err
	case "kv_format", "prefix_caching": // resolved; prompts of benchmarks share nothing
		return nil
	}
	if !slices.Contains(settingColumns(), key) {
		return fmt.Errorf("rows have no column for the setting %s", key)
	}
	r.Others = append(r.Others, Other{key, value})
	return nil
}
