package search

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Bench simulates candidates and remembers their figures, whatever the limits: searches
// that differ in nothing else may share one. It is safe for concurrent use.
type Bench struct {
	// Build makes a candidate with all its copies ready to be simulated; a data-parallel
	// rank runs at most batch requests at a time.
	Build func(c Candidate, batch int) (Built, error)
	// Closed keeps a number of requests in flight, or of sessions under way; Open sends so many requests per second, those of
	// sessions among them.
	Closed func(concurrency int) traffic.Client
	Open   func(rate float64) traffic.Client
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
	runs    map[trialOf][]answered // the same, by what they are without their judge
	built   map[builtOf]Built
	running map[trialOf]chan struct{} // closed when the trial has ended
	workers map[workerOf]*worker
	refused map[Candidate]error // units that cannot be built, and why
}

// Built is a candidate ready to be simulated, without a client.
type Built struct {
	Config sim.Config
	Memory engine.Budget // of a device that generates
	// Meter adds meters to a simulation; nil is none.
	Meter func(*sim.Config) *replica.Meters
}

// Ran is a simulation that has ended, with its meters.
type Ran struct {
	Result *statistics.Result
	Meters *replica.Meters
}

// Load is what comes to all copies of a candidate: so many requests in flight, or per
// second.
type Load struct {
	Requests int
	Rate     float64
}

// Trial is the figures of a simulated candidate.
type Trial struct {
	figures.Figures         // at the bench's percentile
	Input           float64 // mean tokens of a prompt
	InFlight        float64 // requests, on average
	KVPeak          float64 // share of the cache in use at most
	Served          float64 // share of the requests that came; below 1 more came than ended
	Preempted       bool    // requests were stopped and computed again
	Memory          engine.Budget
	Refused         bool // no request fits in the cache
	Overloaded      bool // requests come faster than they are served, or sessions than they end
	Slow            bool // TPOT surely misses a limit, so that the run was cut short; figures are not of a steady state
	steady          bool // figures are of a steady state, be it for a short time
	swayed          bool // limits had a say in when the run ended
	fullest         int  // tokens of a step; 0 where more might have been in one
	ran             *Ran // a run at a rate that ended as one that is shown does
}

// Aim is what a trial is for.
type Aim struct {
	Precision
	// Judge whose limits decide when it may end, and Misses, which says whether times miss them; none for Shown.
	Judge  Judge
	Misses func(figures.Times) bool
}

// Precision is how precise the figures of a trial are.
type Precision int

// The precisions.
const (
	// Shown is that of rows, whatever the limits.
	Shown Precision = iota
	// Carried is that of rows for what meets the limits; the trial ends as soon as it is clear that it does not.
	Carried
	// Rough is no more than a verdict needs, and in closed loops a comparison of loads.
	Rough
	// Sketched is that of the points of a trade-off: as precise as rows, unless that takes very many requests.
	Sketched
)

type trialOf struct {
	Candidate
	Load

	batch     int
	precision Precision
	judge     Judge
}

// answered is a trial, and what its judge answered.
type answered struct {
	*Trial

	asked []asked
}

// asked is whether times miss the limits.
type asked struct {
	figures.Times

	misses bool
}

// mostAnswered bounds the trials that differ in their judges alone.
const mostAnswered = 8

// builtOf is a candidate whose ranks run at most batch requests at a time.
type builtOf struct {
	Candidate

	batch int
}

// maxBuilt bounds the candidates that are kept ready: those of the trials under way. A few kilobytes each.
const maxBuilt = 1 << 8

// build makes a candidate ready, once for the trials of all its loads.
func (b *Bench) build(c Candidate, batch int) (Built, error) {
	key := builtOf{c, batch}
	b.mu.Lock()
	out, ok := b.built[key]
	b.mu.Unlock()
	if ok {
		return out, nil
	}
	out, err := b.Build(c, batch)
	if err != nil {
		return out, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.built == nil || len(b.built) >= maxBuilt {
		b.built = map[builtOf]Built{}
	}
	b.built[key] = out
	return out, nil
}

// maxTrials bounds what a bench remembers: a few hundred bytes each, of those that may be shown some 20 KiB.
const maxTrials = 1 << 13

// Run simulates a candidate under a load, once. Its ranks run at most batch requests at
// a time.
func (b *Bench) Run(ctx context.Context, c Candidate, l Load, batch int, aim Aim) (*Trial, error) {
	if c.Budget > 0 {
		if t, err := b.sameSteps(ctx, c, l, batch, aim); t != nil || err != nil {
			return t, err
		}
	}
	key := trialOf{c, l, batch, aim.Precision, aim.Judge}
	for {
		if t := b.known(&key, aim.Misses); t != nil {
			return t, nil
		}
		wait := b.claim(key)
		if wait == nil {
			break
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer b.release(key)
	return b.once(ctx, &key, aim)
}

// claim reserves a trial for the caller, who must release it. If somebody else has it, claim returns a channel that is closed when it is released.
func (b *Bench) claim(key trialOf) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if wait := b.running[key]; wait != nil {
		return wait
	}
	if b.running == nil {
		b.running = map[trialOf]chan struct{}{}
	}
	b.running[key] = make(chan struct{})
	return nil
}

func (b *Bench) release(key trialOf) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.running[key])
	delete(b.running, key)
}

