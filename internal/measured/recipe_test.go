package measured

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/engine"
	"plimsoll/internal/graph"
	"plimsoll/internal/model"
)

// TestUntold: a row that says little is of lengths that differ a little, and a
// converted checkpoint's cache is in fp8, an original's in the model's own format.
func TestUntold(t *testing.T) {
	rows, err := Read(strings.NewReader("id,backend,model_path,system,precision,isl,osl,tp_size,batch_size,silicon_ttft_ms,silicon_tpot_ms\n"+
		"converted,vllm,meta-llama/Llama-3.1-70B,h200_sxm,fp8,1024,1024,4,16,100,10\n"+
		"original,vllm,Qwen/Qwen3-235B-A22B-FP8,h200_sxm,fp8,1024,1024,8,16,100,10\n"+
		"further,sglang,deepseek-ai/DeepSeek-V3,b200_sxm,fp4,1024,1024,8,16,100,10\n"+
		"wide,vllm,meta-llama/Llama-3.1-70B,h200_sxm,,1024,1024,4,16,100,10\n"), "rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []dtype.Format{dtype.FP8, dtype.BF16, dtype.FP8, dtype.BF16} {
		r := &rows[i]
		m, err := model.Lookup(r.Model)
		if err != nil {
			t.Fatal(err)
		}
		if got := quantization(m, r).KV; got != want {
			t.Errorf("%s: want a cache in %v, got %v", r.ID, want, got)
		}
		if r.LengthLow >= 1 || r.LengthLow < 0.8 || !slices.Contains(r.Defaulted, "length_ratio_low") {
			t.Errorf("%s: lengths from %g, defaults for %v", r.ID, r.LengthLow, r.Defaulted)
		}
	}
}

// TestRecipe: what a row of a disaggregated deployment does not tell is taken from
// what such deployments are told, and what it tells is left alone.
func TestRecipe(t *testing.T) {
	for _, c := range []struct {
		name, engine, system string
		row                  Row
		decodes              bool
		sequences, budget    int // 0: the engine's own
		kv                   dtype.Format
		held                 int
	}{
		{"offered more than a power of two", "trtllm", "gb200", Row{Precision: "fp4", Concurrency: 27}, true, 8, 0, dtype.FP8, 0},
		{"offered a power of two", "trtllm", "gb200", Row{Precision: "fp4", Concurrency: 24}, true, 0, 0, dtype.FP8, 0},
		{"offered what graphs are captured for", "trtllm", "gb200", Row{Precision: "fp4", Concurrency: 3 * 768}, true, 0, 0, dtype.FP8, 0},
		{"told", "trtllm", "gb200", Row{Precision: "fp4", Concurrency: 27, MaxSequences: 9, KV: "bf16"}, true, 0, 0, dtype.None, 0},
		{"an engine that need not be told", "sglang", "gb200", Row{Precision: "fp4", Concurrency: 27}, true, 0, 0, dtype.FP8, heldNarrow},
		{"prompts", "trtllm", "h200_sxm", Row{Precision: "fp8", Concurrency: 27}, false, 0, recipeBudget, dtype.FP8, 0},
		{"prompts, told", "trtllm", "h200_sxm", Row{Precision: "fp8", Concurrency: 27, TokenBudget: 100}, false, 0, 0, dtype.FP8, 0},
		{"wide weights", "trtllm", "h200_sxm", Row{Precision: "bf16", Concurrency: 24}, true, 0, 0, dtype.None, 0},
		{"SGLang on Hopper", "sglang", "h200_sxm", Row{Precision: "fp8", Concurrency: 24}, true, 0, 0, dtype.None, heldNarrow},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, d := served(t, c.engine, c.system)
			workers := Workers{Count: 3, TP: 8, DP: 1}
			c.row.Prefill, c.row.Decode = workers, workers
			w := &c.row.Prefill
			if c.decodes {
				w = &c.row.Decode
			}
			got, q, p := *e, graph.Quant{}, Prepared{Row: &c.row}
			p.recipe(&got, &q, w, d)
			if c.sequences == 0 {
				c.sequences = e.MaxSequences
			}
			if c.budget == 0 {
				c.budget = e.TokenBudget
			}
			if got.MaxSequences != c.sequences || got.TokenBudget != c.budget || q.KV != c.kv || got.HeldTokens != c.held {
				t.Errorf("want %d sequences, %d tokens, %v and %d held, got %d, %d, %v and %d",
					c.sequences, c.budget, c.kv, c.held, got.MaxSequences, got.TokenBudget, q.KV, got.HeldTokens)
			}
			changed := got.MaxSequences != e.MaxSequences || got.TokenBudget != e.TokenBudget || q.KV != dtype.None || got.HeldTokens != e.HeldTokens
			if said := slices.ContainsFunc(p.assumed, func(s string) bool { return strings.HasPrefix(s, c.engine+" assumed to ") }); said != changed {
				t.Errorf("changed %v, said %q", changed, p.assumed)
			}
		})
	}
}

// TestStreams: SGLang's decode workers hold back their first tokens, those with
// data-parallel ranks on Blackwell more.
func TestStreams(t *testing.T) {
	for _, c := range []struct {
		engine, system string
		ranks, held    int
	}{
		{"sglang", "gb200", 32, heldWide},
		{"sglang", "gb200", 1, heldNarrow},
		{"sglang", "h200_sxm", 8, heldNarrow},
		{"trtllm", "gb200", 32, 0},
		{"vllm", "gb200", 8, 0},
	} {
		e, d := served(t, c.engine, c.system)
		got, p := *e, Prepared{Row: &Row{}}
		p.streams(&got, &Workers{Count: 1, TP: 1, DP: c.ranks}, d)
		if got.HeldTokens != c.held || (len(p.assumed) > 0) != (c.held > 0) {
			t.Errorf("%+v: %d held, said %q", c, got.HeldTokens, p.assumed)
		}
	}
}

// served is an engine and a system by name.
func served(t *testing.T, engineName, system string) (*engine.Profile, *device.Profile) {
	t.Helper()
	e, err := engine.LookupVersion(engineName, "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.Lookup(system)
	if err != nil {
		t.Fatal(err)
	}
	return e, d
}
