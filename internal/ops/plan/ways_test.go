package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestSafe: beside an answer that is likely stands the one that is sure, which a plan with that confidence gives.
func TestSafe(t *testing.T) {
	r := smallPlan()
	r.Engines, r.Modes, r.NoChanges = []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}, false
	p := mustPlan(t, r)
	c, s := p.Answer.Certainty, p.Answer.Safe
	if c == nil || c.Class != Likely || c.Probability != *p.Contenders[0].Judged.Chance || !strings.HasPrefix(c.Words, "Likely that the means meet the limits: ") {
		t.Fatalf("certainty %+v", c)
	}
	if s == nil || !s.Meets || s.Confidence != SafeConfidence || !strings.Contains(s.Sentence, "instead of") {
		t.Fatalf("safe %+v", s)
	}
	r.NoChanges, r.Confidence = true, SafeConfidence
	sure := mustPlan(t, r)
	if got := sure.Contenders[0].RequestRate.Value; got != *s.RequestRate || got > p.Contenders[0].RequestRate.Value {
		t.Errorf("safe: want %g requests/s, got %g", got, *s.RequestRate)
	}
	if got := sure.Answer; got.Certainty.Class != Sure || got.Safe != nil {
		t.Errorf("with 90 %%: %+v", got)
	}
	r.NoLimits, r.Limits, r.Confidence = true, workload.Limits{}, 0
	if got := mustPlan(t, r).Answer.Certainty; got != nil {
		t.Errorf("without limits: %+v", got)
	}
}

// TestCertaintyWords: what is certain, by the statistic that limits apply to.
func TestCertaintyWords(t *testing.T) {
	for _, x := range []struct {
		chance float64
		of     workload.Statistic
		want   string
	}{
		{0.9, workload.Statistic{}, "Sure that the means meet the limits: 90 %"},
		{0.5, workload.Statistic{Percentile: 95}, "Likely that p95 meets the limits: 50 %"},
		{0.08, workload.Statistic{Goodput: 0.95}, "Doubtful that 95 % of the requests meet all limits: 8 %"},
	} {
		if got := certaintyOf(&x.chance, x.of).Words; got != x.want {
			t.Errorf("want %q, got %q", x.want, got)
		}
	}
}

// TestTooSmall: where nothing fits there is one sentence, and ways out of which each fits.
func TestTooSmall(t *testing.T) {
	r := smallPlan()
	r.Model, r.Systems, r.Devices, r.NoChanges = "Qwen/Qwen3-32B", []string{"l40s"}, 1, false
	r.Engines, r.Modes = []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}
	r.Limits = workload.Limits{TTFT: 2000 * units.Millisecond, TPOT: 100 * units.Millisecond}
	p := mustPlan(t, r)
	if want := "Qwen/Qwen3-32B does not fit on 1 × l40s."; p.Answer.Sentence != want || p.Answer.Meets || len(p.Contenders) != 0 {
		t.Fatalf("want %q without contenders, got %q with %d", want, p.Answer.Sentence, len(p.Contenders))
	}
	if !strings.Contains(p.Answer.Reason, "GiB of weights") || strings.Contains(p.Answer.Reason, "=1") {
		t.Errorf("reason %q", p.Answer.Reason)
	}
	var said []string
	for i := range p.Changes {
		c := &p.Changes[i]
		said = append(said, c.What)
		if c.Help() == "" || c.GPUs == nil || c.RequestRate == nil {
			t.Errorf("%s: %+v", c.What, c)
		}
		next := c.Request
		next.NoChanges = true
		if got := mustPlan(t, next); len(got.Contenders) == 0 || got.Contenders[0].Meets != c.Meets && c.Meets {
			t.Errorf("%s: %s", c.What, got.Answer.Sentence)
		}
	}
	for _, want := range []string{"2 GPUs instead of 1", "FP4 weights", " instead of l40s"} {
		if !strings.Contains(strings.Join(said, "; "), want) {
			t.Errorf("want %q among %q", want, said)
		}
	}
}

