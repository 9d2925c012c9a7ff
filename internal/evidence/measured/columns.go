package measured

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// measureColumns are the columns of measurements; a file has at least one.
func measureColumns() []string {
	return []string{"silicon_ttft_ms", "silicon_tpot_ms", "ttft_est_ms", "tput_per_gpu", "joules_per_output_token"}
}

// knownColumns are those with a meaning of their own or none for a prediction; what
// else a file has may be a setting of the row's engine.
func knownColumns() []string {
	known := []string{
		"id", "silicon_data_source", "backend", "backend_version", "model_path", "system", "precision", "mode", "isl", "osl", "measured", "quality",
		"batch_size", "concurrency", "num_prompts", "length_ratio_low", "settings", "acceptance", "mtp_tokens", "spec_method", "spec_tokens",
		"kv_cache_dtype", "token_budget", "memory_fraction", "max_num_seqs", "recv_interval", "batch_wait_iters", "batch_wait_ratio", "cuda_graph_max_bs",
		"decode_token_budget", "decode_memory_fraction", "prefill_max_num_seqs", "gpus", "num_prefill_gpu", "num_decode_gpu", "gpu_count_source",
		"gemm_quant_mode", "moe_quant_mode", "ttft_stat", "tpot_stat", "ttft_est_share_of_e2e",
		"config_id", "framework", "checkpoint", "image", "image_share", "n_images", "n_runs_est", "date_first", "date_last", "defaulted",
	}
	for _, side := range []string{"", "prefill_", "decode_"} {
		for _, size := range []string{"batch_size", "num_workers", "tp_size", "pp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size"} {
			known = append(known, side+size)
		}
	}
	known = append(known, "request_rate", "arrival", "prefix", "prefix_share", "isl_stdev", "osl_stdev", "isl_bins", "osl_bins") // traffic
	return append(known, measureColumns()...)
}

// othersOf are the columns of a file that are not known, in its order.
func othersOf(head []string, columns map[string]int) []string {
	known := knownColumns()
	var out []string
	for i, h := range head {
		name := strings.TrimSpace(h)
		if at, ok := columns[name]; ok && at == i && name != "" && !slices.Contains(known, name) {
			out = append(out, name)
		}
	}
	return out
}

// rest reads the columns that are not known.
func (c *cells) rest() []Other {
	var out []Other
	for _, name := range c.others {
		if v := c.text(name); v != "" {
			out = append(out, Other{name, v})
		}
	}
	return out
}

// measures reads what was measured.
func (c *cells) measures(r *Row) {
	ms := func(column string) units.Seconds { return units.Seconds(c.given(column) / 1e3) }
	r.TTFT, r.TPOT, r.TTFTEstimate = ms("silicon_ttft_ms"), ms("silicon_tpot_ms"), ms("ttft_est_ms")
	r.TTFTMedian, r.TPOTMedian = c.median("ttft_stat"), c.median("tpot_stat")
	r.PerGPU, r.GPUs, r.Joules = c.given("tput_per_gpu"), int(c.given("gpus")), c.given("joules_per_output_token")
}

// median reads which figure of the requests of a run a column holds: their mean or
// their median. What was done with several runs may precede it: "median-of-runs of
// median".
func (c *cells) median(column string) bool {
	words := strings.Fields(c.text(column))
	if len(words) == 0 {
		return false
	}
	switch last := words[len(words)-1]; last {
	case "median":
		return true
	case "mean":
		return false
	default:
		if c.err == nil {
			c.err = fmt.Errorf("%s:%d: %s: want mean or median, got %q", c.name, c.line, column, c.text(column))
		}
		return false
	}
}

// speculation reads how tokens are drafted, under either name.
func (c *cells) speculation(r *Row) {
	method := c.text("spec_method")
	if by := draft.Method(method); by != draft.MTP && slices.Contains(draft.Methods(), by) {
		r.Drafter = by
	}
	r.Speculative = method != "" && method != "none"
	r.Marked = method == "" && slices.Contains(strings.Fields(r.Quality), MarkSpeculative)
	if n := int(c.given("spec_tokens")); r.Drafted == 0 && r.Speculative {
		r.Drafted = n
	}
	r.Marked = r.Marked && r.Drafted == 0
	r.Speculative = r.Speculative || r.Drafted > 0 || r.Marked
}

// sides reads the settings of each side of a disaggregated deployment. A file that
// has columns for them tells the sides apart.
func (c *cells) sides() Sides {
	s := Sides{
		PrefillSequences: int(c.given("prefill_max_num_seqs")), DecodeTokenBudget: int(c.given("decode_token_budget")),
		DecodeMemoryShare: c.given("decode_memory_fraction"),
	}
	s.Unknown = c.text("prefill_num_workers")+c.text("prefill_tp_size")+c.text("decode_num_workers")+c.text("decode_tp_size") == ""
	for _, column := range []string{"decode_token_budget", "decode_memory_fraction", "prefill_max_num_seqs"} {
		if _, ok := c.columns[column]; ok {
			s.Own = true
		}
	}
	return s
}

// linear reads the format of linear layers on Ascend devices, from the quantization that AIConfigurator's columns name or
// from the name of the checkpoint.
func (c *cells) linear() dtype.Action {
	name := strings.ToLower(c.text("checkpoint"))
	switch mode := c.text("gemm_quant_mode"); {
	case !strings.HasPrefix(strings.ToUpper(c.text("system")), "ATLAS"):
	case mode == "bf16" || mode == "bfloat16":
		return dtype.Disabled
	case mode == "" && strings.Contains(name, "w4a8"):
		return dtype.W4A8Dynamic
	}
	return ""
}
