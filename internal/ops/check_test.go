package ops_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// deployed is a model on one device under vLLM.
func deployed(settings ...string) simulate.Request {
	r := simulate.Request{Deployment: deployment.Deployment{
		Model: "Qwen/Qwen3-8B", System: "h200_sxm", Engine: deployment.Engine{Name: "vllm", Settings: settings},
		Pools: []deployment.Pool{{Role: deployment.Both, Replicas: 1, Layout: parallel.Layout{Devices: 1, TP: 1, DP: 1}}},
	}}
	r.Concurrency, r.Requests, r.Input, r.Output = 16, 64, 1024, 64
	return r
}

// TestCheckFindsTheCause: a run simulated with one assumption changed is explained by that assumption.
func TestCheckFindsTheCause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*simulate.Request)
		want   string
	}{
		{func(*simulate.Request) {}, ""},
		{func(r *simulate.Request) { r.Deployment.Engine.Settings = []string{"graph.max_batch=0"} }, "no CUDA graphs"},
		{func(r *simulate.Request) { r.Deployment.Engine.Settings = []string{"max_sequences=8"} }, "at most 8 sequences in a batch"},
		{func(r *simulate.Request) { r.Input = 8192 }, "mean lengths: 8192 and 64 tokens"},
		{func(r *simulate.Request) { r.Concurrency, r.Requests = 128, 256 }, "all values stated in the result"},
	} {
		ran := deployed()
		c.change(&ran)
		plain := &session.Session{}
		run, err := simulate.Run(t.Context(), plain, ran)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		w := (&session.Session{}).Over(func(string) ([]byte, bool) { return data, true })
		got, err := check.Run(t.Context(), w, check.Request{File: "run.json", Expected: deployed()})
		if err != nil {
			t.Fatal(err)
		}
		r := &got.Runs[0]
		if c.want == "" {
			if !r.Inside || len(r.Causes) != 0 {
				t.Errorf("nothing changed: %+v", r)
			}
			continue
		}
		if r.Inside || len(r.Causes) == 0 || !strings.HasPrefix(r.Causes[0].What, c.want) || !r.Causes[0].Explains || r.Causes[0].Left > 0.1 {
			t.Errorf("%s: %v, %+v", c.want, r.Inside, r.Causes[:min(2, len(r.Causes))])
		}
	}
}

// TestCheckRefuses: what cannot be compared says why.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	w := (&session.Session{}).Over(func(string) ([]byte, bool) {
		return []byte(`{"time_to_first_token":{"avg":5},"inter_token_latency":{"avg":5}}`), true
	})
	r := deployed()
	r.Concurrency = 0
	if _, err := check.Run(t.Context(), w, check.Request{File: "a.json", Expected: r}); err == nil || !strings.Contains(err.Error(), "give concurrency or rate") {
		t.Errorf("no load: %v", err)
	}
	if _, err := check.Run(t.Context(), (&session.Session{}), check.Request{File: "a.json"}); err == nil {
		t.Error("no files, and yet an answer")
	}
}
