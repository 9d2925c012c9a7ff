package plan

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestSafe: beside an answer that is likely stands the one that is sure, which a plan with that confidence gives.
func TestSafe(t *testing.T) {
	r := smallPlan()
	r.NoChanges = false
	p := mustPlan(t, r)
	c, s := p.Answer.Certainty, p.Answer.Safe
	if c == nil || c.Class != Likely || c.Probability != *p.Contenders[0].Chance || !strings.HasPrefix(c.Words, "Likely that the means meet the limits: ") {
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
