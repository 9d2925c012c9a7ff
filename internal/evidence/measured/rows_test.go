package measured_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

var errUnknown = errors.New("unknown")

// TestEveryColumn: each column comes to its field.
func TestEveryColumn(t *testing.T) {
	t.Parallel()
	got := measuredtest.One(t, measuredtest.Needed("id", "i", "silicon_data_source", "somewhere; measured=2026-02-03T04:05", "backend_version", "1.2", "precision", "fp8", "mode", "agg",
		"concurrency", "12", "num_prompts", "34", "length_ratio_low", "0.7", "pp_size", "7", "attention_dp_size", "3", "moe_tp_size", "4", "moe_ep_size", "5",
		"kv_cache_dtype", "fp8", "token_budget", "678", "memory_fraction", "0.9", "max_num_seqs", "10", "recv_interval", "11",
		"batch_wait_iters", "13", "batch_wait_ratio", "0.14", "mtp_tokens", "2", "acceptance", "0.6", "quality", "noisy"))
	want := measured.Row{
		Line: 2, ID: "i", Source: "somewhere; measured=2026-02-03T04:05", Engine: "vllm", Version: "1.2", Measured: "2026-02-03", Model: "a/b", System: "h200_sxm",
		Precision: "fp8", Mode: "agg", Input: 1000, Output: 100, Concurrency: 12, Requests: 34, LengthLow: 0.7,
		Workers: measured.Workers{Count: 1, TP: 2, PP: 7, DP: 3, MoETP: 4, MoEEP: 5},
		KV:      "fp8", TokenBudget: 678, MemoryShare: 0.9, MaxSequences: 10, ReceiveEvery: 11, BatchWaitSteps: 13, BatchWaitRatio: 0.14,
		Speculative: true, Drafted: 2, Acceptance: 0.6, TTFT: 0.05, TPOT: 0.005, Quality: "noisy",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	got = measuredtest.One(t, measuredtest.Needed("mode", "disagg", "measured", "2025-01-02", "silicon_data_source", "x; measured=2026-02-03T04:05", "decode_batch_size", "7",
		"prefill_num_workers", "2", "prefill_tp_size", "3", "prefill_attention_dp_size", "4", "prefill_moe_tp_size", "5", "prefill_moe_ep_size", "6",
		"decode_num_workers", "8", "decode_tp_size", "9", "decode_attention_dp_size", "10", "decode_moe_tp_size", "11", "decode_moe_ep_size", "12"))
	if got.Prefill != (measured.Workers{Count: 2, TP: 3, PP: 1, DP: 4, MoETP: 5, MoEEP: 6}) || got.Decode != (measured.Workers{Count: 8, TP: 9, PP: 1, DP: 10, MoETP: 11, MoEEP: 12}) ||
		got.Workers != (measured.Workers{}) || got.Concurrency != 7*8*10 || got.Measured != "2025-01-02" {
		t.Errorf("%+v", got)
	}
}

// TestAscendFormats: linear layers on Ascend devices have the format of the columns or of the checkpoint's name.
func TestAscendFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ system, mode, checkpoint, want string }{
		{"ATLAS_800_A3_752T_128G_DIE", "bf16", "Qwen/Qwen3-32B", "DISABLED"},
		{"ATLAS_800_A3_752T_128G_DIE", "sq", "vllm-ascend/Qwen3-32B-W8A8", ""},
		{"ATLAS_800_A3_752T_128G_DIE", "", "Eco-Tech/Kimi-K2.5-W4A8", "W4A8_DYNAMIC"},
		{"h200_sxm", "bf16", "Qwen/Qwen3-32B", ""},
	} {
		got := measuredtest.One(t, measuredtest.Needed("system", c.system, "gemm_quant_mode", c.mode, "checkpoint", c.checkpoint))
		if string(got.Linear) != c.want {
			t.Errorf("%v: got %q", c, got.Linear)
		}
	}
}

