package sim

import (
	"errors"
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Config is one simulation.
type Config struct {
	Client traffic.Client
	// Workers take every request. With a Decode pool they compute prompts only.
	Workers Pool
	// Decode, if given, generates what the workers prefilled, and Link carries
	// the caches between them.
	Decode *Pool
	Link   server.Link

	// Steady, if not nil, asks for the steady state; without it the client's requests are all there is, from the first burst
	// to the last end, as in a benchmark.
	Steady *statistics.Steady

	Seed uint64
	// Limits define goodput.
	Limits workload.Limits
	// Percentile, if above 0, is reported beside the usual ones.
	Percentile float64
	// SLORatios asks for the percentile of how far requests are from their limits, all at once: Result.SLORatio.
	SLORatios bool
	// Progress, if not nil, is called now and then with the number of requests that have ended.
	Progress func(ended, requests int)
	// represents is the number of replicas that the only one represents; 0 means 1.
	represents int
	// Timeline asks for what replicas do over a minute.
	Timeline bool
	// single has every step taken by itself, and audit has the blocks of a replica counted one by one after each; for tests.
	single, audit bool
	// Records asks for one [statistics.Record] per request in the result.
	Records bool
}

// Pool is replicas of one kind.
type Pool struct {
	Replicas int // 0 means 1
	Routing  Routing
	Engine   server.Engine
	Stepper  server.Stepper
	// Meter, if not nil, sees every step once.
	Meter server.Meter
}

// Through is the time of a step of a batch, and how soon the step of another may follow: see [server.Engine.Through].
func (p *Pool) Through(b server.Batch) (took, next units.Seconds) {
	return p.Engine.Through(p.Stepper, b)
}

// MaxReplicas bounds a pool: as many replicas of one device as a plan may have devices.
const MaxReplicas = 1 << 15

func (p *Pool) check(name string) error {
	errs := []error{p.Engine.Check(name)}
	if p.Replicas < 0 || p.Replicas > MaxReplicas {
		errs = append(errs, fmt.Errorf("%s: replicas must be between 1 and %d, got %d", name, MaxReplicas, p.Replicas))
	}
	if p.Stepper == nil {
		errs = append(errs, errors.New(name+": no step model"))
	}
	if p.Routing < RoundRobin || p.Routing > SGLang {
		errs = append(errs, fmt.Errorf("%s: unknown %v", name, p.Routing))
	}
	return errors.Join(errs...)
}

// check reports all mistakes of a configuration.
func (c *Config) check() error {
	errs := []error{c.Workers.check("workers"), c.Steady.Check()}
	if !(c.Percentile >= 0 && c.Percentile < 100) {
		errs = append(errs, fmt.Errorf("percentile must be above 0 and below 100, got %g", c.Percentile))
	}
	if c.Client == nil {
		errs = append(errs, errors.New("no client given"))
	} else if err := c.Client.Check(); err != nil {
		errs = append(errs, fmt.Errorf("client: %w", err))
	}
	if c.Decode != nil {
		errs = append(errs, c.Decode.check("decode"))
		errs = append(errs, c.Link.Check())
	}
	return errors.Join(errs...)
}
