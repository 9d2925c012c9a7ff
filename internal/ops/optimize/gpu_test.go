package optimize_test

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// gpuRequest is a search that leaves open how candidates are evaluated.
func gpuRequest(model, device string, devices int) optimize.Request {
	return optimize.Request{
		Model: model, Devices: []string{device}, NumDevices: devices, Input: 1000, Output: 100, BatchRange: []int{64},
	}
}

// TestMoreDevicesNeverLose: a larger number of devices carries at least as much.
func TestMoreDevicesNeverLose(t *testing.T) {
	t.Parallel()
	w := &session.Session{Memo: &session.Memo{Size: 10_000}}
	for _, c := range []struct {
		model  string
		limits workload.Limits
	}{{"Qwen/Qwen3-30B-A3B", workload.Limits{TPOT: 15 * units.Millisecond}}, {"Qwen/Qwen3-8B", workload.Limits{}}} {
		before := 0.0
		for _, n := range []int{1, 2, 3, 8, 9} { // a whole node and one more
			q := gpuRequest(c.model, "h200_sxm", n)
			q.Limits, q.BatchRange, q.Output = c.limits, []int{8}, 20
			r, err := optimize.Run(t.Context(), w, q)
			if err != nil {
				t.Fatal(err)
			}
			best := r.Devices[0].Searches[0].Rows[0].Best.Throughput
			if best < before*(1-1e-9) {
				t.Errorf("%+v: %g tokens/s on %d devices, %g on fewer", c, best, n, before)
			}
			before = best
		}
	}
}

// TestConfidence: the more of it is asked for, the less is carried.
func TestConfidence(t *testing.T) {
	t.Parallel()
	before := math.Inf(1)
	for _, confidence := range []float64{0.1, 0.5, 0.9, 0.99} {
		q := gpuRequest("Qwen/Qwen3-32B", "h200_sxm", 2)
		q.Limits, q.Confidence, q.BatchRange, q.Output = workload.Limits{TPOT: 25 * units.Millisecond}, confidence, []int{256}, 30
		r, err := optimize.Run(t.Context(), new(session.Session), q)
		if err != nil {
			t.Fatal(err)
		}
		row := &r.Devices[0].Searches[0].Rows[0]
		if row.Best.Throughput >= before || *row.Judged.Chance < confidence {
			t.Errorf("confidence %g: %g tokens/s, kept with %g; %g with less", confidence, row.Best.Throughput, *row.Judged.Chance, before)
		}
		if over := row.Best.TPOT > q.Limits.TPOT; over != (confidence < 0.5) {
			t.Errorf("confidence %g: TPOT %v of %v", confidence, row.Best.TPOT, q.Limits.TPOT)
		}
		before = row.Best.Throughput
	}
}

// TestWhichEvaluation: GPUs are simulated unless only the formulas know what is
// asked for, which a note says; Ascend devices keep the formulas.
func TestWhichEvaluation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		device string
		change func(*optimize.Request)
		want   optimize.Evaluation
		note   string
	}{
		{"h200_sxm", func(*optimize.Request) {}, optimize.BySimulation, ""},
		{"ATLAS_800_A2_280T_64G", func(*optimize.Request) {}, optimize.ByFormulas, ""},
		{"ATLAS_800_A2_280T_64G", func(q *optimize.Request) { q.Evaluate = optimize.BySimulation }, optimize.BySimulation, ""},
		{"h200_sxm", func(q *optimize.Request) { q.Evaluate = optimize.ByFormulas }, optimize.ByFormulas, ""},
		{"h200_sxm", func(q *optimize.Request) { q.PrefixHitRate = 0.5 }, optimize.ByFormulas, "evaluated by the guide's formulas: simulation does not support a fixed hit rate of the prefix cache"},
		{"h200_sxm", func(q *optimize.Request) { q.Modelling.Policy = "tensorcast" }, optimize.ByFormulas, "evaluated by the guide's formulas: engine times were not fitted with this policy"},
	} {
		q := gpuRequest("Qwen/Qwen3-8B", c.device, 1)
		c.change(&q)
		r, err := optimize.Run(t.Context(), new(session.Session), q)
		if err != nil {
			t.Fatal(err)
		}
		p := &r.Devices[0].Searches[0]
		if p.Evaluation != c.want || (c.note == "") != (len(p.Notes) == 0) || c.note != "" && p.Notes[0] != c.note {
			t.Errorf("%s: by %s, %q", c.device, p.Evaluation, p.Notes)
		}
	}
}