// TestFramework: a framework that plugs into the server of the backend is the engine; a nightly build of an engine of its own is that of its day.
func TestFramework(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		backend, framework, image, want string
		nightly                         bool
	}{
		{"vllm", "atom-vllm", "rocm/atom-dev:vllm-v0.19.0-nightly_20260516", "atom-vllm", false},
		{"sglang", "atom-sglang", "", "atom-sglang", false},
		{"sglang", "atom-vllm", "", "sglang", false},
		{"sglang", "mori-sglang", "", "sglang", false},
		{"atom", "atom", "rocm/atom-dev:nightly_202608091507", "atom", true},
	} {
		got := measuredtest.One(t, measuredtest.Needed("backend", c.backend, "framework", c.framework, "image", c.image, "date_last", "2026-08-10"))
		if got.Engine != c.want || got.Nightly != c.nightly || c.nightly && got.Measured != "2026-08-10" {
			t.Errorf("%+v: %s, nightly %t, measured %q", c, got.Engine, got.Nightly, got.Measured)
		}
	}
}

// TestCheckpoint: the number formats of a row are those of its checkpoint, part by part.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	for checkpoint, want := range map[string][2]string{
		"":                            {"bf16", "nvfp4"},
		"our-own/r1-fp4":              {"bf16", "nvfp4"},
		"amd/Qwen3.5-397B-A17B-MXFP4": {"bf16", "nvfp4"},
		"amd/DeepSeek-R1-0528-MXFP4(-MTP-MoEFP4)": {"fp8", "mxfp4"},
	} {
		row := measuredtest.One(t, measuredtest.Needed("backend", "atom", "model_path", "deepseek-ai/DeepSeek-R1", "system", "mi355x", "tp_size", "8", "precision", "fp4", "checkpoint", checkpoint))
		got := measuredtest.Predictor().Prepare(&row)
		if got.Err != nil {
			t.Fatal(got.Err)
		}
		if formats := [2]string{got.Subject.Products, got.Subject.Experts}; formats != want {
			t.Errorf("%q: %v, want %v", checkpoint, formats, want)
		}
	}
}

// TestMissingColumns: an unstated value of a row gets a default, which is remembered.
func TestMissingColumns(t *testing.T) {
	t.Parallel()
	got := measuredtest.One(t, measuredtest.Needed("batch_size", "6", "attention_dp_size", "4"))
	if got.Mode != "agg" || got.Workers != (measured.Workers{Count: 1, TP: 2, PP: 1, DP: 4, MoEEP: 1}) || got.Concurrency != 24 || got.Requests != 240 ||
		got.LengthLow != 0.9 || got.TokenBudget != 0 || got.Acceptance != -1 {
		t.Errorf("%+v", got)
	}
	want := []string{
		"token_budget", "memory_fraction", "max_num_seqs", "recv_interval", "batch_wait_iters", "batch_wait_ratio", "length_ratio_low", "mtp_tokens", "acceptance",
		"moe_tp_size", "moe_ep_size", "kv_cache_dtype", "concurrency", "num_prompts",
	}
	if d := cmp.Diff(want, got.Defaulted); d != "" {
		t.Errorf("defaulted (-want +got):\n%s", d)
	}
	if got := measuredtest.One(t, measuredtest.Needed("tp_size", "0", "attention_dp_size", "-3", "moe_ep_size", "0")); got.Workers != (measured.Workers{Count: 1, TP: 1, PP: 1, DP: 1, MoEEP: 1}) || got.Concurrency != 1 {
		t.Errorf("no workers: %+v", got)
	}
	if got := measuredtest.One(t, measuredtest.Needed("mode", "disagg", "prefill_num_workers", "0")); got.Prefill.Count != 1 || got.Concurrency != 1 {
		t.Errorf("no workers: %+v", got)
	}
}

