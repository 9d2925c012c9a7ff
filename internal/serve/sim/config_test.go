package sim

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

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
		"client: input: tokens must be between 1":   func(c *Config) { c.Client = traffic.ClosedLoop{Requests: 1, Concurrency: 1} },
		"concurrency must be at least 1":            func(c *Config) { c.Client = traffic.ClosedLoop{Requests: 1} },
		"client: input: invalid bin": func(c *Config) {
			l := closed(1)
			l.Input.Distribution = &workload.Distribution{Bins: []workload.Bin{{Min: 3, Max: 3, Weight: 1}}}
			c.Client = l
		},
		"rate must be positive":           func(c *Config) { c.Client = traffic.OpenLoop{} },
		"give a number of requests":       func(c *Config) { c.Client = traffic.OpenLoop{Rate: 1} },
		"gamma arrivals need a variation": func(c *Config) { c.Client = traffic.OpenLoop{Rate: 1, Process: traffic.Gamma} },
		"client: a trace must have":       func(c *Config) { c.Client = &traffic.Trace{} },
		"request 2 arrives before the previous one": func(c *Config) {
			c.Client = &traffic.Trace{Requests: []workload.Request{{Arrival: 2, Input: 1, Output: 1}, {Arrival: 1, Input: 1, Output: 1}}}
		},
		"contents must be numbered in order of appearance": func(c *Config) {
			c.Client = &traffic.Trace{Requests: []workload.Request{{Arrival: 0, Input: 1, Output: 1, Blocks: []uint32{1}}}}
		},
		"must give the tokens of a block": func(c *Config) {
			c.Client = &traffic.Trace{Requests: []workload.Request{{Arrival: 0, Input: 1, Output: 1, Blocks: []uint32{0}}}}
		},
		"one must be a multiple of the other": func(c *Config) {
			c.Client = &traffic.Trace{BlockTokens: 24, Requests: []workload.Request{{Arrival: 0, Input: 1, Output: 1, Blocks: []uint32{0}}}}
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
