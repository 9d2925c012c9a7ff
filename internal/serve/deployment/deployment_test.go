package deployment_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// parts finds what names stand for; an engine of "" is none.
func parts(t testing.TB, id, system, engineName string) deployment.Parts {
	t.Helper()
	m, err := model.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.Lookup(system)
	if err != nil {
		t.Fatal(err)
	}
	out := deployment.Parts{Model: m, Device: d}
	if engineName != "" {
		if out.Engine, err = engine.LookupVersion(engineName, ""); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// pool is one of everything.
func pool(l parallel.Layout) []deployment.Pool {
	return []deployment.Pool{{Role: deployment.Both, Layout: l}}
}

// TestDefaults: what a deployment leaves open follows from its device and engine.
func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, system, engine string
		policy                string
		pricing               prices.Pricing
		compiled              bool
		linear, kv            string
	}{
		{"Qwen/Qwen3-8B", "h200_sxm", "", "physical", prices.Surfaces, true, "bf16", "bf16"},
		{"Qwen/Qwen3-8B", "h200_sxm", "vllm", "physical", prices.Surfaces, true, "bf16", "bf16"},
		{"Qwen/Qwen3-32B-FP8", "b200_sxm", "sglang", "physical", prices.Surfaces, true, "fp8 block", "bf16"},
		{"Qwen/Qwen3-8B", "TEST_DEVICE", "", "tensorcast", prices.Roofline, false, "w8a8 int8", "f16"},
		{"Qwen/Qwen3-8B", "ATLAS_800_A3_752T_128G_DIE", "mindie", "tensorcast", prices.Roofline, true, "w8a8 int8", "f16"},
	} {
		asked := deployment.Deployment{Pools: pool(parallel.Layout{Devices: 2, TP: 2})}
		r, err := asked.Resolve(parts(t, c.model, c.system, c.engine))
		if err != nil {
			t.Fatal(err)
		}
		s := &r.Generates().Spec
		got := []any{s.Policy.Name, r.Pricing, s.Compile, s.Quant.Attention.Name(), s.Quant.KV.String()}
		if want := []any{c.policy, c.pricing, c.compiled, c.linear, c.kv}; !cmp.Equal(want, got) {
			t.Errorf("%s on %s under %q: want %v, got %v", c.model, c.system, c.engine, want, got)
		}
		if (r.Generates().Engine != nil) != (c.engine != "") || r.Disaggregated() {
			t.Errorf("%s: engine %v", c.system, r.Generates().Engine)
		}
	}
}

// TestSettings: those of the deployment hold for every pool, those of a pool for
// it alone, and what the engine decides about formats and drafts enters the spec.
func TestSettings(t *testing.T) {
	t.Parallel()
	l := parallel.Layout{Devices: 8, TP: 8}
	rates := []float64{0.8, 0.5}
	asked := deployment.Deployment{
		Engine: deployment.Engine{Settings: []string{"token_budget=4096", "kv_format=fp8", "mtp.tokens=2"}},
		Pools: []deployment.Pool{
			{Role: deployment.Prefill, Replicas: 3, Layout: l, Settings: []string{"token_budget=16384"}, AcceptanceRates: rates},
			{Role: deployment.Decode, Layout: l, MTP: 1, AcceptanceRates: rates},
		},
	}
	r, err := asked.Resolve(parts(t, "deepseek-ai/DeepSeek-V3", "h200_sxm", "vllm"))
	if err != nil {
		t.Fatal(err)
	}
	p, d := &r.Pools[0], &r.Pools[1]
	if p.Engine.TokenBudget != 16384 || d.Engine.TokenBudget != 4096 || p.Replicas != 3 || d.Replicas != 1 || !r.Disaggregated() || r.Generates() != d {
		t.Errorf("%d tokens of %d, %d of %d", p.Engine.TokenBudget, p.Replicas, d.Engine.TokenBudget, d.Replicas)
	}
	if p.Spec.Quant.KV != dtype.FP8 || d.Spec.Quant.KV != dtype.FP8 || p.Spec.MTP != 2 || d.Spec.MTP != 1 {
		t.Errorf("caches in %v and %v, %d and %d drafts", p.Spec.Quant.KV, d.Spec.Quant.KV, p.Spec.MTP, d.Spec.MTP)
	}
	if p.AcceptedPerStep != 1+0.8+0.5 || d.AcceptedPerStep != 1+0.8 {
		t.Errorf("%g and %g tokens a step", p.AcceptedPerStep, d.AcceptedPerStep)
	}
	if asked.Devices() != 4*8 || !asked.Disaggregated() {
		t.Errorf("%d devices", asked.Devices())
	}
}