// TestRowsRefused: a row just outside what can be is refused, one just inside read.
func TestRowsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns []string
		want    string
	}{
		{[]string{"isl", "1", "osl", "1"}, ""},
		{[]string{"isl", "0"}, "x.csv:2: isl and osl must be positive"},
		{[]string{"osl", "0"}, "x.csv:2: isl and osl must be positive"},
		{[]string{"isl", ""}, "x.csv:2: isl and osl must be positive"},
		{[]string{"osl", ""}, "x.csv:2: isl and osl must be positive"},
		{[]string{"mtp_tokens", "64", "acceptance", "1"}, ""},
		{[]string{"mtp_tokens", "65", "acceptance", "1"}, "x.csv:2: mtp_tokens and spec_tokens must be between 0 and 64, got 65"},
		{[]string{"mtp_tokens", "-1"}, "x.csv:2: mtp_tokens and spec_tokens must be between 0 and 64, got -1"},
		{[]string{"mtp_tokens", "1", "acceptance", "0"}, ""},
		{[]string{"mtp_tokens", "1", "acceptance", "1.01"}, "x.csv:2: acceptance, the share of draft tokens that is accepted, must be between 0 and 1, got 1.01"},
		{[]string{"mtp_tokens", "1", "acceptance", "-0.01"}, "x.csv:2: acceptance, the share"},
		{[]string{"mtp_tokens", "1"}, ""},
		{[]string{"mtp_tokens", "0", "acceptance", "7"}, "x.csv:2: acceptance, the share"},
		{[]string{"tput_per_gpu", "-1"}, "x.csv:2: ttft_est_ms, tput_per_gpu and joules_per_output_token must be finite and not negative, got 0, -1 and 0"},
		{[]string{"joules_per_output_token", "Inf"}, "x.csv:2: ttft_est_ms, tput_per_gpu and joules"},
		{[]string{"tpot_stat", "p99"}, `x.csv:2: tpot_stat: want mean or median, got "p99"`},
		{[]string{"tpot_stat", "median-of-runs of median", "ttft_stat", "mean"}, ""},
		{[]string{"isl", "0", "memory_fraction", "much"}, `x.csv:2: memory_fraction: want a number, got "much"`},
	} {
		_, err := measured.Read(strings.NewReader(measuredtest.Sheet(measuredtest.Needed(c.columns...))), "x.csv")
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: want %q, got %v", c.columns, c.want, err)
		}
	}
}

// TestErrorsByHand: errors of ratios 0.5, 0.9, 1, 1.2 and 2.
func TestErrorsByHand(t *testing.T) {
	t.Parallel()
	var rows []measured.Compared
	for i, r := range []units.Seconds{0.5, 0.9, 1, 1.2, 2} {
		row := &measured.Row{TTFT: 2, TPOT: 4, Mode: "agg", Concurrency: 10 * (5 - i), Defaulted: []string{"b", "a"}[:1+i%2]}
		if i == 4 {
			row.Quality, row.Mode = "noisy", "disagg"
		}
		rows = append(rows, measured.Compared{Row: row, Pred: measured.Prediction{TTFT: 2 * r, TPOT: 4 * r}})
	}
	g := measured.Summarize("all", append(rows, measured.Compared{Row: &measured.Row{}, Pred: measured.Prediction{Err: errUnknown}},
		measured.Compared{Row: &measured.Row{TTFT: 1}, Pred: measured.Prediction{TPOT: 1}}))
	// Sizes of errors: 0, 0.1, 0.2, 0.5, 1; 90 % lies 0.6 of the way from the fourth to the last.
	want := measured.Errors{Rows: 5, MAPE: 1.8 / 5, MedianAPE: 0.2, P90: 0.8, Bias: 0}
	nearly := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if d := cmp.Diff(measured.Group{Name: "all", Rows: 7, Predicted: 6, Clean: 6, TTFT: want, TPOT: want}, g, nearly); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if e := measured.Summarize("", nil).TTFT; e != (measured.Errors{}) {
		t.Errorf("of nothing: %+v", e)
	}
	if e := measured.Summarize("", rows[:1]).TTFT; e.P90 != 0.5 || math.Abs(e.Bias-math.Log(0.5)) > 1e-12 {
		t.Errorf("of one: %+v", e)
	}
	var names []string
	for _, p := range measured.By(rows, func(r *measured.Row) string { return fmt.Sprint(r.Concurrency) }) {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"10", "20", "30", "40", "50"}) { // numbers, not words
		t.Errorf("by concurrency: %v", names)
	}
	if p := measured.By(rows, func(r *measured.Row) string { return r.Mode }); len(p) != 2 || p[0].Name != "agg" || len(p[0].Rows) != 4 {
		t.Errorf("by mode: %+v", p)
	}
	if a, b, c := measured.Clean(rows), measured.OfMode(rows, "disagg"), measured.DefaultedColumns(rows); len(a) != 4 || len(b) != 1 ||
		!slices.Equal(c, []measured.Defaulted{{Column: "a", Rows: 2}, {Column: "b", Rows: 5}}) {
		t.Errorf("%d clean, %d disaggregated, %v", len(a), len(b), c)
	}
}

