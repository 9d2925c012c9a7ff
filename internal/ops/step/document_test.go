package step_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// steps are a prefill, a decode with nothing left out of it, and a step under an
// engine.
func steps(t *testing.T) map[string]*step.Response {
	t.Helper()
	const a3 = "ATLAS_800_A3_752T_128G_DIE"
	compiled := deployment.Modelling{Fusion: deployment.Compiled}
	out := map[string]*step.Response{}
	for name, r := range map[string]step.Request{
		"prefill": {
			Deployment: deployment.Deployment{
				Model: "Qwen/Qwen3-32B", System: a3, Modelling: compiled,
				Pools: []deployment.Pool{{Layout: parallel.Layout{Devices: 8, TP: 8}}},
			},
			Queries: 2, QueryLength: 4096,
		},
		"decode": {
			Deployment: deployment.Deployment{
				Model: "deepseek-ai/DeepSeek-V3.1", System: a3, Modelling: compiled,
				Pools: []deployment.Pool{{Layout: parallel.Layout{Devices: 16, EP: 16}, MTP: 1}},
			},
			Decode: true, Multistream: true, Queries: 256, ContextLength: 4096, ReservedGiB: 2,
		},
		"engine": {
			Deployment: deployment.Deployment{Model: "Qwen/Qwen3-8B", System: "h200_sxm", Engine: deployment.Engine{Name: "vllm"}},
			Decode:     true, Queries: 8, ContextLength: 1024,
		},
	} {
		var w session.Session
		got, err := step.Run(t.Context(), &w, r)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = got
	}
	return out
}

// TestStep holds the names of the fields, which are a promise, and their values to
// those of the response.
func TestStep(t *testing.T) {
	all := steps(t)
	var keys []string
	for _, r := range all {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		collect(&keys, "", got)
	}
	slices.Sort(keys)
	golden.Check(t, "testdata/step-keys.golden", []byte(strings.Join(slices.Compact(keys), "\n")+"\n"))

	r := all["decode"]
	var sum units.Seconds
	for _, o := range r.Operators {
		sum += o.Time
	}
	near := func(what string, want, got float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: want %g, got %g", what, want, got)
		}
	}
	near("operators", float64(r.Time+r.Hidden), float64(sum))
	near("tokens", 256*2/float64(r.Time)/16, r.TokensPerSecond)
	near("memory", r.DeviceMemory.GiB(), (r.Weights + r.KV + r.Activation + r.Reserved + r.Available).GiB())
	if r.Engine != nil {
		t.Errorf("an engine that was not requested: %+v", r.Engine)
	}
	e := all["engine"].Engine
	near("an engine's step", float64(e.Kernels)+float64(e.Host), float64(e.Time))
	near("an engine's tokens", float64(all["engine"].Request.Queries*all["engine"].Query)/float64(e.Time), all["engine"].TokensPerSecond)
}

// collect lists the paths to every value.
func collect(keys *[]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			collect(keys, path+"."+k, inner)
		}
	case []any:
		*keys = append(*keys, path+"[]")
		for _, inner := range v {
			collect(keys, path+"[]", inner)
		}
	default:
		*keys = append(*keys, path)
	}
}
