package search

import (
	"context"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// Bench simulates candidates and remembers their figures, whatever the limits: searches
// that differ in nothing else may share one. It is safe for concurrent use.
type Bench struct {
	// Build makes a candidate with all its copies ready to be simulated; a data-parallel
	// rank runs at most batch requests at a time.
	Build func(c Candidate, batch int) (Built, error)
	// Closed keeps a number of requests in flight, or of sessions under way; Open sends so many requests per second, those of
	// sessions among them.
	Closed func(concurrency int) sim.Client
	Open   func(rate float64) sim.Client
	// Input and Output are the mean lengths of requests, Prefix the tokens of a prompt
	// that are in the prefix cache. Varied says that requests differ.
	Input, Output, Prefix int
	Varied                bool
	// Sessions are those of the load; zero where requests come by themselves. Prefix is then what a cache that never evicts has.
	Sessions Sessions
	// Percentile of the times that runs are long enough for; 0 is their mean. Together are limits that requests are to meet all at once.
	Percentile float64
	Together   workload.Limits
	// Scale multiplies throughput; 0 is 1.
	Scale float64
	Seed  uint64

	mu      sync.Mutex
	trials  map[trialOf]*Trial
	workers map[workerOf]*worker
	refused map[Candidate]error // units that cannot be built, and why
}

// Built is a candidate ready to be simulated, without a client.
type Built struct {
	Config sim.Config
	Memory engine.Budget // of a device that generates
}

// Load is what comes to all copies of a candidate: so many requests in flight, or per
// second.
type Load struct {
	Requests int
	Rate     float64
}

// Trial is the figures of a simulated candidate.
type Trial struct {
	TTFT, TPOT, Latency sim.Summary
	Sampling            formulas.Sampling
	Stretch             float64 // as in [formulas.Outcome]
	Throughput          float64 // output tokens per second
	Input               float64 // mean tokens of a prompt
	InFlight            float64 // requests, on average
	KVPeak              float64 // share of the cache in use at most
	Served              float64 // share of the requests that came; below 1 more came than ended
	Preempted           bool    // requests were stopped and computed again
	Memory              engine.Budget
	Refused             bool // no request fits in the cache
	Overloaded          bool // requests come faster than they are served, or sessions than they end
	Slow                bool // TPOT surely misses a limit, so that the run was cut short; figures are not of a steady state
	swayed              bool // limits had a say in when the run ended
}

type trialOf struct {
	Candidate
	Load

	batch  int
	judged bool  // it is for a verdict
	long   bool  // it is of sessions, with the figures that a row shows
	judge  Judge // whose verdict; none of one with precise figures
}

// maxTrials bounds what a bench remembers: a few hundred bytes each.
const maxTrials = 1 << 13

// Run simulates a candidate under a load, once. Its ranks run at most batch requests at
// a time.
func (b *Bench) Run(ctx context.Context, c Candidate, l Load, batch int) (*Trial, error) {
	return b.trial(ctx, trialOf{Candidate: c, Load: l, batch: batch}, &sim.Steady{Percentile: b.Percentile})
}

// Within is Run for the sake of a verdict and of the throughput of what meets the limits: it ends as soon as TPOT surely misses
// one, and TTFT is no more precise than the verdict needs.
func (b *Bench) Within(ctx context.Context, c Candidate, l Load, batch int, j Judge, misses func(sim.Times) bool) (*Trial, error) {
	return b.trial(ctx, trialOf{c, l, batch, true, false, j}, &sim.Steady{Percentile: b.Percentile, Misses: misses})
}

// Decide is Run for the sake of a verdict: it ends as soon as that is clear. Where times are
// too near a limit to tell it takes less precise ones than a row shows: near capacity they
// grow much faster than the load, so that an error of twice [sim.DefaultSampling] in a time is a small
// part of a rung in the rate.
func (b *Bench) Decide(ctx context.Context, c Candidate, l Load, batch int, j Judge, misses func(sim.Times) bool) (*Trial, error) {
	const (
		coarse = 2 * sim.DefaultSampling
		enough = 3000 // requests
	)
	most := enough
	if b.Sessions.Turns > 0 {
		most *= 20 * c.times() // a session is many, and all that are under way have to be replaced
	}
	return b.trial(ctx, trialOf{c, l, batch, true, false, j}, &sim.Steady{Percentile: b.Percentile, Error: coarse, Misses: misses, Requests: most})
}

// Converse is Run for loads of sessions: it ends as soon as times clearly miss the limits. For long it goes on as a row does;
// otherwise it is no longer than needed to compare loads.
func (b *Bench) Converse(ctx context.Context, c Candidate, l Load, batch int, j Judge, misses func(sim.Times) bool, long bool) (*Trial, error) {
	rule := &sim.Steady{Percentile: b.Percentile, Misses: misses, Figures: true, Sessions: long}
	if !long {
		const few, each = 10_000, 16 // requests, and those of a session under way
		rule.Requests = max(few, max(each, int(b.Sessions.Turns))*l.Requests)
	}
	return b.trial(ctx, trialOf{c, l, batch, true, long, j}, rule)
}

func (b *Bench) trial(ctx context.Context, key trialOf, rule *sim.Steady) (*Trial, error) {
	b.mu.Lock()
	t, ok := b.trials[key]
	b.mu.Unlock()
	if ok {
		return t, nil
	}
	t, err := b.run(ctx, &key, rule)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.trials == nil || len(b.trials) >= maxTrials {
		b.trials = map[trialOf]*Trial{}
	}
	b.trials[key] = t
	if rule.Error == 0 && rule.Requests == 0 && !rule.Sessions && !t.swayed { // no run with precise figures would have ended otherwise
		b.trials[trialOf{Candidate: key.Candidate, Load: key.Load, batch: key.batch}] = t
	}
	return t, nil
}

func (b *Bench) run(ctx context.Context, of *trialOf, rule *sim.Steady) (*Trial, error) {
	built, err := b.Build(of.Candidate, of.batch)
	if err != nil {
		return nil, err
	}
	config := built.Config
	if of.Requests > 0 {
		config.Client = b.Closed(of.Requests)
	} else {
		config.Client = b.Open(of.Rate)
	}
	config.Seed, config.Percentile, config.Steady = b.Seed, b.Percentile, rule
	config.Limits, config.Together = b.Together, b.Together.Any()
	r, err := sim.Run(ctx, &config)
	if err != nil {
		return nil, err
	}
	out := &Trial{
		TTFT: r.TTFT, TPOT: r.TPOT, Latency: r.Latency, Throughput: b.scale() * r.OutputRate, KVPeak: r.KVPeak(),
		InFlight: r.InFlight.Mean, Overloaded: r.Sampling.Ended == sim.Overloaded || of.Rate > 0 && r.Sessions != nil && r.Sampling.Warmup == 0,
		Slow:   of.Requests > 0 && r.Sessions == nil && r.Sampling.Ended == sim.Decided && r.Sampling.Warmup == 0,
		Memory: built.Memory, Refused: r.Finished == 0, Preempted: r.Workers.Preemptions > 0,
		Sampling: formulas.Sampling{TTFT: r.Sampling.TTFT, TPOT: r.Sampling.TPOT, Latency: r.Sampling.Latency}, Stretch: r.Stretch,
		swayed: r.Sampling.Swayed,
	}
	if r.RequestRate > 0 {
		out.Input, out.Served = r.InputRate/r.RequestRate, r.RequestRate/r.Offered
	}
	if r.Decode != nil {
		out.Preempted = out.Preempted || r.Decode.Preemptions > 0
	}
	return out, nil
}

// outcome is a trial as rows show it, at a percentile, of so many times the copies that
// were simulated.
func (t *Trial) outcome(percentile float64, copies float64) formulas.Outcome {
	m := &t.Memory
	kv := units.InGiB(t.KVPeak) * m.KV
	o := formulas.Outcome{
		TTFT: t.TTFT.Percentile(percentile), TPOT: t.TPOT.Percentile(percentile), Latency: t.Latency.Percentile(percentile),
		Throughput: copies * t.Throughput, Sampling: t.Sampling, Stretch: t.Stretch,
		Use: memory.Use{
			Weights: units.Bytes(m.Weights), KV: units.Bytes(kv), Activation: units.Bytes(m.Activation),
			Reserved: units.Bytes(m.Memory - m.Weights - m.Activation - m.KV), Available: units.Bytes(m.KV - kv),
		},
	}
	if t.Refused {
		o.OOM = formulas.DecodePhase
	}
	return o
}