// TestCoverageByHand: the share of rows inside their intervals, ends included; rows that say nothing of a time do not count for it.
func TestCoverageByHand(t *testing.T) {
	t.Parallel()
	o := fitted(map[string]calibration.Residuals{"seen": even(many, 0.1, 0.2, 0.3)})
	compared := func(ttft, tpot float64) measured.Compared {
		return measured.Compared{
			Row:  &measured.Row{TTFT: units.Seconds(math.Exp(ttft)), TPOT: units.Seconds(math.Exp(tpot))},
			Pred: measured.Prediction{TTFT: 1, TPOT: 1, Case: ordinary()},
		}
	}
	rows := []measured.Compared{compared(0.09, 0.19), compared(-0.09, -0.21), compared(0.11, 0.21), compared(-0.11, 0), compared(0, 0)}
	for i := range 3 {
		silent := compared(0, 0)
		*[]*units.Seconds{&silent.Row.TTFT, &silent.Row.TPOT, &silent.Row.TTFT}[i] = 0
		if i == 2 {
			silent.Row.TTFT, silent.Pred.Err = 1, errUnknown
		}
		rows = append(rows, silent)
	}
	measured.Expect(o, rows)
	if ttft, tpot := measured.Coverage(rows); ttft != 4./6 || tpot != 4./6 {
		t.Errorf("%g and %g", ttft, tpot)
	}
	if ttft, tpot := measured.Coverage(nil); !math.IsNaN(ttft) || !math.IsNaN(tpot) {
		t.Errorf("of nothing: %g and %g", ttft, tpot)
	}
}

// many rows leave nothing of the wider kind.
const many = 1 << 40

// even are residuals of so many rows, the same to both sides.
func even(rows int, ttft, tpot, throughput float64) calibration.Residuals {
	return calibration.Residuals{Rows: rows, Each: figures.Each[calibration.Error]{TTFT: calibration.Error{Low: -ttft, High: ttft}, TPOT: calibration.Error{Low: -tpot, High: tpot}, Throughput: calibration.Error{Low: -throughput, High: throughput}}}
}

// ordinary is a deployment of a dense model with rows in the fit.
func ordinary() calibration.Case {
	return calibration.Case{
		Subject: calibration.Subject{Engine: "vllm", Generation: "hopper", System: "h200_sxm", Model: "a/b", Class: engine.Dense},
		Tier:    device.Calibrated, Vendor: device.NVIDIA, Devices: 2, Concurrency: 16, Input: 1000,
	}
}

// fitted is an overlay that has seen it.
func fitted(residuals map[string]calibration.Residuals) *calibration.Overlay {
	return &calibration.Overlay{
		Cells: map[string][]string{"vllm · h200_sxm": {"a/b"}}, Residuals: residuals,
		Reach: calibration.Reach{Concurrency: 256, Input: 8000, Devices: 8},
	}
}
