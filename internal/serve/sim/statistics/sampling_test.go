package statistics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// TestMSER: what differs at the start is dropped, and nothing of a constant.
func TestMSER(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	values := make([]units.Seconds, 1000)
	for i := range values {
		values[i] = 1
	}
	if n := mser(values); n != 0 {
		t.Errorf("constant: %d groups dropped", n)
	}
	for i := range values {
		values[i] = units.Seconds(random.NormFloat64())
		if i < 250 {
			values[i] += 20 * units.Seconds(250-i) / 250
		}
	}
	if n := mserGroup * mser(values); n < 200 || n > 300 {
		t.Errorf("%d of 250 dropped", n)
	}
	for i := range values { // no end in sight
		values[i] = units.Seconds(i)
	}
	if tally := (&Tally{ttft: values}); warm(tally) {
		t.Error("a trend counts as warm")
	}
}

// TestSampled: the errors of independent values are those of theory, and values that are alike have larger ones.
func TestSampled(t *testing.T) {
	t.Parallel()
	const n = 100_000
	random := rand.New(rand.NewPCG(1, 1))
	values, alike := make([]units.Seconds, n), make([]units.Seconds, n)
	for i := range values {
		values[i] = units.Seconds(random.ExpFloat64())
		alike[i] = 10 + units.Seconds(random.NormFloat64())
		if i > 0 {
			alike[i] = 0.99*alike[i-1] + 0.1 + 0.1*units.Seconds(random.NormFloat64())
		}
	}
	var y Tally
	for _, x := range []struct {
		values     []units.Seconds
		percentile float64
		want       float64
	}{
		{values, 0, 1 / math.Sqrt(n)},
		// The variance of a quantile is p·(1−p)/n over the squared density, here 1−p.
		{values, 95, math.Sqrt(0.95/0.05/n) / math.Log(20)},
		// An autoregressive mean has a standard deviation of 0.1/(1 − 0.99)/√n.
		{alike, 0, 0.1 / 0.01 / math.Sqrt(n) / 10},
	} {
		if _, got := y.sampled(x.values, x.percentile); got < 0.6*x.want || got > 2*x.want {
			t.Errorf("p%g: error %g, want %g", x.percentile, got, x.want)
		}
	}
}
