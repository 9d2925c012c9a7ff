package traffic

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// TestArrivals: gaps have the mean and the variation asked for.
func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		process   Process
		variation float64 // asked
		want      float64
	}{{Poisson, 0, 1}, {Constant, 0, 0}, {Gamma, 1, 1}, {Gamma, 0.3, 0.3}, {Gamma, 2.5, 2.5}} {
		o := OpenLoop{
			Rate: 20, Process: c.process, Variation: c.variation, Requests: 200_000,
			Input: Lengths{Tokens: 1}, Output: Lengths{Tokens: 1},
		}
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		l := o.load(7)
		sum, squares, last := 0.0, 0.0, units.Seconds(0)
		for _, q := range l.requests {
			gap := float64(q.Arrived - last)
			last = q.Arrived
			sum += gap
			squares += gap * gap
		}
		n := float64(len(l.requests))
		mean := sum / n
		variation := math.Sqrt(max(0, squares/n-mean*mean)) / mean
		// Four standard errors of the mean; the variation has heavier tails.
		if math.Abs(mean*20-1) > 4*c.want/math.Sqrt(n)+1e-9 || math.Abs(variation-c.want) > 0.02*max(1, c.want*c.want) {
			t.Errorf("%v, variation %g: mean gap %g, variation %g", c.process, c.variation, mean, variation)
		}
	}
}

func TestOpenLoopEnds(t *testing.T) {
	o := OpenLoop{Rate: 10, Process: Constant, Duration: 2.05, Input: Lengths{Tokens: 1}, Output: Lengths{Tokens: 1}}
	if n := len(o.load(0).requests); n != 20 {
		t.Errorf("by time: want 20 requests, got %d", n)
	}
	o.Requests = 5
	if n := len(o.load(0).requests); n != 5 {
		t.Errorf("by number: want 5 requests, got %d", n)
	}
}

// TestLengths: lengths keep to their range, and more of one thing leaves the
// others as they were.
func TestLengths(t *testing.T) {
	c := ClosedLoop{
		Requests: 5000, Concurrency: 10, Output: Lengths{Tokens: 200},
		Input: Lengths{Tokens: 1000, Low: 0.8},
	}
	l := c.load(1)
	low, high, sum := math.MaxInt, 0, 0
	for _, q := range l.requests {
		low, high, sum = min(low, q.Input), max(high, q.Input), sum+q.Input
		if q.Output != 200 {
			t.Fatalf("output %d", q.Output)
		}
	}
	if low != 800 || high != 1000 || math.Abs(float64(sum)/5000-900) > 4 {
		t.Errorf("inputs from %d to %d, mean %g", low, high, float64(sum)/5000)
	}
	c.Output.Low = 0.5
	for i, q := range c.load(1).requests {
		if q.Input != l.requests[i].Input {
			t.Fatal("jitter of answers changed the prompts")
		}
	}
	c.Input.Distribution = &workload.Distribution{Bins: []workload.Bin{{Min: 10, Max: 20, Weight: 3}, {Min: 500, Max: 501, Weight: 1}}}
	long := 0
	for _, q := range c.load(1).requests {
		switch {
		case q.Input == 500:
			long++
		case q.Input < 10 || q.Input >= 20:
			t.Fatalf("input %d", q.Input)
		}
	}
	if long < 1150 || long > 1350 {
		t.Errorf("%d of 5000 are long; want a quarter", long)
	}
}