// sameSteps is the trial of a candidate with a token budget of its own if the engine's own budget leads to the same steps: no prompt was cut,
// none had to wait, and all tokens of a step fit into either budget. It is nil otherwise.
func (b *Bench) sameSteps(ctx context.Context, c Candidate, l Load, batch int, aim Aim) (*Trial, error) {
	own := c
	own.Budget = 0
	mine, err := b.build(c, batch)
	if err != nil {
		return nil, err
	}
	its, err := b.build(own, batch)
	if err != nil { // it may need more memory than the candidate
		return nil, nil //nolint:nilerr // the candidate itself is tried
	}
	m, i := &mine.Config.Workers.Engine, &its.Config.Workers.Engine
	if c.X > 0 || !b.roomFor(l, m) || !b.roomFor(l, i) || !onlyBudget(*m, i) {
		return nil, nil
	}
	t, err := b.Run(ctx, own, l, batch, aim)
	if err != nil || t.fullest == 0 || t.fullest > m.TokenBudget {
		return nil, err
	}
	out := *t
	out.ran = nil
	out.Memory, out.KVPeak = mine.Memory, math.Round(t.KVPeak*float64(i.Blocks))/float64(m.Blocks)
	return &out, nil
}

// roomFor reports whether a cache has room for all requests of a load to their end, and keeps nothing for later ones.
func (b *Bench) roomFor(l Load, e *server.Engine) bool {
	if l.Requests == 0 || b.Sessions.Turns > 0 || b.Prefix > 0 || b.Varied {
		return false
	}
	return e.Blocks/l.Requests >= (b.Input+b.Output)/e.BlockTokens+1
}

// onlyBudget reports whether two engines differ in their token budget and their blocks alone, and no rule asks for a share of the budget.
func onlyBudget(e server.Engine, other *server.Engine) bool {
	e.TokenBudget, e.Blocks = other.TokenBudget, other.Blocks
	return e == *other && e.Stages <= 1 && e.RankFill == 0 && e.BatchWaitRatio == 0
}

// once runs a trial, unless it has become known since the caller looked.
func (b *Bench) once(ctx context.Context, key *trialOf, aim Aim) (*Trial, error) {
	if t := b.known(key, aim.Misses); t != nil {
		return t, nil
	}
	var all []asked
	misses := aim.Misses
	if misses != nil {
		misses = func(t figures.Times) bool {
			out := aim.Misses(t)
			all = append(all, asked{t, out})
			return out
		}
	}
	t, err := b.run(ctx, key, b.rule(key, misses))
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.trials == nil || len(b.trials) >= maxTrials {
		b.trials, b.runs = map[trialOf]*Trial{}, map[trialOf][]answered{}
	}
	b.trials[*key] = t
	if same := key.unjudged(); misses != nil && len(b.runs[same]) < mostAnswered {
		b.runs[same] = append(b.runs[same], answered{t, all})
	}
	if key.Requests > 0 && b.Sessions.Turns == 0 && !t.swayed { // one that is shown would have ended at the same time
		b.trials[trialOf{Candidate: key.Candidate, Load: key.Load, batch: key.batch}] = t
	}
	return t, nil
}

// known is a trial that was done; nil for none. What a judge answers is all that a trial knows of the limits: where another judge
// answers the same, it is the same trial. But what it counted is of its own limits.
func (b *Bench) known(of *trialOf, misses func(figures.Times) bool) *Trial {
	b.mu.Lock()
	t, runs := b.trials[*of], b.runs[of.unjudged()]
	b.mu.Unlock()
	if t != nil || misses == nil {
		return t
	}
	for _, x := range runs {
		if slices.ContainsFunc(x.asked, func(a asked) bool { return misses(a.Times) != a.misses }) {
			continue
		}
		out := *x.Trial
		out.ran = nil
		return &out
	}
	return nil
}

// unjudged is a trial without its judge.
func (of *trialOf) unjudged() trialOf {
	out := *of
	out.judge = Judge{}
	return out
}