// TestDraftingSequences: SGLang runs 48 requests on all data-parallel ranks together while it drafts, unless its setting says otherwise.
func TestDraftingSequences(t *testing.T) {
	t.Parallel()
	p := parts(t, "deepseek-ai/DeepSeek-V3", "h200_sxm", "sglang")
	one, eight := parallel.Layout{Devices: 8, TP: 8}, parallel.Layout{Devices: 8, TP: 1, DP: 8}
	for _, c := range []struct {
		layout   parallel.Layout
		mtp      int
		settings []string
		want     int
	}{{one, 0, nil, 1024}, {one, 2, nil, 48}, {eight, 2, nil, 6}, {one, 2, []string{"max_sequences=300"}, 300}} {
		d := deployment.Deployment{Pools: []deployment.Pool{{Role: deployment.Both, Layout: c.layout, MTP: c.mtp, Settings: c.settings}}}
		r, err := d.Resolve(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Pools[0].Engine.MaxSequences; got != c.want {
			t.Errorf("DP %d, %d drafts, %v: %d sequences, want %d", c.layout.DP, c.mtp, c.settings, got, c.want)
		}
	}
}

// TestRefuses: everything that is wrong is named by its field.
func TestRefuses(t *testing.T) {
	t.Parallel()
	two := parallel.Layout{Devices: 2, TP: 2}
	for _, c := range []struct {
		name   string
		engine string
		asked  deployment.Deployment
		want   string
	}{
		{"no pools", "", deployment.Deployment{}, "pools: want one pool with role both"},
		{"roles", "vllm", deployment.Deployment{Pools: []deployment.Pool{{Role: deployment.Decode, Layout: two}, {Role: deployment.Prefill, Layout: two}}}, "pools: want one pool with role both, or one with role prefill followed by one with role decode"},
		{"layout", "", deployment.Deployment{Pools: pool(parallel.Layout{Devices: 3, TP: 3})}, "tp_size 3 does not divide the model's 32 attention heads"},
		{"devices", "", deployment.Deployment{Pools: pool(parallel.Layout{Devices: 1 << 15, TP: 1})}, "num_devices 32768 is more than"},
		{"prefill", "vllm", deployment.Deployment{Pools: []deployment.Pool{{Role: deployment.Prefill, Layout: parallel.Layout{Devices: 3, TP: 3}}, {Role: deployment.Decode, Layout: two}}}, "prefill replicas: tp_size 3"},
		{"policy", "", deployment.Deployment{Pools: pool(two), Modelling: deployment.Modelling{Policy: "magic"}}, `policy must be one of tensorcast, physical, got "magic"`},
		{"pricing", "", deployment.Deployment{Pools: pool(two), Modelling: deployment.Modelling{Pricing: "guess"}}, `pricing must be one of roofline, calibrated, surfaces, got "guess"`},
		{"setting", "vllm", deployment.Deployment{Pools: pool(two), Engine: deployment.Engine{Settings: []string{"token_budgt=1"}}}, "nearest: token_budget"},
		{"group", "", deployment.Deployment{Pools: pool(two), Formats: deployment.Formats{MXFP4Group: -1}}, "mxfp4_group_size must be positive, got -1"},
		{"drafts", "vllm", deployment.Deployment{Pools: []deployment.Pool{{Role: deployment.Both, Layout: two, MTP: 1}}}, "num_mtp_tokens must be 0, got 1: Qwen/Qwen3-8B has no MTP modules"},
		{"too many drafts", "", deployment.Deployment{Pools: []deployment.Pool{{Role: deployment.Both, Layout: two, MTP: 10}}}, "num_mtp_tokens must be between 0 and 9, got 10"},
	} {
		_, err := c.asked.Resolve(parts(t, "Qwen/Qwen3-8B", "h200_sxm", c.engine))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.name, c.want, err)
		}
	}
	drafts := deployment.Deployment{Pools: []deployment.Pool{{Role: deployment.Both, Layout: parallel.Layout{Devices: 8, TP: 8}, MTP: 2, AcceptanceRates: []float64{0.9}}}}
	_, err := drafts.Resolve(parts(t, "deepseek-ai/DeepSeek-V3", "h200_sxm", "vllm"))
	if err == nil || err.Error() != "num_mtp_tokens 2 needs as many mtp_acceptance_rates, got 1" {
		t.Errorf("two drafts and one rate: %v", err)
	}
}

