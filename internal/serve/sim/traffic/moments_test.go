package traffic

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// TestMoments: lengths have the moments of what is drawn.
func TestMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loop := OpenLoop{Mix: Mix{
			{Share: 1, Input: Lengths{Tokens: rapid.IntRange(1, 60).Draw(t, "input"), Low: rapid.SampledFrom([]float64{0, 0.2, 0.8}).Draw(t, "input low")}, Output: Lengths{Tokens: 1}},
			{Share: 2, Like: []workload.Request{{Input: 3, Output: 1}, {Input: 40, Output: 1}}},
			{Share: 3, Session: &workload.Session{System: 7, Turns: 1, First: 20, User: 1, Output: 1, LengthLow: 0.5}},
			{Share: 1, Input: Lengths{Distribution: &workload.Distribution{Bins: []workload.Bin{{Min: 0, Max: 4, Weight: 1}, {Min: 10, Max: 30, Weight: 3}}}}, Output: Lengths{Tokens: 1}},
		}}
		const n = 20_000
		draw := loop.Mix.drawer(nil, nil, rapid.Uint64().Draw(t, "seed"), nil)
		mean, square := 0.0, 0.0
		for range n {
			var q server.Request
			draw(&q)
			mean += float64(q.Input) / n
			square += float64(q.Input) * float64(q.Input) / n
		}
		wantMean, wantSquare := loop.prompts()
		const sigmas = 6
		if e := math.Sqrt((square - mean*mean) / n); math.Abs(mean-wantMean) > sigmas*e || math.Abs(square/wantSquare-1) > 0.1 {
			t.Fatalf("mean %g, of squares %g; drawn %g ± %g, %g", wantMean, wantSquare, mean, e, square)
		}
	})
}
