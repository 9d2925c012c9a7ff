package search

import (
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// worker bounds what a worker can do, from the times of its steps. No simulation exceeds
// the bounds.
type worker struct {
	bench  *Bench
	pool   sim.Pool
	link   server.Link // of caches from workers for prefill
	ranks  int         // data-parallel, each with a batch of its own
	stages int
	room   float64 // tokens that caches have room for at most: those of a batch of one leave the most; 0 is no bound

	once  sync.Once
	known prompts

	mu     sync.Mutex
	times  map[int]float64 // of a token, by the batch of a rank
	shares map[int]float64 // of the worker's time that a request takes, likewise
}

type workerOf struct {
	layout  parallel.Layout
	prefill bool
	both    bool
	mtp     int
	drafter draft.Method
	budget  int
}

// prompts bounds how fast a worker computes prompts.
type prompts struct {
	alone float64 // seconds of one
	rate  float64 // of many, per second
}

// slack is how much faster than its bound a simulation may be: steps are taken to
// last as long as at the mean context, and their times are not quite linear in it. Without it, saturated closed
// loops of Qwen3-32B on H200 and L40S and of DeepSeek-R1 on GB200 come to 1.001 of the bounds at most.
const slack = 1.01

// workersOf are the workers of a candidate: for prefill, nil where the others do both,
// and those that generate.
func (b *Bench) workersOf(c *Candidate) (prefill, generates *worker, err error) {
	first := workerOf{layout: c.Prefill, prefill: true, mtp: c.MTP, drafter: c.Drafter}
	second := workerOf{layout: c.Layout, both: c.X == 0, mtp: c.MTP, drafter: c.Drafter, budget: c.Budget}
	b.mu.Lock()
	defer b.mu.Unlock()
	prefill, generates = b.workers[first], b.workers[second]
	if generates != nil && (c.X == 0 || prefill != nil) {
		return prefill, generates, nil
	}
	unit := c.Unit()
	unit.X, unit.Y = min(c.X, 1), 1
	if err := b.refused[unit]; err != nil {
		return nil, nil, err
	}
	if b.workers == nil {
		b.workers, b.refused = map[workerOf]*worker{}, map[Candidate]error{}
	}
	built, err := b.largest(unit)
	if err != nil {
		b.refused[unit] = err
		return nil, nil, err
	}
	small, err := b.Build(unit, 1)
	if err != nil {
		b.refused[unit] = err
		return nil, nil, err
	}
	config := built.Config
	if c.X == 0 {
		b.workers[second] = b.worker(&c.Layout, config.Workers, &small.Config.Workers, server.Link{})
		return nil, b.workers[second], nil
	}
	if prefill == nil {
		b.workers[first] = b.worker(&c.Prefill, config.Workers, &small.Config.Workers, server.Link{})
	}
	if generates == nil {
		b.workers[second] = b.worker(&c.Layout, *config.Decode, small.Config.Decode, config.Link)
	}
	return b.workers[first], b.workers[second], nil
}

// largest builds a candidate for the largest batch that leaves room for a cache: what
// engines prepare for a batch, such as captured graphs, makes steps faster, not slower.
func (b *Bench) largest(c Candidate) (Built, error) {
	for batch := DefaultBatch; ; batch /= 2 {
		built, err := b.Build(c, batch)
		if !errors.Is(err, replica.ErrNoCache) || batch == 1 {
			return built, err
		}
	}
}

// worker is one of a layout, with the same for small batches.
func (b *Bench) worker(l *parallel.Layout, p sim.Pool, small *sim.Pool, link server.Link) *worker {
	blocks := max(p.Engine.Blocks, small.Engine.Blocks) * max(1, p.Replicas)
	return &worker{
		bench: b, pool: p, link: link, ranks: max(1, l.DP), stages: max(1, l.PP), room: float64(blocks) * float64(p.Engine.BlockTokens),
		times: map[int]float64{}, shares: map[int]float64{},
	}
}

// token is the least time of a token at a batch per rank. A step is taken to last as long
// as at the mean context, and the batch to be spread over the stages of a pipeline.
func (w *worker) token(batch int) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	batch = max(1, batch/w.stages)
	t, ok := w.times[batch]
	if !ok {
		together := max(1, w.ranks/max(1, w.pool.Replicas)) // ranks of a dense model step alone
		n := batch * together
		context := w.context(n)
		t = math.Inf(1)
		for _, more := range fuller(n) {
			step := w.pool.Stepper.Step(server.Batch{Decode: more, DecodeContext: float64(n) * context, Sampled: n})
			t = min(t, float64(step)/math.Max(1, w.pool.Engine.AcceptedPerStep)/slack)
		}
		w.times[batch] = t
	}
	return t
}

