package files_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// layouts that an engine can run: of a dense model, of experts.
func layouts(name string, experts bool) []parallel.Layout {
	out := []parallel.Layout{tp(1), tp(2), tp(4), tp(8), {Devices: 4, TP: 2, PP: 2}, tp(16)}
	if !experts {
		if name != "trtllm" { // whose ranks become workers
			out = append(out, parallel.Layout{Devices: 4, TP: 2, DP: 2})
		}
		return out
	}
	out = append(out, wide(4), wide(8), wide(16), parallel.Layout{Devices: 8, TP: 8, EP: 8})
	switch name {
	case "vllm":
		out = append(out, parallel.Layout{Devices: 8, TP: 2, DP: 4, EP: 8}, parallel.Layout{Devices: 8, TP: 2, DP: 4, EP: 1, MoETP: 8})
	case "sglang":
		out = append(out, parallel.Layout{Devices: 8, TP: 2, DP: 4, EP: 4, MoETP: 2}, parallel.Layout{Devices: 8, TP: 4, DP: 2, EP: 4, MoETP: 1, MoEDP: 2},
			parallel.Layout{Devices: 8, TP: 8, EP: 2, MoETP: 2, MoEDP: 2})
	case "trtllm":
		out = append(out, parallel.Layout{Devices: 8, TP: 8, EP: 2, MoETP: 4}, parallel.Layout{Devices: 8, TP: 1, DP: 8, EP: 4, MoETP: 2})
	}
	return out
}

// releases of the engines, with different names of flags.
func releases(name string) []string {
	return map[string][]string{
		"vllm": {"", "0.26.0", "0.19.1", "0.12.0", "0.11.0", "0.10.2"}, "sglang": {"", "0.5.23", "0.5.16", "0.5.12", "0.5.9"}, "trtllm": {"", "1.3.0rc23", "1.2.0", "1.0.0", "1.0.0rc6", "1.0.0rc3", "0.20.0"},
	}[name]
}

// arbitrary draws a plan.
func arbitrary(t *rapid.T) *launch.Plan {
	name := rapid.SampledFrom([]string{"vllm", "sglang", "trtllm"}).Draw(t, "engine")
	id := rapid.SampledFrom([]string{"Qwen/Qwen3-32B", "Qwen/Qwen3-30B-A3B", "deepseek-ai/DeepSeek-V3", "meta-llama/Llama-3.3-70B-Instruct"}).Draw(t, "model")
	experts := id != "Qwen/Qwen3-32B" && id != "meta-llama/Llama-3.3-70B-Instruct"
	pool := func(r deployment.Role) deployment.Pool {
		p := deployment.Pool{Role: r, Replicas: rapid.IntRange(1, 3).Draw(t, "replicas"), Layout: rapid.SampledFrom(layouts(name, experts)).Draw(t, "layout")}
		switch by := rapid.SampledFrom([]draft.Method{"", draft.MTP, draft.EAGLE3, draft.NGram}).Draw(t, "drafts"); {
		case by == draft.MTP && id == "deepseek-ai/DeepSeek-V3":
			p.MTP, p.AcceptanceRates = 2, []float64{0.8, 0.55}
		case by == draft.EAGLE3 && id == "meta-llama/Llama-3.3-70B-Instruct", by == draft.NGram:
			p.MTP, p.Drafter = rapid.IntRange(1, 4).Draw(t, "draft tokens"), by
		}
		for _, s := range []string{"token_budget=4096", "kv_format=fp8", "memory_share=0.85", "prefix_caching=false", "chunked_prefill=false", "graph.max_batch=0", "block_tokens=64", "workspace_gib=3"} {
			if rapid.IntRange(0, 3).Draw(t, s) == 0 {
				p.Settings = append(p.Settings, s)
			}
		}
		return p
	}
	p := &launch.Plan{
		Deployment: deployment.Deployment{Model: id, System: "h200_sxm", Engine: deployment.Engine{Name: name, Version: rapid.SampledFrom(releases(name)).Draw(t, "release")}},
		Input:      rapid.IntRange(1, 3000).Draw(t, "input"), Output: rapid.IntRange(1, 1000).Draw(t, "output"),
		Concurrency: rapid.IntRange(1, 500).Draw(t, "concurrency"), Copies: rapid.IntRange(1, 2).Draw(t, "copies"),
	}
	p.Deployment.Pools = []deployment.Pool{pool(deployment.Both)}
	if rapid.Bool().Draw(t, "disaggregated") {
		p.Deployment.Pools = []deployment.Pool{pool(deployment.Prefill), pool(deployment.Decode)}
	}
	for range p.Deployment.Pools {
		p.Batch = append(p.Batch, rapid.IntRange(1, 300).Draw(t, "batch"))
	}
	if slices.Contains([]string{"vllm", "sglang"}, name) && rapid.IntRange(0, 4).Draw(t, "checkpoint") == 0 {
		p.Deployment.Formats.Checkpoint = "fp8"
	}
	p.Deployment.Routing = rapid.SampledFrom([]string{"", "least-loaded", "llm-d"}).Draw(t, "routing")
	p.Deployment.Host.GiB = float64(rapid.IntRange(0, 2).Draw(t, "host cache"))
	if rapid.IntRange(0, 3).Draw(t, "formats") == 0 {
		p.Deployment.Pools[0].Formats = deployment.Formats{Checkpoint: p.Deployment.Formats.Checkpoint, KV: "fp8"}
	}
	return p
}

