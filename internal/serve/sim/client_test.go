package sim

import (
	"math"
	"strings"
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
		if err := o.check(); err != nil {
			t.Fatal(err)
		}
		l := o.load(7)
		sum, squares, last := 0.0, 0.0, units.Seconds(0)
		for _, q := range l.requests {
			gap := float64(q.arrived - last)
			last = q.arrived
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
		low, high, sum = min(low, q.input), max(high, q.input), sum+q.input
		if q.output != 200 {
			t.Fatalf("output %d", q.output)
		}
	}
	if low != 800 || high != 1000 || math.Abs(float64(sum)/5000-900) > 4 {
		t.Errorf("inputs from %d to %d, mean %g", low, high, float64(sum)/5000)
	}
	c.Output.Low = 0.5
	for i, q := range c.load(1).requests {
		if q.input != l.requests[i].input {
			t.Fatal("jitter of answers changed the prompts")
		}
	}
	c.Input.Distribution = &workload.Distribution{Bins: []workload.Bin{{Min: 10, Max: 20, Weight: 3}, {Min: 500, Max: 501, Weight: 1}}}
	long := 0
	for _, q := range c.load(1).requests {
		switch {
		case q.input == 500:
			long++
		case q.input < 10 || q.input >= 20:
			t.Fatalf("input %d", q.input)
		}
	}
	if long < 1150 || long > 1350 {
		t.Errorf("%d of 5000 are long; want a quarter", long)
	}
}

// TestRefusals: all mistakes are reported, each with its place.
func TestRefusals(t *testing.T) {
	fine := func() *Config {
		return &Config{Client: closed(4), Workers: Pool{Engine: vllm(), Stepper: h100()}}
	}
	for want, spoil := range map[string]func(*Config){
		"no client given":                           func(c *Config) { c.Client = nil },
		"workers: no step model":                    func(c *Config) { c.Workers.Stepper = nil },
		"workers: unknown policy 9":                 func(c *Config) { c.Workers.Engine.Policy = 9 },
		"workers: unknown routing 9":                func(c *Config) { c.Workers.Routing = 9 },
		"workers: token budget must be at least 1":  func(c *Config) { c.Workers.Engine.TokenBudget = 0 },
		"workers: reserve must be between 0 and 1":  func(c *Config) { c.Workers.Engine.Reserve = math.NaN() },
		"workers: accepted tokens per step must be": func(c *Config) { c.Workers.Engine.AcceptedPerStep = 0.5 },
		"workers: API times must not be negative":   func(c *Config) { c.Workers.Engine.First = -1 },
		"decode: max sequences must be at least 1":  func(c *Config) { c.Decode = &Pool{Stepper: h100()} },
		"link: bandwidth must be positive":          func(c *Config) { d := c.Workers; c.Decode, c.Link.BytesPerToken = &d, 1 },
		"client: input: tokens must be between 1":   func(c *Config) { c.Client = ClosedLoop{Requests: 1, Concurrency: 1} },
		"concurrency must be at least 1":            func(c *Config) { c.Client = ClosedLoop{Requests: 1} },
		"client: input: invalid bin": func(c *Config) {
			l := closed(1)
			l.Input.Distribution = &workload.Distribution{Bins: []workload.Bin{{Min: 3, Max: 3, Weight: 1}}}
			c.Client = l
		},
		"rate must be positive":           func(c *Config) { c.Client = OpenLoop{} },
		"give a number of requests":       func(c *Config) { c.Client = OpenLoop{Rate: 1} },
		"gamma arrivals need a variation": func(c *Config) { c.Client = OpenLoop{Rate: 1, Process: Gamma} },
		"client: a trace must have":       func(c *Config) { c.Client = &Trace{} },
		"request 2 arrives before the previous one": func(c *Config) {
			c.Client = &Trace{Requests: []workload.Request{{Arrival: 2, Input: 1, Output: 1}, {Arrival: 1, Input: 1, Output: 1}}}
		},
		"contents must be numbered in order of appearance": func(c *Config) {
			c.Client = &Trace{Requests: []workload.Request{{Arrival: 0, Input: 1, Output: 1, Blocks: []uint32{1}}}}
		},
		"must give the tokens of a block": func(c *Config) {
			c.Client = &Trace{Requests: []workload.Request{{Arrival: 0, Input: 1, Output: 1, Blocks: []uint32{0}}}}
		},
		"one must be a multiple of the other": func(c *Config) {
			c.Client = &Trace{BlockTokens: 24, Requests: []workload.Request{{Arrival: 0, Input: 1, Output: 1, Blocks: []uint32{0}}}}
			c.Workers.Engine.PrefixCache = true
		},
		"step model: 0 for 1 steps with 0 dec": func(c *Config) { c.Workers.Stepper = affine{} },
	} {
		c := fine()
		spoil(c)
		if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
