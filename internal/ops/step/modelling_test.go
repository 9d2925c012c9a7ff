package step_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

func evaluate(t *testing.T, r flat) *step.Response {
	t.Helper()
	var w session.Session
	if r.Queries == 0 {
		r.Queries = 32
	}
	out, err := step.Run(t.Context(), &w, r.request())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFusedByDefault: operators are fused unless the request says otherwise, on
// Ascend devices and as Ascend's tool does it only where it asks for it. Prices are
// fitted where a relative of the device was measured.
func TestFusedByDefault(t *testing.T) {
	t.Parallel()
	for _, name := range device.Names() {
		step := func(f flat) *step.Response {
			f.Model, f.Device, f.Decode = "Qwen/Qwen3-0.6B", name, true
			return evaluate(t, f)
		}
		open := step(flat{})
		d, err := device.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		fitted := d.Vendor == device.NVIDIA || d.Vendor == device.AMD || d.Vendor == device.Intel
		if open.Compiled == d.FollowsAscend() || (open.Pricing == prices.Calibrated || open.Pricing == prices.Surfaces) != fitted {
			t.Errorf("%s: fused %t, %s prices", name, open.Compiled, open.Pricing)
		}
		for _, fusion := range []deployment.Fusion{deployment.Eager, deployment.Compiled} {
			if got := step(flat{Fusion: fusion}); got.Compiled != (fusion == deployment.Compiled) {
				t.Errorf("%s: requested %s, fused %t", name, fusion, got.Compiled)
			}
		}
		if got := step(flat{Pricing: prices.Roofline}); got.Compiled || got.Pricing != prices.Roofline {
			t.Errorf("%s with roofline prices: fused %t, %s prices", name, got.Compiled, got.Pricing)
		}
		if got := step(flat{Policy: "tensorcast"}); got.Compiled || got.Pricing != prices.Roofline {
			t.Errorf("%s under tensorcast: fused %t, %s prices", name, got.Compiled, got.Pricing)
		}
	}
}

// TestDeviationsDoNotChangePrices: what a deviation does to a step is found at the
// prices the step has. A checkpoint in bfloat16 costs the same in float16.
func TestDeviationsDoNotChangePrices(t *testing.T) {
	t.Parallel()
	names := func(r *step.Response) []string {
		var out []string
		for _, a := range r.Deviations {
			out = append(out, a.Name)
		}
		return out
	}
	for _, pricing := range []prices.Pricing{"", prices.Roofline, prices.Calibrated} {
		r := evaluate(t, flat{
			Model: "Qwen/Qwen3-32B", Device: "h200_sxm", Layout: parallel.Layout{Devices: 4, TP: 4}, ContextLength: 4096, Decode: true,
			Policy: "tensorcast", Pricing: pricing,
		})
		if got := names(r); len(got) > 0 {
			t.Errorf("%q prices: %v", pricing, got)
		}
		prefill := evaluate(t, flat{
			Model: "Qwen/Qwen3-32B", Device: "h200_sxm", Queries: 1, QueryLength: 8192,
			Policy: "tensorcast", Pricing: pricing,
		})
		if got := names(prefill); !slices.Equal(got, []string{"full-attention"}) {
			t.Errorf("%q prices, prefill: %v", pricing, got)
		}
	}
}

// TestEngineSteps: what a step takes under an engine is what a simulation counts
// for it, and without an engine nothing is said.
func TestEngineSteps(t *testing.T) {
	t.Parallel()
	const batch, input, output = 16, 2000, 64
	for _, c := range []struct{ model, device, engine string }{
		{"Qwen/Qwen3-32B", "h200_sxm", "vllm"},
		{"Qwen/Qwen3-32B", "h200_sxm", "trtllm"},
		{"Qwen/Qwen3-30B-A3B", "b200_sxm", "sglang"},
		{"Qwen/Qwen3-8B", "ATLAS_800_A3_752T_128G_DIE", "mindie"},
	} {
		l := parallel.Layout{Devices: 2, TP: 2, DP: 1, PP: 1}
		r := evaluate(t, flat{
			Model: c.model, Device: c.device, Engine: c.engine, Layout: l, Policy: "physical",
			LinearAction: "AUTO", AttentionAction: "AUTO",
			Queries: batch, ContextLength: input + output/2, Decode: true,
		})
		var w session.Session
		d := on(c.model, c.device, l)
		d.Engine.Name, d.Formats = c.engine, deployment.Formats{Linear: "AUTO", Attention: "AUTO"}
		s, err := simulate.Run(t.Context(), &w, simulate.Request{
			Deployment: d, Traffic: simulate.Traffic{Concurrency: batch, Requests: batch, Input: input, Output: output},
		})
		if err != nil {
			t.Fatal(err)
		}
		e := r.Engine
		if want := s.Result.ITL.P50; math.Abs(float64(e.Time/want)-1) > 0.02 { // gaps are kept to 1 %
			t.Errorf("%v: a step takes %v, in a simulation %v", c, e.Time, want)
		}
		if !r.Compiled || e.Host <= 0 || e.Kernels <= 0 {
			t.Errorf("%v: fused %t, kernels %v, host %v", c, r.Compiled, e.Kernels, e.Host)
		}
	}
	if r := evaluate(t, flat{Model: "Qwen/Qwen3-8B", Device: "h200_sxm", Decode: true}); r.Engine != nil {
		t.Errorf("without an engine: %+v", r.Engine)
	}
}

// TestEngineSettingsOfSteps: settings that change a step change it.
func TestEngineSettingsOfSteps(t *testing.T) {
	t.Parallel()
	once := func(set ...string) *step.Response {
		return evaluate(t, flat{
			Model: "deepseek-ai/DeepSeek-V3", Device: "h200_sxm", Layout: parallel.Layout{Devices: 8, TP: 8},
			ContextLength: 4096, Decode: true, Engine: "vllm", Set: set,
		})
	}
	plain := once()
	host := func(set ...string) units.Seconds { return once(set...).Engine.Host }
	if got := host("host.exposed=1"); got <= plain.Engine.Host {
		t.Errorf("all of the host's work exposed: %v, before %v", got, plain.Engine.Host)
	}
	if got := host("graph.max_batch=1"); got <= plain.Engine.Host {
		t.Errorf("kernels launched one by one: %v, before %v", got, plain.Engine.Host)
	}
	if got := once("kv_format=fp8"); got.KV >= plain.KV || got.Result.Time >= plain.Result.Time {
		t.Errorf("a cache in fp8 is %v and a step %v, before %v and %v", got.KV, got.Result.Time, plain.KV, plain.Result.Time)
	}
	states := func(set ...string) *step.Response {
		return evaluate(t, flat{Model: "Qwen/Qwen3.5-397B-A17B", Device: "b200_sxm", Layout: parallel.Layout{Devices: 8, TP: 8}, Queries: 64, ContextLength: 64, Decode: true, Engine: "sglang", Set: set})
	}
	if wide, narrow := states(), states("state_format=bf16"); narrow.KV >= wide.KV || narrow.Result.Time >= wide.Result.Time {
		t.Errorf("states in bf16 are %v and a step %v, before %v and %v", narrow.KV, narrow.Result.Time, wide.KV, wide.Result.Time)
	}
	if got := once("mtp.tokens=2"); got.MTP != 2 || got.Query != 3 {
		t.Errorf("two drafted tokens: %d, queries of %d", got.MTP, got.Query)
	}
}

// TestCancelled: no step is evaluated for who no longer waits.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := flat{Model: "Qwen/Qwen3-8B", Queries: 1, Decode: true}.request()
	if _, err := step.Run(ctx, &session.Session{}, r); !errors.Is(err, context.Canceled) {
		t.Errorf("want a cancelled step, got %v", err)
	}
}