// TestEngineMemory: a GPU's memory is divided as its engine divides it. 10 GiB kept
// free would leave an L4 no room for an 8B model.
func TestEngineMemory(t *testing.T) {
	t.Parallel()
	for _, e := range []optimize.Evaluation{optimize.BySimulation, optimize.ByFormulas} {
		q := gpuRequest("meta-llama/Llama-3.1-8B-Instruct", "l4", 1)
		q.Evaluate = e
		r, err := optimize.Run(t.Context(), new(session.Session), q)
		if err != nil {
			t.Fatal(err)
		}
		if p := &r.Devices[0].Searches[0]; len(p.Rows) == 0 {
			t.Errorf("nothing fits an L4 by %s: %s", e, p.Candidates[0].Reason)
		}
	}
	best := func(reserved *float64) float64 {
		q := gpuRequest("Qwen/Qwen3-8B", "l4", 1)
		q.ReservedGiB, q.Output = reserved, 500
		r, err := optimize.Run(t.Context(), new(session.Session), q)
		if err != nil {
			t.Fatal(err)
		}
		return r.Devices[0].Searches[0].Rows[0].Best.Throughput
	}
	if few, all := best(new(4.0)), best(nil); few >= all {
		t.Errorf("%g tokens/s with 4 GiB kept free, %g without", few, all)
	}
}

// TestPrice: a million tokens cost what the devices cost while they are generated.
func TestPrice(t *testing.T) {
	t.Parallel()
	q := gpuRequest("Qwen/Qwen3-8B", "h200_sxm", 2)
	q.Price, q.BatchRange = 3.6, []int{8}
	r, err := optimize.Run(t.Context(), new(session.Session), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Devices[0].Searches[0].Rows {
		if want := 2 * 0.001 * 1e6 / row.Best.Throughput; math.Abs(*row.Cost-want) > 1e-9*want {
			t.Errorf("%s: %g USD, want %g", row.Label, *row.Cost, want)
		}
	}
}

// TestLongerPromptsNeverGain: across the length from which engines cut prompts into
// chunks, and elsewhere, longer prompts carry no more. A batch is a whole number: a
// percent is its rounding.
func TestLongerPromptsNeverGain(t *testing.T) {
	t.Parallel()
	for _, limits := range []workload.Limits{{TPOT: 50 * units.Millisecond}, {TTFT: 4, TPOT: 30 * units.Millisecond}} {
		before, at := math.Inf(1), 0
		for _, input := range []int{4000, 8192, 8193, 16384, 16385} { // whole budgets and one token more
			q := gpuRequest("Qwen/Qwen3-32B", "h200_sxm", 4)
			q.Input, q.Output, q.Limits = input, 60, limits
			r, err := optimize.Run(t.Context(), new(session.Session), q)
			if err != nil {
				t.Fatal(err)
			}
			best := r.Devices[0].Searches[0].Rows[0].Best.Throughput
			if best > 1.01*before {
				t.Errorf("%+v: %g tokens/s with prompts of %d, %g with %d", limits, best, input, before, at)
			}
			before, at = best, input
		}
	}
}

// TestSimulationProgress: a long simulation says how far it is, and a short one
// nothing.
func TestSimulationProgress(t *testing.T) {
	var last session.Progress
	calls := 0
	w := &session.Session{Progress: func(p session.Progress) {
		if p.Done < last.Done || p.Of != 60_000 || p.Task != "simulating" {
			t.Errorf("%+v after %+v", p, last)
		}
		last, calls = p, calls+1
	}}
	q := simulate.Request{Deployment: deployment.Deployment{Model: "Qwen/Qwen3-8B", System: "h200_sxm"}}
	q.Concurrency, q.Requests, q.Input, q.Output = 8, 60_000, 10, 2
	if _, err := simulate.Run(t.Context(), w, q); err != nil {
		t.Fatal(err)
	}
	if calls == 0 || last.Done == 0 {
		t.Errorf("%d calls, the last %+v", calls, last)
	}
}
