package calibrate_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/replica"
	"plimsoll/internal/step"
	"plimsoll/internal/units"
)

var errUnknown = errors.New("unknown")

// sheet is a CSV of rows given by column.
func sheet(rows ...map[string]string) string {
	var columns []string
	for _, r := range rows {
		for c := range r {
			if !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	slices.Sort(columns)
	out := strings.Join(columns, ",") + "\n"
	for _, r := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, r[c])
		}
		out += strings.Join(cells, ",") + "\n"
	}
	return out
}

// needed are the columns no row can do without, with others on top.
func needed(more ...string) map[string]string {
	r := map[string]string{
		"backend": "vllm", "model_path": "a/b", "system": "h200_sxm", "isl": "1000", "osl": "100", "tp_size": "2", "silicon_ttft_ms": "50", "silicon_tpot_ms": "5",
	}
	for i := 0; i < len(more); i += 2 {
		r[more[i]] = more[i+1]
	}
	return r
}

func readOne(t *testing.T, row map[string]string) calibrate.Row {
	t.Helper()
	rows, err := calibrate.Read(strings.NewReader(sheet(row)), "x.csv")
	if err != nil {
		t.Fatal(err)
	}
	return rows[0]
}

// TestEveryColumn: each column comes to its field.
func TestEveryColumn(t *testing.T) {
	t.Parallel()
	got := readOne(t, needed("id", "i", "silicon_data_source", "somewhere; measured=2026-02-03T04:05", "backend_version", "1.2", "precision", "fp8", "mode", "agg",
		"concurrency", "12", "num_prompts", "34", "length_ratio_low", "0.7", "attention_dp_size", "3", "moe_tp_size", "4", "moe_ep_size", "5",
		"kv_cache_dtype", "fp8", "token_budget", "678", "memory_fraction", "0.9", "max_num_seqs", "10", "recv_interval", "11",
		"batch_wait_iters", "13", "batch_wait_ratio", "0.14", "mtp_tokens", "2", "acceptance", "0.6", "quality", "noisy"))
	want := calibrate.Row{
		Line: 2, ID: "i", Source: "somewhere; measured=2026-02-03T04:05", Engine: "vllm", Version: "1.2", Measured: "2026-02-03", Model: "a/b", System: "h200_sxm",
		Precision: "fp8", Mode: "agg", Input: 1000, Output: 100, Concurrency: 12, Requests: 34, LengthLow: 0.7,
		Workers: calibrate.Workers{Count: 1, TP: 2, DP: 3, MoETP: 4, MoEEP: 5},
		KV:      "fp8", TokenBudget: 678, MemoryShare: 0.9, MaxSequences: 10, ReceiveEvery: 11, BatchWaitSteps: 13, BatchWaitRatio: 0.14,
		Drafted: 2, Acceptance: 0.6, TTFT: 0.05, TPOT: 0.005, Quality: "noisy",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	got = readOne(t, needed("mode", "disagg", "measured", "2025-01-02", "silicon_data_source", "x; measured=2026-02-03T04:05", "decode_batch_size", "7",
		"prefill_num_workers", "2", "prefill_tp_size", "3", "prefill_attention_dp_size", "4", "prefill_moe_tp_size", "5", "prefill_moe_ep_size", "6",
		"decode_num_workers", "8", "decode_tp_size", "9", "decode_attention_dp_size", "10", "decode_moe_tp_size", "11", "decode_moe_ep_size", "12"))
	if got.Prefill != (calibrate.Workers{Count: 2, TP: 3, DP: 4, MoETP: 5, MoEEP: 6}) || got.Decode != (calibrate.Workers{Count: 8, TP: 9, DP: 10, MoETP: 11, MoEEP: 12}) ||
		got.Workers != (calibrate.Workers{}) || got.Concurrency != 7*8*10 || got.Measured != "2025-01-02" {
		t.Errorf("%+v", got)
	}
}

// TestMissingColumns: what a row does not say takes a default, and is remembered.
func TestMissingColumns(t *testing.T) {
	t.Parallel()
	got := readOne(t, needed("batch_size", "6", "attention_dp_size", "4"))
	if got.Mode != "agg" || got.Workers != (calibrate.Workers{Count: 1, TP: 2, DP: 4, MoEEP: 1}) || got.Concurrency != 24 || got.Requests != 240 ||
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
	if got := readOne(t, needed("tp_size", "0", "attention_dp_size", "-3", "moe_ep_size", "0")); got.Workers != (calibrate.Workers{Count: 1, TP: 1, DP: 1, MoEEP: 1}) || got.Concurrency != 1 {
		t.Errorf("no workers: %+v", got)
	}
	if got := readOne(t, needed("mode", "disagg", "prefill_num_workers", "0")); got.Prefill.Count != 1 || got.Concurrency != 1 {
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
		{[]string{"mtp_tokens", "65", "acceptance", "1"}, "x.csv:2: mtp_tokens must be from 0 to 64, got 65"},
		{[]string{"mtp_tokens", "-1"}, "x.csv:2: mtp_tokens must be from 0 to 64, got -1"},
		{[]string{"mtp_tokens", "1", "acceptance", "0"}, ""},
		{[]string{"mtp_tokens", "1", "acceptance", "1.01"}, "x.csv:2: mtp_tokens needs acceptance"},
		{[]string{"mtp_tokens", "1", "acceptance", "-0.01"}, "x.csv:2: mtp_tokens needs acceptance"},
		{[]string{"mtp_tokens", "1"}, "x.csv:2: mtp_tokens needs acceptance"},
		{[]string{"mtp_tokens", "0", "acceptance", "7"}, ""},
		{[]string{"isl", "0", "memory_fraction", "much"}, `x.csv:2: memory_fraction: want a number, got "much"`},
	} {
		_, err := calibrate.Read(strings.NewReader(sheet(needed(c.columns...))), "x.csv")
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: want %q, got %v", c.columns, c.want, err)
		}
	}
}

