package search

import (
	"math"
	"sort"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// token bounds the time of a token from below, from a batch per rank on.
type token struct {
	batch int
	time  float64
}

// prompts bounds how fast a worker computes prompts.
type prompts struct {
	alone float64 // seconds of one
	rate  float64 // of many, per second
}

// slack is how much faster than its bound a simulation may be: steps are taken to
// last as long as at the mean context, and their times are not quite linear in it.
const slack = 1.03

// ranks are the data-parallel ranks of a worker, each with a batch of its own.
func (w *Worker) ranks() int { return max(1, w.Layout.DP) }

// token is the least time of a token of a decode worker at a batch per rank.
func (s *Units) token(d, batch int) float64 {
	all := s.tokens[d]
	i := sort.Search(len(all), func(i int) bool { return all[i].batch > batch })
	return all[i-1].time
}

// times bounds the tokens of a decode worker: each batch up to 64, then in steps of a
// sixty-fourth. A step is taken to last as long as at the mean context.
func (s *Units) times(w *Worker) []token {
	together := max(1, w.ranks()/max(1, w.Pool.Replicas)) // ranks of a dense model step alone
	context := float64(s.Input) + s.generated()/2
	var out []token
	for b := 1; b <= w.MaxBatch; b += max(1, b/64) {
		n := max(1, b*together/max(1, w.Pool.Engine.Stages)) // in each batch of a pipeline
		t := w.Pool.Stepper.Step(sim.Batch{Decode: n, DecodeContext: float64(n) * context, Sampled: n})
		out = append(out, token{b, float64(t) / math.Max(1, w.Pool.Engine.AcceptedPerStep) / slack})
	}
	return out
}

// full is the batch of a rank at which the cache of a decode worker is full on average.
func (s *Units) full(w *Worker) int {
	e := &w.Pool.Engine
	if e.Blocks == 0 {
		return w.MaxBatch
	}
	context := s.Input + s.Output/2
	if e.Policy == sim.InFlight { // keeps blocks from the start
		context = s.Input + s.Output
	}
	holds := e.Blocks / max(1, (context+e.BlockTokens-1)/e.BlockTokens) * max(1, w.Pool.Replicas)
	return min(max(1, holds/w.ranks()), w.MaxBatch)
}

// generated is the tokens of an output that decode steps generate: the first comes
// with the prompt.
func (s *Units) generated() float64 { return math.Max(1, float64(s.Output-1)) }

// limit is the most requests in flight in a copy of a unit that may meet the limits.
func (s *Units) limit(u Unit) int {
	d := &s.Decode[u.Decode]
	most := d.MaxBatch * u.Y * d.ranks()
	if s.Plausible == nil {
		return most
	}
	return sort.Search(most, func(i int) bool {
		n := i + 1
		tpot := s.token(u.Decode, s.least(u, n))
		return !s.Plausible(u, n, units.Seconds(s.ttft(u, n)), units.Seconds(tpot))
	})
}

// least is the smallest batch of a rank that decodes when so many requests are dealt
// out in a copy of a unit.
func (s *Units) least(u Unit, requests int) int {
	return max(1, requests/(u.Y*s.Decode[u.Decode].ranks()))
}

// ttft is the least TTFT, on average or at a percentile, with so many requests in
// flight in a copy of a unit. A benchmark sends them all at once, then one for each that
// ends: a request of that first burst waits for half of it on average.
func (s *Units) ttft(u Unit, requests int) float64 {
	p, n := s.own[u.Decode], u.Y
	if u.X > 0 {
		p, n = s.prompts[u.Prefill], u.X
	}
	burst := float64(requests) / (float64(n) * p.rate)
	if s.Percentile == 0 {
		return p.alone + max(0, burst/2-p.alone)/sim.BenchmarkRequests + s.around(u)
	}
	// The slowest are those of the burst, one for each in flight.
	place := 1 - sim.BenchmarkRequests*(1-s.Percentile/100)
	return max(p.alone, place*burst) + s.around(u)
}

// around is what a first token waits for beside its prompt: the host, and where decode
// has workers of its own, its cache on the link and the tokens that are held back.
func (s *Units) around(u Unit) float64 {
	w, d := &s.Decode[u.Decode], &s.Decode[u.Decode]
	if u.X > 0 {
		w = &s.Prefill[u.Prefill]
	}
	e := &w.Pool.Engine
	out := float64(e.First+e.APIFixed) + float64(e.APIPerToken)*float64(s.Input)
	if u.X == 0 || s.Link.Bandwidth == 0 {
		return out
	}
	bytes := float64(s.Link.BytesPerToken) * float64(s.Input)
	return out + float64(s.Link.Latency) + bytes/float64(s.Link.Bandwidth) + float64(d.Pool.Engine.Held)*s.token(u.Decode, 1)
}

// prompt is the least time of a prompt on a prefill worker, and the most prompts per
// second that it computes: in whole steps of any number, or in pieces.
func (s *Units) prompt(w *Worker) prompts {
	alone, rate := 0.0, 0.0
	e := &w.Pool.Engine
	cached := 0 // whole blocks of the prefix are found
	if e.PrefixCache && e.BlockTokens > 0 {
		cached = s.Prefix / e.BlockTokens * e.BlockTokens
	}
	tokens := s.Input - cached
	pairs := float64(tokens) * (float64(cached) + float64(tokens+1)/2)
	step := func(prompts float64, requests int) float64 {
		t, next := w.Pool.Through(sim.Batch{
			PrefillRequests: requests, PrefillTokens: int(math.Ceil(prompts * float64(tokens))),
			PrefillContext: requests * cached, PrefillPairs: prompts * pairs, Sampled: requests,
		})
		rate = max(rate, prompts/float64(next))
		return float64(t)
	}
	alone = step(1, 1)
	const enough = 64 // prompts in a step; more gain nothing
	for n := 2; n <= min(e.MaxSequences, enough) && n*tokens <= e.TokenBudget; n++ {
		step(float64(n), n)
	}
	if full := float64(e.TokenBudget) / float64(tokens); full < enough { // prompts and a piece of one
		step(full, max(1, int(full)))
	}
	return prompts{alone / slack, slack * rate * float64(max(1, w.Pool.Replicas))}
}

// Prepare bounds the workers. It need not be called; a search over workers that were
// bounded before, a copy of one that was prepared, begins with less work.
func (s *Units) Prepare() {
	if s.tokens != nil {
		return
	}
	for i := range s.Prefill {
		s.prompts = append(s.prompts, s.prompt(&s.Prefill[i]))
	}
	for i := range s.Decode {
		s.own = append(s.own, s.prompt(&s.Decode[i]))
		s.tokens = append(s.tokens, s.times(&s.Decode[i]))
	}
}

// bound is the most output tokens per second of all copies of a unit with so many
// requests in flight in each: by Little's law, and by the prompts it can compute.
func (s *Units) bound(u Unit, requests int) float64 {
	if requests == 0 {
		return 0
	}
	took := s.token(u.Decode, s.least(u, requests)) * s.generated()
	p, n := s.own[u.Decode], u.Y
	if u.X > 0 {
		p, n = s.prompts[u.Prefill], u.X
	}
	took += p.alone
	most := float64(n) * p.rate
	return min(most, float64(requests)/took) * float64(s.Output*u.Copies)
}
