package ascend_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/compat/ascend"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// best of some results; a benchmark that finds nothing fails.
func best(b *testing.B, results []search.Result) *search.Result {
	b.Helper()
	r := slices.MaxFunc(results, func(x, y search.Result) int { return cmp.Compare(x.Best.Throughput, y.Best.Throughput) })
	if !r.OK {
		b.Fatal("no layout meets the limits")
	}
	return &r
}

// BenchmarkSearch runs examples of the Ascend guide on one worker.
func BenchmarkSearch(b *testing.B) {
	guide := func(model string) ascend.Formulas {
		p := stated(b, model, "TEST_DEVICE", graph.Actions{})
		p.Load.Accounting = formulas.Documented
		p.Load.Input, p.Load.Output, p.Load.Budget = 3500, 1500, 8192
		return p
	}
	b.Run("example=guide-first", func(b *testing.B) {
		p := guide("Qwen/Qwen3-32B")
		p.Judge.Limits.TPOT = ms(50)
		candidates := search.Space{}.Resolve(8).Enumerate(8, false)
		b.ReportAllocs()
		for b.Loop() {
			best(b, run(b, &p, candidates, 1, nil))
		}
	})
	b.Run("example=moe-3d", func(b *testing.B) {
		p := guide("Qwen/Qwen3-30B-A3B")
		p.Judge.Limits.TPOT = ms(50)
		candidates := search.Space{TP: all, EP: all, MoEDP: all}.Resolve(8).Enumerate(8, true)
		b.ReportAllocs()
		for b.Loop() {
			best(b, run(b, &p, candidates, 1, nil))
		}
	})
	b.Run("example=ds-ratio", func(b *testing.B) {
		prefill := guide("deepseek-ai/DeepSeek-V3.1")
		prefill.Mode, prefill.Judge.Limits.TTFT = search.PrefillOnly, ms(7000)
		decode := prefill
		decode.Mode, decode.Judge.Limits = search.DecodeOnly, workload.Limits{TPOT: ms(200)}
		candidates := search.Space{}.Resolve(16).Enumerate(16, true)
		b.ReportAllocs()
		for b.Loop() {
			x, y := best(b, run(b, &prefill, candidates, 1, nil)), best(b, run(b, &decode, candidates, 1, nil))
			if m := formulas.Match(x.Best, y.Best, &decode.Load); m.Ratio <= 0 {
				b.Fatal(m.Ratio)
			}
		}
	})
}