// context is the least that attention reads for each of some requests: of what they share, as much as reading it again takes.
func (w *worker) context(requests int) float64 {
	out := float64(w.bench.Input) + w.bench.generated()/2
	if e := &w.pool.Engine; requests > 1 && e.PrefixCache && e.CachedReadRatio > 0 {
		out -= (1 - e.CachedReadRatio) * float64(min(w.bench.Prefix, w.bench.Input))
	}
	return out
}

// fuller are a number of rows and the next ones that fill tiles of products, which may take
// less time.
func fuller(rows int) []int {
	out := []int{rows}
	for _, tile := range [...]int{64, 128, 256} {
		if up := (rows + tile - 1) / tile * tile; up > out[len(out)-1] {
			out = append(out, up)
		}
	}
	return out
}

// share is the least time that a request takes of a worker that does both, with batches of
// a rank up to a size: that of the cheapest mix of steps that together compute its prompt
// and its tokens. Steps of a full batch without prompts, with a few and with many of their
// tokens, and steps of prompts alone are mixed; no others do more for their time, but those
// of a smaller batch where an engine captured graphs for no larger one.
func (w *worker) share(batch int) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.least(batch)
}

func (w *worker) least(batch int) float64 {
	t, ok := w.shares[batch]
	if !ok {
		if t = w.mix(batch); batch > 1 {
			t = min(t, w.least(power(batch-1)))
		}
		w.shares[batch] = t
	}
	return t
}

// mix is the time of the cheapest mix of steps of one batch.
func (w *worker) mix(batch int) float64 {
	e := &w.pool.Engine
	prompt, pairs := w.prompt()
	n := batch * max(1, w.ranks/max(1, w.pool.Replicas))
	context := w.context(n)
	step := func(decode, tokens int) mixed {
		requests := 0
		if tokens > 0 {
			requests = max(1, tokens/prompt)
		}
		part := float64(tokens) / float64(prompt)
		least := math.Inf(1)
		for _, more := range fuller(decode + tokens) {
			b := server.Batch{
				Decode: decode, DecodeContext: float64(decode) * context, PrefillRequests: requests, PrefillTokens: tokens,
				PrefillContext: int(part * float64(w.bench.Input-prompt)), PrefillPairs: part * pairs, Sampled: decode + requests,
			}
			if tokens > 0 {
				b.PrefillTokens = more - decode
			} else {
				b.Decode = more
			}
			_, next := w.pool.Through(b)
			least = min(least, float64(next))
		}
		return mixed{float64(decode), part, least}
	}
	const few = 512
	most := max(1, e.TokenBudget-n)
	all := []mixed{step(n, 0), step(n, min(few, most)), step(n, most), step(0, e.TokenBudget), step(0, min(prompt, e.TokenBudget))}
	return cheapest(all, w.bench.generated()/math.Max(1, e.AcceptedPerStep)) / slack / float64(max(1, w.pool.Replicas))
}

// mixed is a step that decodes so many requests and computes a part of a prompt.
type mixed struct{ decodes, prompts, time float64 }

// cheapest is the least time of steps that decode so often and compute one prompt in all:
// of one kind, or of two of which neither does too much.
func cheapest(all []mixed, decodes float64) float64 {
	best := math.Inf(1)
	for i, a := range all {
		if a.decodes > 0 && a.prompts > 0 {
			best = min(best, a.time*math.Max(decodes/a.decodes, 1/a.prompts))
		}
		for _, b := range all[i+1:] {
			det := a.decodes*b.prompts - b.decodes*a.prompts
			if det == 0 {
				continue
			}
			x, y := (decodes*b.prompts-b.decodes)/det, (a.decodes-decodes*a.prompts)/det
			if x >= 0 && y >= 0 {
				best = min(best, x*a.time+y*b.time)
			}
		}
	}
	return best
}

// prompt is the tokens of a prompt to compute, and their pairs with those before them.
func (w *worker) prompt() (tokens int, pairs float64) {
	e := &w.pool.Engine
	if x := &w.bench.Sessions; x.Turns > 0 && e.PrefixCache {
		return max(1, w.bench.Input-w.bench.Prefix), x.Pairs
	}
	cached := 0 // whole blocks of the prefix are found
	if e.PrefixCache && e.BlockTokens > 0 {
		cached = w.bench.Prefix / e.BlockTokens * e.BlockTokens
	}
	tokens = w.bench.Input - cached
	return tokens, float64(tokens) * (float64(cached) + float64(tokens+1)/2)
}

