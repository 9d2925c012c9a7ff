package sim

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// TestGapsAreTheTime: the gaps between the tokens of all requests are as many as tokens after the first, and together the
// time from first tokens to ends, whatever is preempted and computed again.
func TestGapsAreTheTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &Config{
			Client: anyClient(t), Workers: Pool{Replicas: rapid.IntRange(1, 3).Draw(t, "replicas"), Engine: anyEngine(t, ""), Stepper: anyStepper(t, "")},
			Seed: rapid.Uint64().Draw(t, "seed"), Records: true,
		}
		c.Workers.Engine.AcceptedPerStep = 1 // else several tokens come in a step
		r, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		count, sum := 0, units.Seconds(0)
		for _, q := range r.Records {
			if !q.Refused {
				count += q.Output - 1
				sum += q.Latency - q.TTFT
			}
		}
		if r.ITL.Count != count {
			t.Fatalf("%d gaps between %d tokens", r.ITL.Count, count)
		}
		if count > 0 {
			near(t, "mean gap", sum/units.Seconds(count), r.ITL.Mean)
		}
	})
}