// TestConversions: a published conversion quantizes what its publishers do.
func TestConversions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, checkpoint, kv, attention, experts, cache string }{
		{"Qwen/Qwen3-32B", "", "", "bf16", "bf16", "bf16"},
		{"Qwen/Qwen3-32B", "fp8", "", "fp8", "fp8", "fp8"},
		{"Qwen/Qwen3-30B-A3B", "fp8", "bf16", "fp8 block", "fp8 block", "bf16"},
		{"Qwen/Qwen3-30B-A3B", "fp4", "", "bf16", "nvfp4 w4a16", "fp8"},
		{"Qwen/Qwen3-32B", "fp4", "", "nvfp4 w4a16", "nvfp4 w4a16", "fp8"},
		{"Qwen/Qwen3-30B-A3B", "int4", "fp8", "bf16", "w4a16 int4", "fp8"},
		{"Qwen/Qwen3-32B", "int4", "", "w4a16 int4", "bf16", "bf16"},
		{"openai/gpt-oss-120b", "fp4", "", "bf16", "mxfp4 w4a16", "bf16"},
		{"Qwen/Qwen3-30B-A3B-FP8", "fp8", "", "fp8 block", "fp8 block", "bf16"},
		{"deepseek-ai/DeepSeek-V4-Pro", "fp4", "fp8", "fp8 block", "mxfp4", "fp8"},
	} {
		asked := deployment.Deployment{Formats: deployment.Formats{Checkpoint: c.checkpoint, KV: c.kv}, Pools: pool(parallel.Layout{})}
		r, err := asked.Resolve(parts(t, c.model, "h200_sxm", ""))
		if err != nil {
			t.Fatal(err)
		}
		q := &r.Generates().Spec.Quant
		if q.Attention.Name() != c.attention || q.Experts.Name() != c.experts || q.KV.String() != c.cache {
			t.Errorf("%+v: got %s, %s, %v", c, q.Attention.Name(), q.Experts.Name(), q.KV)
		}
	}
}

// TestAcceptedPerStep: each position counts by its own rate, and no more than
// there are.
func TestAcceptedPerStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n     int
		rates []float64
		want  float64
	}{{2, []float64{0.5, 0.25}, 1.75}, {0, []float64{0.9}, 1}, {1, []float64{0.6, 0.4}, 1.6}, {3, []float64{0.6}, 1.6}, {2, nil, 1}} {
		if got := deployment.AcceptedPerStep(c.n, c.rates); got != c.want {
			t.Errorf("%d of %v: want %g, got %g", c.n, c.rates, c.want, got)
		}
	}
}

// TestWrittenDown: a deployment comes back from JSON as it was, and resolves to
// the same.
func TestWrittenDown(t *testing.T) {
	t.Parallel()
	p := parts(t, "Qwen/Qwen3-30B-A3B", "h200_sxm", "vllm")
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 4})
		role := func(r deployment.Role) deployment.Pool {
			tp, dp := size.Draw(t, "tp"), size.Draw(t, "dp")
			return deployment.Pool{
				Role: r, Replicas: rapid.IntRange(1, 5).Draw(t, "replicas"),
				Layout:   parallel.Layout{Devices: tp * dp, TP: tp, DP: dp, EP: size.Draw(t, "ep")},
				Settings: rapid.SampledFrom([][]string{nil, {"token_budget=1000"}, {"max_sequences=7", "kv_format=fp8"}}).Draw(t, "settings"),
			}
		}
		asked := deployment.Deployment{
			Model: "Qwen/Qwen3-30B-A3B", System: "h200_sxm", Engine: deployment.Engine{Name: "vllm", Version: "0.19"},
			Formats: deployment.Formats{Checkpoint: rapid.SampledFrom([]string{"", "fp8", "fp4"}).Draw(t, "checkpoint"), Linear: rapid.SampledFrom([]dtype.Action{"", dtype.W8A8Dynamic}).Draw(t, "linear")},
			Routing: rapid.SampledFrom([]string{"", "least-loaded", "llm-d"}).Draw(t, "routing"), Pools: []deployment.Pool{role(deployment.Both)},
			Modelling: deployment.Modelling{EmbeddingTP: rapid.SampledFrom([]graph.EmbeddingTP{graph.EmbeddingCopied, graph.EmbeddingRows}).Draw(t, "embedding")},
		}
		if rapid.Bool().Draw(t, "disaggregated") {
			asked.Pools = []deployment.Pool{role(deployment.Prefill), role(deployment.Decode)}
		}
		data, err := json.Marshal(asked)
		if err != nil {
			t.Fatal(err)
		}
		var back deployment.Deployment
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(asked, back); d != "" {
			t.Fatalf("(-written +read):\n%s\n%s", d, data)
		}
		a, errA := asked.Resolve(p)
		b, errB := back.Resolve(p)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%v, read back %v", errA, errB)
		}
		if errA == nil && !slices.EqualFunc(a.Pools, b.Pools, func(x, y deployment.Served) bool { return x.Spec == y.Spec && x.Replicas == y.Replicas }) {
			t.Fatalf("%+v, read back %+v", a.Pools, b.Pools)
		}
	})
}