// generated is the tokens of an output that decode steps generate: the first comes
// with the prompt.
func (b *Bench) generated() float64 { return math.Max(1, float64(b.Output-1)) }

// prompts is the least time of a prompt, and the most prompts per second: in whole steps
// of any number, or in pieces, which may follow each other through the stages.
func (w *worker) prompts() prompts {
	w.once.Do(func() { w.known = w.bound() })
	return w.known
}

func (w *worker) bound() prompts {
	e := &w.pool.Engine
	tokens, _ := w.prompt()
	rate := 0.0
	step := func(prompts float64, requests int) float64 {
		least := math.Inf(1)
		for _, more := range fuller(int(math.Ceil(prompts * float64(tokens)))) {
			t, next := w.pool.Through(w.computing(prompts, requests, more))
			rate, least = max(rate, prompts/float64(next)), min(least, float64(t))
		}
		return least
	}
	alone := step(1, 1)
	const enough = 64 // prompts of a rank in a step; more gain nothing
	ranks := max(1, e.Ranks)
	for n := 2; n <= min(e.MaxSequences, enough*ranks) && n*tokens <= e.TokenBudget; {
		step(float64(n), n)
		if n++; n > enough { // as many on every rank
			n = (n + ranks - 1) / ranks * ranks
		}
	}
	if full := float64(e.TokenBudget) / float64(tokens); full < float64(enough*ranks) { // prompts and a piece of one
		step(full, max(1, int(full)))
	}
	return prompts{alone / slack / float64(w.stages), slack * rate * float64(max(1, w.pool.Replicas))}
}

// computing is a step with prompts of so many requests, and so many tokens.
func (w *worker) computing(prompts float64, requests, tokens int) server.Batch {
	each, pairs := w.prompt()
	return server.Batch{
		PrefillRequests: requests, PrefillTokens: tokens,
		PrefillContext: requests * (w.bench.Input - each), PrefillPairs: prompts * pairs, Sampled: requests,
	}
}

// PromptsPerStep is how many prompts each rank of a worker for prefill needs in a step to compute nearly as many per second as it
// can. Steps of one short prompt leave a device half idle; with more than needed, each prompt waits for the others of its step.
// Where prompts differ it is as many as fill a step: short ones go along with others.
func (b *Bench) PromptsPerStep(p *sim.Pool) int {
	w := &worker{bench: b, pool: *p}
	tokens, _ := w.prompt()
	ranks := max(1, p.Engine.Ranks)
	budget := p.Engine.TokenBudget / ranks
	if b.Varied {
		return max(1, (budget+tokens-1)/tokens)
	}
	rates := make([]float64, max(1, min(budget/tokens, p.Engine.MaxSequences/ranks)))
	for i := range rates {
		n := (i + 1) * ranks
		_, next := p.Through(w.computing(float64(n), n, n*tokens))
		rates[i] = float64(n) / float64(next)
	}
	const nearly = 0.97
	enough := nearly * slices.Max(rates)
	return 1 + max(0, slices.IndexFunc(rates, func(r float64) bool { return r >= enough }))
}

// bounds are those of a candidate, of one copy.
type bounds struct {
	*Bench

	prefill, generates *worker
	x, y               int
}

func (b *Bench) bounds(c *Candidate) (*bounds, error) {
	p, d, err := b.workersOf(c)
	if err != nil {
		return nil, err
	}
	return &bounds{b, p, d, c.X, max(1, c.Y)}, nil
}

// computes are the workers that compute prompts, and how many they are.
func (s *bounds) computes() (*worker, int) {
	if s.x > 0 {
		return s.prefill, s.x
	}
	return s.generates, s.y
}

// least is the smallest batch of a rank that generates when so many requests are dealt
// out.
func (s *bounds) least(requests int) int { return max(1, requests/(s.y*s.generates.ranks)) }

// throughput is the most output tokens per second with so many requests in flight, or sessions under way: by
// Little's law, and by the prompts that can be computed.
func (s *bounds) throughput(requests int) float64 {
	if requests == 0 {
		return 0
	}
	w, n := s.computes()
	rate := min(s.little(requests), float64(n)*w.prompts().rate)
	if s.x == 0 {
		rate = min(rate, float64(s.y)/s.share(requests))
	}
	if think := float64(s.Sessions.Think); think > 0 {
		rate = min(rate, float64(requests)/(s.alone()+think))
	}
	return s.scale() * rate * float64(s.Output)
}

