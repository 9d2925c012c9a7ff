package traffic

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// Client determines which requests come and when: [ClosedLoop], [OpenLoop] or
// [*Trace].
type Client interface {
	// Check reports what is wrong with the settings.
	Check() error
	// load draws all requests beforehand.
	load(seed uint64) load
	// endless draws them one after the other, without end; a client whose requests have one does as load.
	endless(seed uint64) load
}

// ClosedLoop is a benchmark that keeps a number of requests in flight: each
// that ends is replaced by the next.
type ClosedLoop struct {
	Requests    int // in all
	Concurrency int // in flight, over the whole cluster
	Input       Lengths
	Output      Lengths
	Mix         Mix // in place of Input and Output
	// Prefix is the length of the common prefix of all prompts, which the workers have cached
	// from the start; every prompt is longer.
	Prefix int
	// Warmup requests, the first ones, are served but not counted. Zero counts
	// the burst at the start, as benchmarks with a separate warm-up do.
	Warmup int
	// Spread is the time over which the first requests start; zero is a burst.
	Spread units.Seconds
	// Think is how long a client takes from one answer to its next request.
	Think units.Seconds
}

// BenchmarkRequests are those of a public benchmark for each one in flight.
const BenchmarkRequests = 10

// Benchmark is the closed loop of public benchmarks.
func Benchmark(concurrency int, input, output Lengths) ClosedLoop {
	return ClosedLoop{Requests: BenchmarkRequests * concurrency, Concurrency: concurrency, Input: input, Output: output}
}

// OpenLoop is traffic that does not wait for answers.
type OpenLoop struct {
	Rate      float64 // requests per second
	Process   Process
	Variation float64 // Gamma: standard deviation of a gap over its mean; 1 is Poisson
	// It ends after so many requests, or so much time, whichever is first; zero
	// is no bound.
	Requests int
	Duration units.Seconds
	Input    Lengths
	Output   Lengths
	Mix      Mix // in place of Input and Output
	Prefix   int // as in a closed loop
	Warmup   int // the first requests, served but not counted
}

// maxRequests bounds a load.
const maxRequests = statistics.MaxRequests

// load is a client's requests, drawn beforehand or as they are sent.
type load struct {
	requests []server.Request
	// conversations are the sessions that requests are part of, nil without any; starts the places of their first requests.
	conversations *conversations
	starts        []int32
	// draw, of requests without end, gives a request its lengths; gap is the time to the next arrival, nil in a closed loop.
	draw   func(*server.Request)
	gap    func() units.Seconds
	warmup int
	// contents are those of each prompt, a number for every blockTokens; nil
	// where nothing is known to be shared.
	contents    [][]uint32
	blockTokens int
	replay      *replay // of a kind whose prompts are known, nil without one
	prefix      int     // tokens that all prompts begin with and caches have from the start
	// A closed loop starts window requests at the times they carry, and one more
	// think after each that ends. An open loop has no window.
	clients int
	think   units.Seconds
}

// Every subsystem draws from a stream of its own, so that drawing more of one
// thing leaves the others as they were.
const (
	inputStream uint64 = iota + 1
	outputStream
	arrivalStream
	kindStream
	sessionStream
)

func stream(seed, which uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, which)) }

// checkLengths reports what is wrong with the lengths of requests.
func checkLengths(input, output *Lengths, mix Mix) (errs []error) {
	if mix != nil {
		return []error{mix.Check()}
	}
	if err := input.Check(); err != nil {
		errs = append(errs, fmt.Errorf("input: %w", err))
	}
	if err := output.Check(); err != nil {
		errs = append(errs, fmt.Errorf("output: %w", err))
	}
	return errs
}

// checkPrefix reports a common beginning that is as long as a prompt.
func checkPrefix(prefix int, input *Lengths, mix Mix) error {
	n := input.Shortest()
	if mix != nil {
		n = mix.shortest()
	}
	if prefix > 0 && mix.recalls() {
		return fmt.Errorf("a common prefix of %d tokens excludes requests whose prompts are known", prefix)
	}
	if prefix < 0 || prefix > 0 && prefix >= n {
		return fmt.Errorf("a common prefix must be shorter than every prompt, of which the shortest has %d tokens, got %d", n, prefix)
	}
	return nil
}

// Check implements [Client].
func (c ClosedLoop) Check() error {
	errs := append(checkLengths(&c.Input, &c.Output, c.Mix), checkPrefix(c.Prefix, &c.Input, c.Mix))
	if c.Requests < 1 || c.Requests > maxRequests/c.Mix.turns() {
		errs = append(errs, fmt.Errorf("requests must be between 1 and %d, got %d", maxRequests/c.Mix.turns(), c.Requests))
	}
	if c.Concurrency < 1 {
		errs = append(errs, fmt.Errorf("concurrency must be at least 1, got %d", c.Concurrency))
	}
	if !server.Sound(c.Think) || !server.Sound(c.Spread) {
		errs = append(errs, errors.New("think time and spread must not be negative"))
	}
	return errors.Join(append(errs, checkWarmup(c.Warmup))...)
}

