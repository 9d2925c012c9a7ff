package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestGoodputOfOneLimit: a share of requests within one limit is that percentile of its time, to the digit.
func TestGoodputOfOneLimit(t *testing.T) {
	t.Parallel()
	for _, limits := range []workload.Limits{{TTFT: 0.3}, {TPOT: 12 * units.Millisecond}, {Latency: 1.2}} {
		var answers [2]string
		for i, of := range []workload.Statistic{{Percentile: 95}, {Goodput: 0.95}} {
			r := loaded(limits)
			r.Statistic = of
			p := mustPlan(t, r)
			text, err := json.Marshal(p.Contenders)
			if err != nil {
				t.Fatal(err)
			}
			answers[i] = string(text)
		}
		if answers[0] != answers[1] {
			t.Errorf("%+v:\n%s\n%s", limits, answers[0], answers[1])
		}
	}
}

// TestGoodputOfAllLimits: so many requests are within all limits at once, which is harder than each limit by itself.
func TestGoodputOfAllLimits(t *testing.T) {
	t.Parallel()
	r := loaded(workload.Limits{TTFT: 0.3, TPOT: 12 * units.Millisecond})
	r.Rate, r.Devices = 0, 1
	r.Percentile = 90
	each := mustPlan(t, r)
	r.Statistic = workload.Statistic{Goodput: 0.9}
	all := mustPlan(t, r)
	a, b := &each.Contenders[0], &all.Contenders[0]
	if !b.Meets || *b.GoodShare < 0.9-0.02 {
		t.Errorf("%.3f of the requests are within all limits", *b.GoodShare)
	}
	if b.Concurrency > a.Concurrency {
		t.Errorf("%d in flight with each limit at p90, %d with all at once", a.Concurrency, b.Concurrency)
	}
	if b.Judged.Statistic != "p90" || !strings.Contains(all.Answer.Sentence, "TTFT 300 ms and TPOT 12 ms for 90 % of the requests") {
		t.Errorf("%s: %s", b.Judged.Statistic, all.Answer.Sentence)
	}
}

// TestGoodputRefused: a share without limits, or beside a percentile, is none.
func TestGoodputRefused(t *testing.T) {
	t.Parallel()
	for want, edit := range map[string]func(*Request){
		"goodput needs a limit":                      func(r *Request) { r.Limits, r.NoLimits = workload.Limits{}, true },
		"give percentile or goodput":                 func(r *Request) { r.Percentile = 95 },
		"goodput must be above 0 and below 1, got 2": func(r *Request) { r.Goodput = 2 },
	} {
		r := loaded(workload.Limits{TTFT: 1})
		r.Goodput = 0.95
		edit(&r)
		if _, err := Run(t.Context(), &session.Session{}, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// loaded is a small question about a load.
func loaded(l workload.Limits) Request {
	return Request{
		Model: "Qwen/Qwen3-8B", Systems: []string{"h200_sxm"}, Rate: 20, Engines: []string{"vllm"}, NoChanges: true, Limits: l,
		Workloads: []session.Workload{{Input: 500, Output: 60, LengthLow: 0.5}}, Modes: []experiment.ServingMode{experiment.Aggregated},
	}
}