// little is the most requests per second by Little's law: those in flight over the least
// time of one. Those that wait for their first token are not in the batch. Where steps of
// a batch are slow that no graph was captured for, a smaller one may carry more while the
// others wait.
func (s *bounds) little(requests int) float64 {
	w, n := s.computes()
	first, rate := s.ttft(), min(float64(n)*w.prompts().rate, float64(requests)/(s.tpot(requests)*s.generated()))
	decode := s.tpot(max(1, requests-int(math.Ceil(rate*first))))
	return max(float64(requests)/(decode*s.generated()+first), s.fewer(requests))
}

// decodes is the most requests per second that so many in the batches of workers that
// generate may bring, as far as their caches have room.
func (s *bounds) decodes(requests int) float64 {
	requests = min(requests, s.cached())
	if requests == 0 {
		return 0
	}
	return max(float64(requests)/(s.tpot(requests)*s.generated()), s.fewer(requests))
}

// fewer is the most requests per second of smaller batches.
func (s *bounds) fewer(requests int) float64 {
	rate := 0.0
	ranks := s.y * s.generates.ranks
	for batch := parallel.MaxPerRank(requests, ranks); batch > 1; {
		batch = power(batch - 1)
		rate = max(rate, float64(batch*ranks)/(s.generates.token(batch)*s.generated()))
	}
	return rate
}

// share is the least time that a request takes of a worker that does both.
func (s *bounds) share(requests int) float64 {
	return s.generates.share(parallel.MaxPerRank(min(requests, s.cached()), s.y*s.generates.ranks))
}

// latency is the least mean latency of requests: so many are in flight, and each takes its
// share of a worker.
func (s *bounds) latency(requests int) float64 {
	if s.x > 0 {
		return 0
	}
	return float64(requests) * s.share(requests) / float64(s.y)
}

func (b *Bench) scale() float64 {
	if b.Scale == 0 {
		return 1
	}
	return b.Scale
}

// alone is the least latency of a request.
func (s *bounds) alone() float64 { return s.ttft() + s.generated()*s.generates.token(1) }

// waiting is the most requests that may wait for their first token at workers for prefill,
// and so be in no batch, if none waits longer than a time on average.
func (s *bounds) waiting(longest units.Seconds) int {
	if s.x == 0 {
		return 0
	}
	const many = 1 << 30
	return int(min(many, math.Ceil(float64(s.x)*s.prefill.prompts().rate*float64(longest))))
}

// tpot is the least TPOT with so many requests in the batches.
func (s *bounds) tpot(requests int) float64 { return s.generates.token(s.least(requests)) }

// ttft is the least TTFT: that of a prompt alone.
func (s *bounds) ttft() float64 {
	w, _ := s.computes()
	return w.prompts().alone + s.around()
}

// around is what a first token waits for beside its prompt: the host, and where decode
// has workers of its own, the latency of the link and the tokens that are held back. How
// fast a cache travels depends on both layouts, so that its time is no bound.
func (s *bounds) around() float64 {
	w, _ := s.computes()
	e, d := &w.pool.Engine, s.generates
	out := float64(e.First+e.APIFixed) + float64(e.APIPerToken)*float64(s.Input)
	if s.x == 0 || d.link.Bandwidth == 0 {
		return out
	}
	return out + float64(d.link.Latency) + float64(d.pool.Engine.Held)*d.token(1)
}

// full is the batch of a rank, up to a largest, at which the caches of the workers that
// generate are full on average.
func (s *bounds) full(largest int) int {
	w := s.generates
	e := &w.pool.Engine
	if e.Blocks == 0 {
		return largest
	}
	context := s.Input + s.Output/2
	if e.Policy == server.InFlight { // keeps blocks from the start
		context = s.Input + s.Output
	}
	return min(max(1, s.holds(context)), largest)
}

// cached is the most requests in batches on average: each has its prompt and, over its time, half of its output in the cache.
// Varied lengths may be such that long outputs have short prompts.
func (s *bounds) cached() int {
	if s.generates.room == 0 || s.Varied {
		return math.MaxInt
	}
	tokens := float64(max(1, s.Input-s.Prefix)) + s.generated()/2
	return int(math.Ceil(slack * float64(s.y) * s.generates.room / tokens))
}

// holds is how many requests of a length the cache of a rank that generates has room for;
// 0 where it has no bound.
func (s *bounds) holds(tokens int) int {
	w := s.generates
	e := &w.pool.Engine
	if e.Blocks == 0 {
		return 0
	}
	return e.Blocks / max(1, (tokens+e.BlockTokens-1)/e.BlockTokens) * max(1, w.pool.Replicas) / w.ranks
}