func (c ClosedLoop) load(seed uint64) load {
	window := min(c.Concurrency, c.Requests)
	l := load{
		requests: server.NewRequests(c.Requests), warmup: c.Warmup, clients: window, think: c.Think, prefix: c.Prefix,
	}
	l.replayKnown(c.Mix)
	draw := c.Mix.drawer(&c.Input, &c.Output, seed, l.replay)
	for i := range l.requests {
		draw(&l.requests[i])
		l.keepContents(&l.requests[i])
	}
	for i := range window {
		l.requests[i].Arrived = c.Spread * units.Seconds(i) / units.Seconds(window)
	}
	l.addTurns(c.Mix, seed)
	return l
}

// endless implements [Client].
func (c ClosedLoop) endless(seed uint64) load {
	l := load{clients: c.Concurrency, think: c.Think, prefix: c.Prefix, conversations: newConversations(c.Mix, seed)}
	l.replayKnown(c.Mix)
	l.draw = c.Mix.drawer(&c.Input, &c.Output, seed, l.replay)
	return l
}

// Check implements [Client].
func (o OpenLoop) Check() error {
	errs := append(checkLengths(&o.Input, &o.Output, o.Mix), checkPrefix(o.Prefix, &o.Input, o.Mix))
	if !(o.Rate > 0) || math.IsInf(o.Rate, 0) {
		errs = append(errs, fmt.Errorf("rate must be positive, got %g", o.Rate))
	}
	if o.Process < Poisson || o.Process > Constant {
		errs = append(errs, fmt.Errorf("unknown arrival %v", o.Process))
	}
	if o.Process == Gamma && !(o.Variation > 0 && o.Variation <= 1000) {
		errs = append(errs, fmt.Errorf("gamma arrivals need a variation above 0, got %g", o.Variation))
	}
	switch {
	case o.Requests < 0 || !server.Sound(o.Duration):
		errs = append(errs, errors.New("requests and duration must not be negative"))
	case o.Requests == 0 && o.Duration == 0:
		errs = append(errs, errors.New("give a number of requests or a duration"))
	case o.Requests > maxRequests/o.Mix.turns() || o.Requests == 0 && o.Rate*float64(o.Duration) > float64(maxRequests/2/o.Mix.turns()):
		errs = append(errs, fmt.Errorf("more than %d requests", maxRequests))
	}
	return errors.Join(append(errs, checkWarmup(o.Warmup))...)
}

func (o OpenLoop) load(seed uint64) load {
	limit := o.Requests
	if limit == 0 {
		limit = maxRequests
	}
	l := load{warmup: o.Warmup, prefix: o.Prefix}
	if o.Duration == 0 {
		l.requests = make([]server.Request, 0, limit)
	}
	gap := o.gaps(stream(seed, arrivalStream))
	l.replayKnown(o.Mix)
	draw := o.Mix.drawer(&o.Input, &o.Output, seed, l.replay)
	at := units.Seconds(0)
	for len(l.requests) < limit {
		at += gap()
		if o.Duration > 0 && at > o.Duration {
			break
		}
		l.requests = append(l.requests, server.Request{Arrived: at})
		draw(&l.requests[len(l.requests)-1])
		l.keepContents(&l.requests[len(l.requests)-1])
	}
	l.addTurns(o.Mix, seed)
	return l
}

// endless implements [Client].
func (o OpenLoop) endless(seed uint64) load {
	l := load{prefix: o.Prefix, gap: o.gaps(stream(seed, arrivalStream)), conversations: newConversations(o.Mix, seed)}
	l.replayKnown(o.Mix)
	l.draw = o.Mix.drawer(&o.Input, &o.Output, seed, l.replay)
	return l
}

func checkWarmup(n int) error {
	if n < 0 {
		return fmt.Errorf("warm-up must not be negative, got %d", n)
	}
	return nil
}

// Equal reports whether all requests have the same lengths.
func (c *ClosedLoop) Equal() bool {
	kinds := c.Mix
	if kinds == nil {
		kinds = Mix{{Input: c.Input, Output: c.Output}}
	}
	same := func(l *Lengths) bool { return l.Distribution == nil && (l.Low == 0 || l.Low == 1) }
	return len(kinds) == 1 && kinds[0].Like == nil && kinds[0].Session == nil && same(&kinds[0].Input) && same(&kinds[0].Output)
}
