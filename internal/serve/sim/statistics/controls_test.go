package statistics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// TestKnownWaits: queues wait on average as long as is known, within the error that is known.
func TestKnownWaits(t *testing.T) {
	t.Parallel()
	const n, rate, low, high = 400_000, 3, 200, 1000
	const values = high - low + 1
	const mean = (low + high) / 2
	c := NewControlVariates(rate, mean, mean*mean+(values*values-1)/12.0, 1)
	random := rand.New(rand.NewPCG(7, 1))
	now, sums := units.Seconds(0), [controlQueues]float64{}
	for range n {
		now += units.Seconds(random.ExpFloat64() / rate)
		c.Take(0, low+random.IntN(values), now)
		for i, w := range c.waits[0] {
			sums[i] += float64(w) / n
		}
	}
	for i, k := range c.known {
		if e := k.deviation / math.Sqrt(n); math.Abs(sums[i]-k.wait) > 4*e || e > k.wait/4 {
			t.Errorf("load %.3f: %.4f s, known %.4f ± %.4f", k.load, sums[i], k.wait, e)
		}
	}
}
