package plimsoll_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll"
)

// question is one whose plan has several layouts.
func question() plimsoll.Question {
	return plimsoll.Question{
		Model: "Qwen/Qwen3-30B-A3B", System: "h100_sxm", Devices: 4, Engine: plimsoll.Engine{Name: "sglang"},
		Lengths: plimsoll.Lengths{Input: 256, Output: 32, Low: 0.8},
		Limits:  plimsoll.Limits{TTFT: time.Second, TPOT: 15 * time.Millisecond},
	}
}

// TestPlanIsPredict feeds every option of a plan to Predict at its concurrency.
func TestPlanIsPredict(t *testing.T) {
	t.Parallel()
	long := question()
	long.Lengths = plimsoll.Lengths{InputBins: []plimsoll.Bin{{Min: 20000, Max: 20001, Weight: 1}}, Output: 16}
	long.Limits = plimsoll.Limits{TTFT: time.Minute, TPOT: 50 * time.Millisecond}
	for _, q := range []plimsoll.Question{question(), long} {
		planner := &plimsoll.Planner{}
		plan, err := planner.Plan(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Options) < 5 {
			t.Fatalf("want options for most of the 9 layouts, got %d", len(plan.Options))
		}
		for i := range plan.Options {
			o := &plan.Options[i]
			if i > 0 && o.OutputRate.Mean > plan.Options[i-1].OutputRate.Mean {
				t.Errorf("option %d carries more than the one before", i)
			}
			p, err := planner.Predict(t.Context(), o.Deployment, plimsoll.Workload{Concurrency: o.Concurrency, Lengths: q.Lengths}, q.Limits)
			if err != nil {
				t.Fatal(err)
			}
			got := plimsoll.Option{
				Deployment: o.Deployment, Concurrency: o.Concurrency, TTFT: p.TTFT.Time, TPOT: p.TPOT.Time,
				OutputRate: p.OutputRate, Chance: p.Chance, Basis: p.Basis, Binds: o.Binds,
			}
			if d := cmp.Diff(*o, got); d != "" {
				t.Errorf("%v (-plan +prediction):\n%s", o.Deployment.Pools[0].Layout, d)
			}
			if plan.Tier != p.Tier {
				t.Errorf("tier: plan %s, prediction %s", plan.Tier, p.Tier)
			}
		}
	}
}

// TestPlan holds the parts of a plan to what they promise.
func TestPlan(t *testing.T) {
	t.Parallel()
	q := question()
	var mu sync.Mutex
	last := plimsoll.Progress{}
	planner := &plimsoll.Planner{Progress: func(p plimsoll.Progress) {
		mu.Lock()
		defer mu.Unlock()
		last = p
	}}
	plan, err := planner.Plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if last.Done != last.Of || last.Of != 11 { // one, two and four devices, TP of each size to all, experts whole or cut
		t.Errorf("progress ends at %+v", last)
	}
	if n := len(plan.Options) + len(plan.Rejected); n != 11 {
		t.Errorf("want 11 layouts, got %d", n)
	}
	if best := plan.Best(); best.TPOT.Mean > q.Limits.TPOT || best.TTFT.Mean > q.Limits.TTFT || plan.Nearest != nil {
		t.Errorf("the best is over the limits: %+v", best)
	}
	for i := 1; i < len(plan.Frontier); i++ {
		a, b := &plan.Frontier[i-1], &plan.Frontier[i]
		if b.OutputRate >= a.OutputRate || b.TPOT >= a.TPOT {
			t.Errorf("the frontier does not fall: %+v, %+v", a, b)
		}
	}
	if plan.Safe == nil || plan.Safe.OutputRate > plan.Best().OutputRate.Mean {
		t.Fatalf("safe: %+v", plan.Safe)
	}
	p, err := planner.Predict(t.Context(), plan.Safe.Deployment,
		plimsoll.Workload{Concurrency: plan.Safe.Concurrency, Lengths: q.Lengths}, q.Limits)
	if err != nil {
		t.Fatal(err)
	}
	if p.Chance < 0.9 || p.OutputRate.Mean != plan.Safe.OutputRate {
		t.Errorf("the safe choice meets its limits with %g, %g tokens/s of %g", p.Chance, p.OutputRate.Mean, plan.Safe.OutputRate)
	}

	q.Limits = plimsoll.Limits{TPOT: time.Microsecond}
	if plan, err = planner.Plan(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if plan.Best() != nil || plan.Nearest == nil || plan.Nearest.TPOT <= q.Limits.TPOT || len(plan.Rejected) != 11 || plan.Rejected[0].Reason == "" {
		t.Errorf("limits that nothing keeps: %+v", plan)
	}
	q.Limits = plimsoll.Limits{TPOT: plan.Nearest.TPOT}
	if plan, err = planner.Plan(t.Context(), q); err != nil || plan.Best() == nil {
		t.Errorf("nothing keeps the nearest limits (%v)", err)
	}
}

// TestMistakesOfQuestions are those only a plan can have.
func TestMistakesOfQuestions(t *testing.T) {
	t.Parallel()
	for text, change := range map[string]func(*plimsoll.Question){
		"no model given":                             func(q *plimsoll.Question) { q.Model = "" },
		"num_devices":                                func(q *plimsoll.Question) { q.Devices = -1 },
		"more than the":                              func(q *plimsoll.Question) { q.Devices = 1 << 20 },
		"unknown device":                             func(q *plimsoll.Question) { q.System = "nothing" },
		"unknown engine":                             func(q *plimsoll.Question) { q.Engine.Name = "nothing" },
		"engine setting \"x=y\"":                     func(q *plimsoll.Question) { q.Engine.Settings = map[string]string{"x": "y"} },
		"tp_sizes must be between 1 and":             func(q *plimsoll.Question) { q.Sizes.TP = []int{16} },
		"num_mtp_tokens must be between":             func(q *plimsoll.Question) { q.Sizes.MTP = []int{-1} },
		"plans do not support latency_limit":         func(q *plimsoll.Question) { q.Limits.Latency = time.Second },
		"plans do not support output_distribution":   func(q *plimsoll.Question) { q.OutputBins, q.Output = []plimsoll.Bin{{1, 2, 1}}, 0 },
		"ttft_limit must be positive":                func(q *plimsoll.Question) { q.Limits.TTFT = -1 },
		"input_length: tokens must be between 1 and": func(q *plimsoll.Question) { q.Input = 1 << 25 },
		"input_distribution: the weights":            func(q *plimsoll.Question) { q.Input, q.InputBins = 0, []plimsoll.Bin{{1, 2, 0}} },
	} {
		q := question()
		change(&q)
		_, err := new(plimsoll.Planner).Plan(t.Context(), q)
		if _, ok := errors.AsType[*plimsoll.InputError](err); !ok || !strings.Contains(err.Error(), text) {
			t.Errorf("want an InputError with %q, got %v", text, err)
		}
	}
}
