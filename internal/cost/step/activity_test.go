package step_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// work is what one step does, counted several times.
func work(c *step.Curve, s *graph.Sums) power.Activity {
	const times = 3
	t := c.Tally()
	t.Add(s, times-1)
	t.Add(s, 1)
	a := t.Activity()
	for k := range a {
		a[k] /= times
	}
	return a
}

// TestActivity: from sums comes the same work as from the operators of the step: up to
// rounding for up to 256 tokens. Beyond, work lies on lines between sixteen counts an octave,
// which are off where some experts have no tokens, and where ranks share tokens by up to one
// for each. TensorCast's experts, which jump with the batch, are anywhere.
func TestActivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := phases(t)
		e := p.evaluator(t)
		want := e.Evaluate(p.batch, false).Activity()
		a := step.NewCurve(e.Graph(), nil)
		s := sums(p.batch.Segments)
		got, within := work(a, s), 1e-9
		if tokens := s.Prefill.Tokens + s.Decode.Tokens; tokens > 256 {
			within = 5e-3 + float64(p.spec.Layout.Devices)/tokens
			if p.spec.JumpsWithBatch() {
				return
			}
		}
		for k := range got {
			if math.Abs(got[k]-want[k]) > within*want[k] {
				t.Fatalf("kind %d: want %g, got %g", k, want[k], got[k])
			}
		}
		if got[power.Memory] <= 0 || got[power.Wide]+got[power.FP8]+got[power.FP4] <= 0 {
			t.Fatalf("a step without work: %v", got)
		}
	})
}

// TestLargerBatchesWorkMore: a decode step of more requests moves, computes and sends
// at least as much. TensorCast's assumptions break this here and there.
func TestLargerBatchesWorkMore(t *testing.T) {
	_, byID := models()
	for _, id := range []string{"Qwen/Qwen3-32B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3.2", "Qwen/Qwen3.5-397B-A17B"} {
		for _, l := range []parallel.Layout{{Devices: 8, TP: 8}, {Devices: 8, TP: 1, DP: 8, EP: 8}} {
			if l.EP > 1 && !byID[id].HasExperts() {
				l.EP = 0
			}
			g, _ := gpu(t, graph.Spec{Model: byID[id], Layout: l}, "h200_sxm")
			a := step.NewCurve(g, nil)
			rapid.Check(t, func(t *rapid.T) {
				n, context := rapid.IntRange(1, 400).Draw(t, "requests"), rapid.IntRange(1, 20000).Draw(t, "context")
				few := work(a, sums([]graph.Segment{decode(n, 1, context)}))
				many := work(a, sums([]graph.Segment{decode(n+rapid.IntRange(1, 200).Draw(t, "more"), 1, context)}))
				for k := range few {
					if many[k] < few[k]*(1-1e-12) {
						t.Fatalf("%s, kind %d: %g, with more requests %g", id, k, few[k], many[k])
					}
				}
			})
		}
	}
}

// TestWorkAddsUp: steps counted together do what they do one by one, where their requests are
// about as long. Sparse attention reads at most so many tokens of a request: counted together,
// requests shorter than that are taken for their mean.
func TestWorkAddsUp(t *testing.T) {
	_, byID := models()
	for _, id := range []string{"Qwen/Qwen3-32B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3.2", "Qwen/Qwen3.5-397B-A17B"} {
		g, _ := gpu(t, graph.Spec{Model: byID[id], Layout: parallel.Layout{Devices: 8, TP: 8}}, "h200_sxm")
		c := step.NewCurve(g, nil)
		rapid.Check(t, func(t *rapid.T) {
			all := c.Tally()
			var want power.Activity
			for range rapid.IntRange(2, 20).Draw(t, "steps") {
				s := sums([]graph.Segment{
					decode(rapid.IntRange(1, 300).Draw(t, "requests"), 1, rapid.IntRange(500, 9000).Draw(t, "context")),
					chunk(rapid.IntRange(1, 4).Draw(t, "prompts"), rapid.IntRange(500, 9000).Draw(t, "tokens"), rapid.IntRange(0, 9000).Draw(t, "cached")),
				})
				all.Add(s, 2)
				one := work(c, s)
				want.Add(&one, 2)
			}
			for k, got := range all.Activity() {
				if math.Abs(got-want[k]) > 2e-3*want[k] {
					t.Fatalf("%s, kind %d: want %g, got %g", id, k, want[k], got)
				}
			}
		})
	}
}
