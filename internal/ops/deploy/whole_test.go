package deploy_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestLongestPrompt: an engine that computes prompts whole is predicted and started with a token budget for the longest prompt: of one
// length above its default, near it, where a chat template would exceed it, and of workloads whose longest is above the mean.
func TestLongestPrompt(t *testing.T) {
	for _, c := range []struct {
		mode      experiment.ServingMode
		input     int
		workloads []session.Workload
		want      int
	}{
		{experiment.Aggregated, 4000, nil, 4000},
		{experiment.Aggregated, 8100, nil, 8100 + launch.ChatTemplate},
		{experiment.Aggregated, 36000, nil, 36000 + launch.ChatTemplate},
		{experiment.Disaggregated, 10000, nil, 10000 + launch.ChatTemplate},
		{experiment.Aggregated, 0, []session.Workload{{Name: "a", Input: 1000, Output: 100, Share: 9}, {Name: "b", Input: 12000, Output: 100, Share: 1}}, 12000 + launch.ChatTemplate},
	} {
		e := experiment.Experiment{
			Name: "x", Model: "Qwen/Qwen3-8B", System: "h200_sxm", Engine: deployment.Engine{Name: "trtllm"}, Mode: c.mode, Devices: 2,
			Input: c.input, Output: 100, Workloads: c.workloads, Limits: workload.Limits{TTFT: 20, TPOT: 0.2},
		}
		if c.workloads != nil {
			e.Output = 0
		}
		e.Complete()
		out, err := experiment.Find(t.Context(), new(session.Session), &experiment.How{Top: 3}, searchrun.Load{}, e, false)
		if err != nil || len(out.Rows) == 0 {
			t.Fatalf("%+v: %v, no rows", c, err)
		}
		for i := range out.Rows {
			p, err := deploy.Plan(new(session.Session), &session.Sources{}, &out.Experiment, &out.Rows[i], launch.Site{})
			if err != nil {
				t.Fatal(err)
			}
			values, err := p.Values()
			if err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			if got := values[0].TokenBudget; got < c.want {
				t.Errorf("%+v: token budget %d, want %d at least", c, got, c.want)
			}
		}
	}
}

// TestRecurrentCache: a model with recurrent layers is predicted and started with a prefix cache where prompts share something, and without one where
// they do not and the engine would cut prompts for it.
func TestRecurrentCache(t *testing.T) {
	for _, c := range []struct {
		engine, release string
		prefix          int
		want            bool
	}{
		{"vllm", "", 0, false},
		{"vllm", "0.24.0", 0, false},
		{"vllm", "", 500, true},
		{"vllm", "0.24.0", 500, true},
		{"trtllm", "", 0, false},
		{"trtllm", "", 500, true},
		{"sglang", "", 0, true},
	} {
		e := experiment.Experiment{
			Name: "x", Model: "ibm-granite/granite-4.0-h-tiny", System: "h200_sxm", Engine: deployment.Engine{Name: c.engine, Version: c.release}, Devices: 1,
			Input: 1000, Output: 20, Prefix: c.prefix, Limits: workload.Limits{TTFT: 2, TPOT: 0.1},
		}
		e.Complete()
		out, err := experiment.Find(t.Context(), new(session.Session), &experiment.How{Top: 1}, searchrun.Load{}, e, false)
		if err != nil || len(out.Rows) == 0 {
			t.Fatalf("%+v: %v, no rows", c, err)
		}
		p, err := deploy.Plan(new(session.Session), &session.Sources{}, &out.Experiment, &out.Rows[0], launch.Site{})
		if err != nil {
			t.Fatal(err)
		}
		values, err := p.Values()
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Resolved.Pools[0].Engine.PrefixCaching; got != c.want || values[0].PrefixCaching != c.want {
			t.Errorf("%+v: predicted with a prefix cache %t, started %t", c, got, values[0].PrefixCaching)
		}
	}
}

// TestGraphs: graphs are captured for the whole batch limit, also where the engine's own maximum is lower.
func TestGraphs(t *testing.T) {
	e := experiment.Experiment{
		Name: "x", Model: "Qwen/Qwen3-8B", System: "h200_sxm", Engine: deployment.Engine{Name: "trtllm"}, Devices: 1, Input: 200, Output: 100, Limits: workload.Limits{TTFT: 5, TPOT: 0.1},
	}
	e.Complete()
	out, err := experiment.Find(t.Context(), new(session.Session), &experiment.How{Top: 1}, searchrun.Load{}, e, false)
	if err != nil || len(out.Rows) == 0 {
		t.Fatalf("%v, no rows", err)
	}
	p, err := deploy.Plan(new(session.Session), &session.Sources{}, &out.Experiment, &out.Rows[0], launch.Site{})
	if err != nil {
		t.Fatal(err)
	}
	values, err := p.Values()
	if err != nil {
		t.Fatal(err)
	}
	if all := values[0].Graphs; values[0].Batch <= 128 || all[len(all)-1] != values[0].Batch {
		t.Errorf("graphs up to %v for a batch limit of %d", all, values[0].Batch)
	}
}