// rule is when a trial ends. That of an open loop for a verdict is less precise than a row where times are too near a limit to
// tell: near capacity they grow much faster than the load, so that an error of twice [statistics.DefaultSampling] in a time is a small part
// of a rung in the rate.
func (b *Bench) rule(of *trialOf, misses func(figures.Times) bool) *statistics.Steady {
	sessions := b.Sessions.Turns > 0
	out := &statistics.Steady{Percentile: b.Percentile, Misses: misses, Figures: of.precision == Carried || sessions, Sessions: sessions && of.precision == Carried}
	const (
		enough = 3000      // requests for a verdict
		more   = 20        // times as many of sessions
		often  = 8         // that all sessions under way are replaced, a quarter of it before the window: judged, most trials end long before
		most   = 2_000_000 // requests, however long sessions think: some ten seconds
		few    = 10_000    // requests to compare loads of sessions, or for a point of a trade-off
		each   = 16        // of a session under way, or of a client
		coarse = 2 * statistics.DefaultSampling
	)
	switch {
	case of.precision == Carried && of.Rate > 0 && sessions:
		out.Requests = max(statistics.DefaultSteadyRequests, int(min(most, often*b.generation(of))))
	case of.precision == Sketched, of.precision == Rough && of.Requests > 0 && sessions:
		out.Requests = max(few, max(each, int(b.Sessions.Turns))*of.Requests)
	case of.precision != Rough || of.Requests > 0:
	case sessions:
		out.Error, out.Requests, out.Figures = coarse, max(enough*more, int(min(most, often*b.generation(of)))), false
	default:
		out.Error, out.Requests = coarse, enough
	}
	return out
}

// generation is the requests of the sessions that are under way at a rate, if none of them waits.
func (b *Bench) generation(of *trialOf) float64 {
	x, err := b.bounds(&of.Candidate)
	if err != nil { // the trial says why
		return 0
	}
	return of.Rate * (x.alone() + float64(b.Sessions.Think)) * b.Sessions.Turns
}

func (b *Bench) run(ctx context.Context, of *trialOf, rule *statistics.Steady) (*Trial, error) {
	built, err := b.build(of.Candidate, of.batch)
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
	config.Limits, config.SLORatios = b.Together, b.Together.Any()
	var meters *replica.Meters
	if of.Rate > 0 && of.precision == Carried && built.Meter != nil && b.Sessions.Turns == 0 { // those of sessions are not shown
		config.Limits = of.judge.Limits
		if config.Decode != nil { // others may simulate the same candidate
			config.Decode = new(*config.Decode)
		}
		meters = built.Meter(&config)
	}
	r, err := sim.Run(ctx, &config)
	if err != nil {
		return nil, err
	}
	out := b.figures(of, &built, r)
	if meters != nil && !out.swayed {
		out.ran = &Ran{r, meters}
	}
	return out, nil
}

// figures are those of a simulation that has ended.
func (b *Bench) figures(of *trialOf, built *Built, r *statistics.Result) *Trial {
	out := &Trial{
		Figures: r.Figures(b.Percentile), KVPeak: r.KVPeak(), InFlight: r.InFlight.Mean,
		Overloaded: r.Sampling.Ended == statistics.Overloaded || of.Rate > 0 && r.Sessions != nil && r.Sampling.Warmup == 0,
		Slow:       of.Requests > 0 && r.Sessions == nil && r.Sampling.Ended == statistics.Decided && r.Sampling.Warmup == 0,
		Memory:     built.Memory, Refused: r.Finished == 0, Preempted: r.Workers.Preemptions > 0,
		steady: r.Sampling.Warmup > 0 && r.Sampling.Ended != statistics.Overloaded, swayed: r.Sampling.DecidedByLimits,
	}
	out.Throughput *= b.scale()
	if !r.Workers.Limited {
		out.fullest = r.Workers.MaxStepTokens
	}
	if r.RequestRate > 0 {
		out.Input, out.Served = r.InputRate/r.RequestRate, r.RequestRate/r.Offered
	}
	if r.Decode != nil {
		out.Preempted = out.Preempted || r.Decode.Preemptions > 0
	}
	return out
}

// outcome is a trial as rows show it, of so many times the copies that were simulated.
func (t *Trial) outcome(copies float64) figures.Outcome {
	m := &t.Memory
	kv := units.InGiB(t.KVPeak) * m.KV
	o := figures.Outcome{Figures: t.Figures, Use: memory.Use{
		Weights: units.Bytes(m.Weights), KV: units.Bytes(kv), Activation: units.Bytes(m.Activation),
		Reserved: units.Bytes(m.Memory - m.Weights - m.Activation - m.KV), Available: units.Bytes(m.KV - kv),
	}}
	o.Throughput *= copies
	if t.Refused {
		o.OOM = figures.Decode
	}
	return o
}
