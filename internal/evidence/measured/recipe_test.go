package measured

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestDefaults: a row that says little is of lengths that differ a little, and a
// converted checkpoint's cache is in fp8, an original's in the model's own format.
func TestDefaults(t *testing.T) {
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
		out := Prepared{Row: r}
		parts, err := new(Predictor).parts(&out)
		if err != nil {
			t.Fatal(err)
		}
		asked := r.Deployment()
		d, err := asked.Resolve(parts)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Generates().Spec.Quant.KV; got != want {
			t.Errorf("%s: want a cache in %v, got %v", r.ID, want, got)
		}
		if r.LengthLow >= 1 || r.LengthLow < 0.8 || !slices.Contains(r.Defaulted, "length_ratio_low") {
			t.Errorf("%s: lengths from %g, defaults for %v", r.ID, r.LengthLow, r.Defaulted)
		}
	}
}

// TestRecipe: what a row of a disaggregated deployment leaves open is taken from
// published recipes, and what it says is left alone.
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
		{"given", "trtllm", "gb200", Row{Precision: "fp4", Concurrency: 27, MaxSequences: 9, KV: "bf16"}, true, 0, 0, dtype.None, 0},
		{"an engine that needs no limit", "sglang", "gb200", Row{Precision: "fp4", Concurrency: 27}, true, 0, 0, dtype.FP8, 10},
		{"prompts", "trtllm", "h200_sxm", Row{Precision: "fp8", Concurrency: 27}, false, 0, 16384, dtype.FP8, 0},
		{"prompts, given", "trtllm", "h200_sxm", Row{Precision: "fp8", Concurrency: 27, TokenBudget: 100}, false, 0, 0, dtype.FP8, 0},
		{"wide weights", "trtllm", "h200_sxm", Row{Precision: "bf16", Concurrency: 24}, true, 0, 0, dtype.None, 0},
		{"SGLang on Hopper", "sglang", "h200_sxm", Row{Precision: "fp8", Concurrency: 24}, true, 0, 0, dtype.None, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			workers := Workers{Count: 3, TP: 8, DP: 1, MoEEP: 1}
			c.row.Prefill, c.row.Decode = workers, workers
			own, _ := resolved(t, c.engine, c.system, &Row{Precision: c.row.Precision, KV: c.row.KV, TokenBudget: c.row.TokenBudget, MaxSequences: c.row.MaxSequences, Prefill: workers, Decode: workers}, false)
			got, said := resolved(t, c.engine, c.system, &c.row, true)
			i := 0
			if c.decodes {
				i = 1
			}
			e, was := got.Pools[i].Engine, own.Pools[i].Engine
			kv := got.Pools[i].Spec.Quant.KV
			if want := cmp.Or(c.sequences, was.MaxSequences); e.MaxSequences != want {
				t.Errorf("want %d sequences, got %d", want, e.MaxSequences)
			}
			if want := cmp.Or(c.budget, was.TokenBudget); e.TokenBudget != want {
				t.Errorf("want %d tokens, got %d", want, e.TokenBudget)
			}
			if want := cmp.Or(c.kv, own.Pools[i].Spec.Quant.KV); kv != want || e.HeldTokens != c.held {
				t.Errorf("want a cache in %v and %d held, got %v and %d", want, c.held, kv, e.HeldTokens)
			}
			if assumed := c.sequences+c.budget+c.held > 0 || c.kv != dtype.None; assumed && len(said) == 0 {
				t.Error("nothing is said to be assumed")
			}
		})
	}
}

// resolved is the deployment of a disaggregated row of DeepSeek-V3, with what
// recipes set or without, and what was assumed.
func resolved(t *testing.T, engineName, system string, row *Row, recipe bool) (*deployment.Resolved, []string) {
	t.Helper()
	row.Model, row.System, row.Engine, row.Mode = "deepseek-ai/DeepSeek-V3", system, engineName, disagg
	p, out := Predictor{}, Prepared{Row: row}
	parts, err := p.parts(&out)
	if err != nil {
		t.Fatal(err)
	}
	out.assumed = nil // the engine's version
	asked := row.Deployment()
	if recipe {
		out.recipe(&asked, parts)
	}
	r, err := asked.Resolve(parts)
	if err != nil {
		t.Fatal(err)
	}
	return r, out.assumed
}

// TestStreams: SGLang's decode workers hold back their first tokens, those with
// data-parallel ranks on Blackwell more.
func TestStreams(t *testing.T) {
	for _, c := range []struct {
		engine, system string
		ranks, held    int
	}{
		{"sglang", "gb200", 32, 50},
		{"sglang", "gb200", 1, 10},
		{"sglang", "h200_sxm", 8, 10},
		{"trtllm", "gb200", 32, 0},
	} {
		workers := Workers{Count: 1, TP: 1, DP: c.ranks, MoEEP: c.ranks}
		r, _ := resolved(t, c.engine, c.system, &Row{Precision: "fp4", Concurrency: 8, Prefill: workers, Decode: workers}, true)
		if got := r.Generates().Engine.HeldTokens; got != c.held {
			t.Errorf("%s on %s, %d ranks: want %d tokens held, got %d", c.engine, c.system, c.ranks, c.held, got)
		}
	}
}

// TestUnsaid: an aggregated row that gives no setting has those of published deployments, unless it would not run with
// them; one that gives any has the engine's defaults otherwise.
func TestUnsaid(t *testing.T) {
	for _, c := range []struct {
		name, engine, model, system string
		row                         Row
		budget                      int
		assumed                     bool
	}{
		{"nothing", "trtllm", "Qwen/Qwen3-32B", "b200_sxm", Row{}, 16384, true},
		{"a setting", "trtllm", "Qwen/Qwen3-32B", "b200_sxm", Row{MaxSequences: 64}, 8192, false},
		{"an engine without presets", "generic", "Qwen/Qwen3-32B", "b200_sxm", Row{}, 8192, false},
		{"no room", "sglang", "deepseek-ai/DeepSeek-V3", "b200_sxm", Row{Workers: Workers{Count: 1, TP: 4, DP: 1, MoEEP: 1}}, 0, false},
	} {
		c.row.Model, c.row.System, c.row.Engine, c.row.Mode, c.row.Input, c.row.Output, c.row.Acceptance = c.model, c.system, c.engine, aggregated, 1000, 100, -1
		if c.row.TP == 0 {
			c.row.Workers = Workers{Count: 1, TP: 2, DP: 1, MoEEP: 1}
		}
		p := Predictor{Prices: func(d *device.Profile) cost.Coster {
			m, _ := calibrated.New(d)
			return m
		}}
		got := p.Prepare(&c.row)
		if got.Err != nil {
			t.Errorf("%s: %v", c.name, got.Err)
			continue
		}
		if budget := got.deployment.Generates().Engine.TokenBudget; c.budget > 0 && budget != c.budget {
			t.Errorf("%s: want a budget of %d tokens, got %d", c.name, c.budget, budget)
		}
		if said := strings.Contains(strings.Join(got.assumed, "\n"), "(preset inferencex)"); said != c.assumed {
			t.Errorf("%s: assumed %q", c.name, got.assumed)
		}
	}
}