// readable are the targets that are read again.
func readable() []files.Target {
	return slices.DeleteFunc(files.Targets(), func(t files.Target) bool {
		return t == files.Bench || t == files.KEDA || t == files.Planner // which start no engine
	})
}

// TestRoundTrip: what is written is read as the same deployment, by every target
// that can run it, and resolves to the same engines.
func TestRoundTrip(t *testing.T) {
	parts := map[string]deployment.Parts{}
	rapid.Check(t, func(t *rapid.T) {
		p := arbitrary(t)
		d := &p.Deployment
		key := d.Model + d.Engine.Name + d.Engine.Version
		if _, ok := parts[key]; !ok {
			m, err := model.Lookup(d.Model)
			if err != nil {
				t.Fatal(err)
			}
			dev, err := device.Lookup(d.System)
			if err != nil {
				t.Fatal(err)
			}
			e, err := engine.LookupVersion(d.Engine.Name, d.Engine.Version)
			if err != nil {
				t.Fatal(err)
			}
			parts[key] = deployment.Parts{Model: m, Device: dev, Engine: e}
		}
		var err error
		if p.Resolved, err = d.Resolve(parts[key]); err != nil {
			t.Fatal(err)
		}
		all, _, err := files.Write(p, rapid.SampledFrom(readable()).Draw(t, "target"))
		if errors.Is(err, files.ErrCannot) {
			all, _, err = files.Write(p) // those that can
		}
		if err != nil {
			t.Fatal(err)
		}
		for target, group := range byTarget(all) {
			found, err := launch.Read(group...)
			if err != nil {
				t.Fatalf("%s: %v", target, err)
			}
			got := found.Deployment
			for i := range got.Pools {
				got.Pools[i].Layout = got.Pools[i].Layout.Complete(p.Resolved.Model)
			}
			want, err := written(p, group)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-written +read):\n%s", target, diff)
			}
			if len(found.Problems) > 0 {
				t.Fatalf("%s: %+v", target, found.Problems[0])
			}
		}
		want, err := deploymentOf(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := want.Resolve(parts[key])
		if err != nil {
			t.Fatal(err)
		}
		for i := range again.Pools {
			a, b := &p.Resolved.Pools[i], &again.Pools[i]
			if a.Spec.MTP != b.Spec.MTP || a.Spec.Drafter != b.Spec.Drafter || a.Spec.Quant != b.Spec.Quant || a.Engine.TokenBudget != b.Engine.TokenBudget ||
				a.Engine.MemoryShare != b.Engine.MemoryShare || a.Engine.ChunkedPrefill != b.Engine.ChunkedPrefill || a.Engine.BlockTokens != b.Engine.BlockTokens {
				t.Fatalf("pool %d differs: %+v, then %+v", i, a.Engine, b.Engine)
			}
		}
	})
}
