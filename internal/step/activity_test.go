package step_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/internal/graph"
	"plimsoll/internal/power"
	"plimsoll/internal/step"
)

// TestActivities: from sums comes the same work as from the operators of the step, and
// a larger batch never has less.
func TestActivities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := phases(t)
		e := p.evaluator(t)
		want := e.Evaluate(p.batch, false).Activity()
		a := step.NewActivities(e.Graph())
		got := a.Of(sums(p.batch.Segments))
		if again := a.Of(sums(p.batch.Segments)); again != got {
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
// at least as much.
func TestLargerBatchesWorkMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := phases(t)
		a := step.NewActivities(p.evaluator(t).Graph())
		n, context := rapid.IntRange(1, 400).Draw(t, "requests"), rapid.IntRange(1, 20000).Draw(t, "context")
		few := a.Of(sums([]graph.Segment{decode(n, 1, context)}))
		many := a.Of(sums([]graph.Segment{decode(n+rapid.IntRange(1, 200).Draw(t, "more"), 1, context)}))
		for k := range few {
			if many[k] < few[k]*(1-1e-12) {
				t.Fatalf("kind %d: %g, with more requests %g", k, few[k], many[k])
			}
		}
	})
}