// TestEveryParameter: each parameter of an overlay multiplies its part of a tuning and no other.
func TestEveryParameter(t *testing.T) {
	t.Parallel()
	both := func(p step.Part) func(*replica.Tuning) []*float64 {
		return func(u *replica.Tuning) []*float64 { return []*float64{&u.Decode[p], &u.Prefill[p]} }
	}
	prefill := func(p step.Part) func(*replica.Tuning) []*float64 {
		return func(u *replica.Tuning) []*float64 { return []*float64{&u.Prefill[p]} }
	}
	one := func(of func(*replica.Tuning) *float64) func(*replica.Tuning) []*float64 {
		return func(u *replica.Tuning) []*float64 { return []*float64{of(u)} }
	}
	for name, fields := range map[string]func(*replica.Tuning) []*float64{
		"products": both(step.Products), "experts": both(step.Experts), "exchange": both(step.Exchange), "elementwise": both(step.Elementwise), "head": both(step.Head),
		"decode_attention": one(func(u *replica.Tuning) *float64 { return &u.Decode[step.Attention] }),
		"prefill_products": prefill(step.Products), "prefill_experts": prefill(step.Experts), "prefill_exchange": prefill(step.Exchange), "prefill_attention": prefill(step.Attention),
		"per_step":         one(func(u *replica.Tuning) *float64 { return &u.PerStep }),
		"per_sequence":     one(func(u *replica.Tuning) *float64 { return &u.PerSequence }),
		"per_prefill_step": one(func(u *replica.Tuning) *float64 { return &u.PerPrefillStep }),
		"per_layer":        one(func(u *replica.Tuning) *float64 { return &u.PerLayer }),
		"launch_floor":     one(func(u *replica.Tuning) *float64 { return &u.LaunchFloor }),
		"api":              one(func(u *replica.Tuning) *float64 { return &u.APIFixed }),
		"api_per_token":    one(func(u *replica.Tuning) *float64 { return &u.APIPerToken }),
		"first":            one(func(u *replica.Tuning) *float64 { return &u.First }),
	} {
		o := calibrate.Overlay{Offsets: calibrate.Multipliers{"all": {name: 3}}}
		got, want := o.Params().Tuning(calibrate.Subject{}), replica.Untuned()
		for _, f := range fields(&want) {
			*f *= 3
		}
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestEveryGroup: a prediction takes the product of all groups it belongs to, of each kind by what it differs by.
func TestEveryGroup(t *testing.T) {
	t.Parallel()
	s := calibrate.Subject{
		Engine: "sglang", Generation: "hopper", System: "h200_sxm", Model: "a/b", Class: "latent", Products: "fp8 block", Experts: "nvfp4", KV: "fp8", Apart: true,
	}
	dense := s
	dense.Class, dense.Experts, dense.Apart = "dense", "", false
	for _, c := range []struct {
		group, parameter string
		latent, dense    float64 // with a multiplier of two
	}{
		{"all", "first", 2, 2}, {"sglang", "first", 2, 2}, {"sglang · hopper", "first", 2, 2}, {"vllm", "first", 1, 1}, {"sglang · blackwell", "first", 1, 1},
		{"disagg", "first", 2, 1}, {"sglang · disagg", "first", 2, 1}, {"all · fp8 block", "first", 1, 1},
		{"all · latent", "launch_floor", 2, 1}, {"sglang · dense", "launch_floor", 1, 2}, {"sglang · hopper · latent", "launch_floor", 2, 1},
		{"sglang · h200_sxm · a/b", "first", 2, 2}, {"sglang · h200_sxm · c/d", "first", 1, 1},
	} {
		o := calibrate.Overlay{Offsets: calibrate.Multipliers{c.group: {c.parameter: 2}}}
		read := func(s calibrate.Subject) float64 {
			u := o.Params().Tuning(s)
			if c.parameter == "launch_floor" {
				return u.LaunchFloor
			}
			return u.First
		}
		if a, b := read(s), read(dense); math.Abs(a-c.latent) > 1e-9 || math.Abs(b-c.dense) > 1e-9 {
			t.Errorf("%s: want %g and %g, got %g and %g", c.group, c.latent, c.dense, a, b)
		}
	}
	for group, part := range map[string]step.Part{
		"products · all · fp8 block": step.Products, "experts · sglang · nvfp4": step.Experts, "decode_attention · sglang · hopper · latent fp8": step.Attention,
	} {
		parameter, group, _ := strings.Cut(group, " · ")
		o := calibrate.Overlay{Offsets: calibrate.Multipliers{group: {parameter: 2}}}
		if got := o.Params().Tuning(s).Decode[part]; math.Abs(got-2) > 1e-9 {
			t.Errorf("%s of %s: %g", parameter, group, got)
		}
	}
	o := calibrate.Overlay{Offsets: calibrate.Multipliers{"all · attention fp8": {"prefill_attention": 2}}}
	if a, b := o.Params().Tuning(s).Prefill[step.Attention], o.Params().Tuning(dense).Prefill[step.Attention]; a != 1 || math.Abs(b-2) > 1e-9 {
		t.Errorf("attention that is not latent: %g, %g", a, b)
	}
}

// TestMultiplierBounds: a multiplier is between 0.01 and 100.
func TestMultiplierBounds(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{"0.011": true, "0.01": false, "99.9": true, "100": false, "nan": false} {
		_, err := calibrate.ReadOverlay([]byte("offsets: {all: first "+value+"}"), "x.yaml")
		if (err == nil) != ok {
			t.Errorf("%s: %v", value, err)
		}
	}
	for rows, ok := range map[int]bool{0: false, 1: true} {
		_, err := calibrate.ReadOverlay(fmt.Appendf(nil, "residuals: {seen: '%d rows, ttft -1 1, tpot 0 0, throughput 0 1'}", rows), "x.yaml")
		if (err == nil) != ok {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

// TestErrorsByHand: errors of ratios 0.5, 0.9, 1, 1.2 and 2.
func TestErrorsByHand(t *testing.T) {
	t.Parallel()
	var rows []calibrate.Compared
	for i, r := range []units.Seconds{0.5, 0.9, 1, 1.2, 2} {
		row := &calibrate.Row{TTFT: 2, TPOT: 4, Mode: "agg", Concurrency: 10 * (5 - i), Defaulted: []string{"b", "a"}[:1+i%2]}
		if i == 4 {
			row.Quality, row.Mode = "noisy", "disagg"
		}
		rows = append(rows, calibrate.Compared{Row: row, Pred: calibrate.Prediction{TTFT: 2 * r, TPOT: 4 * r}})
	}
	g := calibrate.Summarize("all", append(rows, calibrate.Compared{Row: &calibrate.Row{}, Pred: calibrate.Prediction{Err: errUnknown}},
		calibrate.Compared{Row: &calibrate.Row{TTFT: 1}, Pred: calibrate.Prediction{TPOT: 1}}))
	// Sizes of errors: 0, 0.1, 0.2, 0.5, 1; 90 % lies 0.6 of the way from the fourth to the last.
	want := calibrate.Errors{Rows: 5, MAPE: 1.8 / 5, MedianAPE: 0.2, P90: 0.8, Bias: 0}
	close := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if d := cmp.Diff(calibrate.Group{Name: "all", Rows: 7, Predicted: 6, Clean: 6, TTFT: want, TPOT: want}, g, close); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if e := calibrate.Summarize("", nil).TTFT; e != (calibrate.Errors{}) {
		t.Errorf("of nothing: %+v", e)
	}
	if e := calibrate.Summarize("", rows[:1]).TTFT; e.P90 != 0.5 || math.Abs(e.Bias-math.Log(0.5)) > 1e-12 {
		t.Errorf("of one: %+v", e)
	}
	var names []string
	for _, p := range calibrate.By(rows, func(r *calibrate.Row) string { return fmt.Sprint(r.Concurrency) }) {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"10", "20", "30", "40", "50"}) { // numbers, not words
		t.Errorf("by concurrency: %v", names)
	}
	if p := calibrate.By(rows, func(r *calibrate.Row) string { return r.Mode }); len(p) != 2 || p[0].Name != "agg" || len(p[0].Rows) != 4 {
		t.Errorf("by mode: %+v", p)
	}
	if a, b, c := calibrate.Clean(rows), calibrate.OfMode(rows, "disagg"), calibrate.DefaultedColumns(rows); len(a) != 4 || len(b) != 1 ||
		!slices.Equal(c, []calibrate.Defaulted{{Column: "a", Rows: 2}, {Column: "b", Rows: 5}}) {
		t.Errorf("%d clean, %d disaggregated, %v", len(a), len(b), c)
	}
}