// TestNeighbours: nobody is offered an older device because its memory is a little faster.
func TestNeighbours(t *testing.T) {
	for own, want := range map[string][]string{
		"l40s": {"rtx_a6000", "rtx_6000_ada"}, "l4": {"a10"}, "h200_sxm": {"h100_sxm", "b200_sxm"},
	} {
		p := &planning{world: &session.Session{}, r: &Request{Systems: []string{own}}}
		best := &Found{}
		best.Experiment.System = own
		var got []string
		p.neighbours(best, func(what string, _ func(*Request)) { got = append(got, strings.TrimSuffix(what, " instead of "+own)) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", own, diff)
		}
	}
}

// TestOutOfReach: where limits cannot be met every way out meets those of its request.
func TestOutOfReach(t *testing.T) {
	r := smallPlan()
	r.Limits.TPOT, r.NoChanges = units.Millisecond, false
	p := mustPlan(t, r)
	if p.Answer.Meets || p.Answer.Certainty.Class != Doubtful || len(p.Changes) < 2 {
		t.Fatalf("%+v, %d ways", p.Answer, len(p.Changes))
	}
	if got := p.Changes[0].What; !strings.HasPrefix(got, "limits of TTFT 500 ms and TPOT ") {
		t.Errorf("first way: %q", got)
	}
	for i := range p.Changes {
		next := p.Changes[i].Request
		next.NoChanges = true
		if got := mustPlan(t, next); !got.Answer.Meets {
			t.Errorf("%s: %s", p.Changes[i].What, got.Answer.Sentence)
		}
	}
}

// TestRaise: limits out of reach are raised above what can be met, the others stay.
func TestRaise(t *testing.T) {
	asked := workload.Limits{TTFT: 50 * units.Millisecond, TPOT: 10 * units.Millisecond}
	got := raise(asked, workload.Limits{TTFT: 119.7 * units.Millisecond, TPOT: 9 * units.Millisecond})
	if ms := got.TTFT.Ms(); ms < 119.7 || ms > 132 || got.TPOT != asked.TPOT || got.Latency != 0 {
		t.Errorf("got %+v", got)
	}
	if _, err := Run(t.Context(), &session.Session{}, Request{Model: "no/such", Systems: []string{"h200_sxm"}, Devices: 1, Workloads: smallPlan().Workloads}); err == nil {
		t.Error("a model that does not exist is no matter of room")
	}
}

// TestPriceClasses: contenders are ranked within one class of prices, others follow with the reason; a price that is given makes a class.
func TestPriceClasses(t *testing.T) {
	r := smallPlan()
	r.Systems, r.Engines, r.Modes = []string{"mi325x", "h200_sxm", "mi300x"}, []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}
	p := mustPlan(t, r)
	last := p.Contenders[len(p.Contenders)-1]
	if p.RankedBy != ByTokenCost || last.System != "mi325x" || !strings.Contains(last.Cost.Apart, "GPU cloud") || last.Cost.PerMillion.Value > p.Contenders[0].Cost.PerMillion.Value {
		t.Errorf("by %s, last %s, %+v", p.RankedBy, last.System, last.Cost)
	}
	if c := p.Contenders[0].Cost; c.Apart != "" || c.Class != device.OnDemand || c.Date != "2026" {
		t.Errorf("first %+v", c)
	}
	r.Prices = map[string]float64{"MI325X": 2, "h200": 4, "mi300x": 3}
	p = mustPlan(t, r)
	for i := range p.Contenders {
		if c := p.Contenders[i].Cost; c.Apart != "" || c.Class != device.Yours {
			t.Errorf("%s: %+v", p.Contenders[i].System, c)
		}
	}
	if p.Contenders[0].System != "mi325x" {
		t.Errorf("first by your prices: %s", p.Contenders[0].System)
	}
}

// TestAgainstAPI: at the load where both cost the same, they do.
func TestAgainstAPI(t *testing.T) {
	r := smallPlan()
	r.Engines, r.Modes, r.API = []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}, &APIPrice{Input: 0.5, Output: 2}
	p := mustPlan(t, r)
	k := p.Contenders[0].Cost
	x := k.API
	if want := (1000*0.5 + 20*2) / 1e6; x.PerRequest != want || x.Ratio != k.PerRequest.Value/want {
		t.Errorf("%+v, want $%g per request", x, want)
	}
	if got := x.BreakEven * x.PerRequest * 3600 * 730; math.Abs(got/k.PerMonth-1) > 1e-12 || x.BreakEvenLoad != x.BreakEven/p.Contenders[0].RequestRate.Value {
		t.Errorf("at %g requests/s the API costs $%g a month, the GPUs $%g", x.BreakEven, got, k.PerMonth)
	}
	if !strings.HasPrefix(p.Answer.AgainstAPI, "A request costs ") || !strings.Contains(p.Answer.AgainstAPI, " times as much as from an API at $0.5 per million input and $2 per million output tokens") {
		t.Errorf("%q", p.Answer.AgainstAPI)
	}
	r.API.Input = -1
	if _, err := Run(t.Context(), &session.Session{}, r); err == nil {
		t.Error("a negative price is taken")
	}
}
