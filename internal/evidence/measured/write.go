package measured

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
)

// WriteRows writes rows in the format that [Read] reads. Settings by an engine's own name
// have a column each.
func WriteRows(w io.Writer, rows []Row) error {
	var head, others []string
	for _, c := range (&Row{}).columns() {
		head = append(head, c.name)
	}
	for i := range rows {
		for _, o := range rows[i].Others {
			others = append(others, o.Column)
		}
	}
	slices.Sort(others)
	others = slices.Compact(others)
	t := table.New(append(head, others...)...)
	for i := range rows {
		var record []string
		for _, c := range rows[i].columns() {
			record = append(record, c.value)
		}
		values := map[string]string{}
		for _, o := range slices.Backward(rows[i].Others) { // the first of a name counts
			values[o.Column] = o.Value
		}
		for _, name := range others {
			record = append(record, values[name])
		}
		t.Row(record)
	}
	return t.CSV(w)
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
	whole := map[string]*int{
		"token_budget": &r.TokenBudget, "max_sequences": &r.MaxSequences, "graph.max_batch": &r.GraphBatch,
		"receive_interval": &r.ReceiveEvery, "batch_wait.steps": &r.BatchWaitSteps,
	}[key]
	share := map[string]*float64{"batch_wait.ratio": &r.BatchWaitRatio, "memory_share": &r.MemoryShare}[key]
	switch {
	case key == "graph.max_batch" && x == 0:
		return errors.New("rows cannot say that no graphs are captured")
	case whole != nil:
		*whole = int(x)
		return err
	case share != nil:
		*share = x
		return err
	case key == "kv_format" || key == "prefix_caching": // resolved; prompts of benchmarks share nothing
		return nil
	case !slices.Contains(settingColumns(), key):
		return fmt.Errorf("rows have no column for the setting %s", key)
	}
	r.Others = append(r.Others, Other{key, value})
	return nil
}
