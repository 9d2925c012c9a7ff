package step_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/internal/graph"
	"plimsoll/internal/parallel"
	"plimsoll/internal/power"
	"plimsoll/internal/step"
)

// TestActivity: from sums comes the same work as from the operators of the step, and
// a larger batch never has less.
func TestActivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := phases(t)
		e := p.evaluator(t)
		want := e.Evaluate(p.batch, false).Activity()
		a := step.NewCurve(e.Graph(), nil)
		got := a.Activity(sums(p.batch.Segments))
		if again := a.Activity(sums(p.batch.Segments)); again != got {
			t.Fatalf("%v, then %v", got, again)
		}
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-9*want[k] {
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
				few := a.Activity(sums([]graph.Segment{decode(n, 1, context)}))
				many := a.Activity(sums([]graph.Segment{decode(n+rapid.IntRange(1, 200).Draw(t, "more"), 1, context)}))
				for k := range few {
					if many[k] < few[k]*(1-1e-12) {
						t.Fatalf("%s, kind %d: %g, with more requests %g", id, k, few[k], many[k])
					}
				}
			})
		}
	}
}
