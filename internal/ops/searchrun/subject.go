package searchrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Seed is that of all simulations of a search.
const Seed = 1

// Subject is what all candidates of a search have in common. It is safe for concurrent
// use.
type Subject struct {
	Shape

	World *session.Session
	Stage *session.Stage
	// Lengths are those of the requests; how they come is not given.
	Lengths simulate.Traffic
	// Statistic that limits apply to, and those that requests are to meet together.
	Statistic workload.Statistic
	Together  workload.Limits
	Scale     float64 // of throughput; 0 is 1

	mu      sync.Mutex
	alone   map[alone]*deployment.Resolved
	errors  map[expected]*calibration.Expected
	prompts sync.Map // of layouts, their batches of prompts; asked for while mu is held
}

// Shape is what deployments of all candidates have in common.
type Shape struct {
	// Asked is the deployment; of its pools, one or two, the layouts are missing.
	Asked deployment.Deployment
	// PrefillBatch is the batch limit of workers for prefill.
	PrefillBatch    int
	AcceptanceRates []float64
	// Captured is what the engine captures for many sequences, by system.
	Captured []session.Captured
	// Cuts says that the engine cuts prompts where it has a prefix cache, Shares that prompts have something in common: workers have one only then.
	Cuts, Shares bool
	// Whole is the least token budget with which the engine takes the longest prompt; 0 = any.
	Whole int
}

// NewShape is that of deployments on a stage.
func NewShape(st *session.Stage, asked deployment.Deployment, shares bool) Shape {
	return Shape{Asked: asked, Captured: st.Captured(), Cuts: st.Engine.CutsFor(st.Model), Shares: shares}
}

// Whole is the budget of [Shape.Whole]: an engine that computes prompts whole refuses one above its
// own. It is a power of two with room for the prompt and a chat template; 0 where the engine's own has
// room, or another one is given.
func Whole(st *session.Stage, asked *deployment.Deployment, prompt int) int {
	e, first := st.Engine, &asked.Pools[0]
	need := min(prompt+launch.ChatTemplate, max(prompt, st.Model.Context()))
	if e == nil || e.ChunkedPrefill || e.TokenBudget >= need || asked.Gives(first, "token_budget") || asked.Gives(first, "chunked_prefill") {
		return 0
	}
	budget := 1
	for budget < need {
		budget *= 2
	}
	return budget
}

// alone is a worker that generates, by itself or beside others for prefill, whose layout
// no error depends on.
type alone struct {
	layout        parallel.Layout
	disaggregated bool
	mtp           int
	drafter       draft.Method
}

type expected struct {
	alone

	// devices of a replica, and requests in flight: the most with the same errors
	devices, requests, input int
	full                     bool // caches
}

// Deployment is a candidate whose ranks run at most batch requests at a time. An engine
// that captures few graphs for few sequences, and would launch prompts kernel by kernel, is
// told to capture what it does for many; one that would launch the largest batches kernel by
// kernel, to capture graphs for them.
func (s *Shape) Deployment(c search.Candidate, batch int) deployment.Deployment {
	d := s.Asked
	d.Pools = slices.Clone(d.Pools)
	copies := max(1, c.Copies)
	if c.X > 0 {
		s.set(&d, 0, copies*c.X, c.Prefill, Settings{Batch: s.PrefillBatch, Budget: s.Whole}, &c)
	}
	own := Settings{Batch: batch, Budget: c.Budget}
	if c.X == 0 {
		own.Budget = cmp.Or(own.Budget, s.Whole)
	}
	s.set(&d, len(d.Pools)-1, copies*max(1, c.Y), c.Layout, own, &c)
	return d
}

func (s *Shape) set(d *deployment.Deployment, i, replicas int, l parallel.Layout, of Settings, c *search.Candidate) {
	p := &d.Pools[i]
	p.Replicas, p.Layout, p.MTP, p.Drafter, p.AcceptanceRates = replicas, l, c.MTP, c.Drafter, s.AcceptanceRates
	captured := engine.Graph{}
	if i := slices.IndexFunc(s.Captured, func(x session.Captured) bool { return x.System == p.System }); i >= 0 {
		captured = s.Captured[i].Of(&p.Layout)
	}
	of.Uncached = s.Cuts && (!s.Shares || p.Role == deployment.Decode)
	p.Settings = append(of.Of(d, p, captured), p.Settings...)
}

// Settings are those of the engine that a candidate decides about.
type Settings struct {
	Batch  int // the limit of a data-parallel rank
	Budget int // most tokens of a step; 0 is the engine's own
	// Uncached says that there is no prefix cache.
	Uncached bool
}

// Of are the settings of a pool, but for those that are given.
func (x Settings) Of(d *deployment.Deployment, p *deployment.Pool, captured engine.Graph) []string {
	var out []string
	set := func(key string, value any) {
		if !d.Gives(p, key) {
			out = append(out, fmt.Sprintf("%s=%v", key, value))
		}
	}
	set("max_sequences", x.Batch)
	if x.Budget > 0 {
		set("token_budget", x.Budget)
	}
	if x.Uncached {
		set("prefix_caching", false)
	}
	switch n := captured.PerSequence; {
	case n > 0 && n*x.Batch < captured.MaxBatch:
		set("graph.max_batch", captured.MaxBatch)
	case captured.MaxBatch > 0 && x.Batch > captured.MaxBatch && p.Role != deployment.Prefill:
		set("graph.max_batch", captured.For(x.Batch))
	}
	return out
}

// Bench simulates the candidates.
func (s *Subject) Bench() *search.Bench {
	return &search.Bench{
		Build: func(c search.Candidate, batch int) (search.Built, error) {
			d := s.Deployment(c, batch)
			_, f, err := s.Stage.Fleet(&d)
			if err != nil {
				return search.Built{}, err
			}
			return search.Built{Config: f.Config(nil), Memory: f.Generates().Memory, Meter: f.Meter}, nil
		},
		Closed: func(n int) traffic.Client { return s.client(simulate.Traffic{Concurrency: n}) },
		Open: func(rate float64) traffic.Client {
			return s.client(simulate.Traffic{Rate: rate / s.Stage.Kinds.Turns()})
		},
		Input: s.input(), Output: s.output(), Prefix: s.prefix(), Sessions: s.Sessions(), Varied: s.varied(), Scale: s.Scale,
		Percentile: s.Statistic.At(), Together: s.Together, Seed: Seed,
	}
}

// Sessions is what a search knows of those in the load.
func (s *Subject) Sessions() search.Sessions {
	if s.Stage.Kinds == nil || s.Stage.Kinds.Sessions == nil {
		return search.Sessions{}
	}
	x := s.Stage.Kinds.Sessions
	routing, _ := sim.RoutingNamed(s.Asked.Routing) // a wrong one is refused with the first deployment
	return search.Sessions{Turns: x.Turns, Think: x.Think, Pairs: x.Pairs, Routing: routing}
}

// prefix is the tokens of a prompt that are cached at best.
func (s *Subject) prefix() int {
	if k := s.Stage.Kinds; k != nil && k.Sessions != nil {
		return int(math.Ceil(k.Sessions.Cached))
	}
	return s.Lengths.Prefix
}

// Deployment is [Shape.Deployment], with the batch of the layout for prefill where no limit is given.
func (s *Subject) Deployment(c search.Candidate, batch int) deployment.Deployment {
	shape := s.Shape
	if c.X > 0 {
		shape.PrefillBatch = s.Prompts(c.Prefill)
	}
	return shape.Deployment(c, batch)
}

// Prompts is how many prompts a worker for prefill with a layout takes at a time: the limit that is given, or as many as its steps need,
// in as many batches as a pipeline has stages, which otherwise wait for each other.
func (s *Subject) Prompts(l parallel.Layout) int {
	if s.PrefillBatch > 0 {
		return s.PrefillBatch
	}
	n, ok := s.prompts.Load(l)
	if !ok {
		n, _ = s.prompts.LoadOrStore(l, s.promptsAtATime(l))
	}
	return n.(int) //nolint:forcetypeassert // nothing else is stored
}

func (s *Subject) promptsAtATime(l parallel.Layout) int {
	d := s.Asked
	p := d.Pools[0]
	p.Role, p.Layout = deployment.Both, l
	if s.Whole > 0 {
		p.Settings = append([]string{fmt.Sprintf("token_budget=%d", s.Whole)}, p.Settings...)
	}
	d.Pools = []deployment.Pool{p}
	resolved, f, err := s.Stage.Fleet(&d)
	if err != nil {
		return 1 // the layout does not run, and what checks it says why
	}
	e := resolved.Generates().Engine
	if d.Gives(&p, "max_sequences") {
		return e.MaxSequences
	}
	pool := f.Config(nil).Workers
	n := s.Bench().PromptsPerStep(&pool)
	if e.Policy == engine.InFlight { // as many in each batch of a pipeline
		return n
	}
	return n * max(1, l.PP)
}

// client sends requests of the subject's lengths.
func (s *Subject) client(how simulate.Traffic) traffic.Client {
	c, err := simulate.Client(s.World, s.Stage, new(s.traffic(how)))
	if err != nil {
		panic("searchrun: lengths without a file cannot fail: " + err.Error())
	}
	return c
}

// traffic is requests of the subject's lengths that come in some way.
func (s *Subject) traffic(how simulate.Traffic) simulate.Traffic {
	out := s.Lengths
	out.Concurrency, out.Rate = how.Concurrency, how.Rate
	if out.Rate == 0 {
		out.Process, out.Variation = traffic.Poisson, 0
	}
	return out
}

// input and output are the mean lengths.
func (s *Subject) input() int {
	switch l := &s.Lengths; {
	case s.Stage.Kinds != nil:
		return s.Stage.Kinds.Input
	case l.InputLengths != nil:
		return l.InputLengths.MeanEffective(0)
	default:
		return mean(l.Input, l.LengthLow)
	}
}

// Prompt is the length of the longest prompt.
func (s *Subject) Prompt() int {
	switch l := &s.Lengths; {
	case s.Stage.Kinds != nil:
		return s.Stage.Kinds.Prompt
	case l.InputLengths != nil:
		return session.Longest(l.InputLengths)
	default:
		return l.Input
	}
}

func (s *Subject) output() int {
	switch l := &s.Lengths; {
	case s.Stage.Kinds != nil:
		return s.Stage.Kinds.Output
	case l.OutputLengths != nil:
		return l.OutputLengths.MeanEffective(0)
	default:
		return mean(l.Output, l.LengthLow)
	}
}

// mean is the mean of lengths that are uniform from a share to the whole.
func mean(tokens int, low float64) int {
	if low == 0 {
		return tokens
	}
	return max(1, int(math.Round(float64(tokens)*(1+low)/2)))
}

// longest is the length of prompts that errors go by, as those of a simulation do: the
// longest where lengths are uniform, else the mean.
func (s *Subject) longest() int {
	if s.Stage.Kinds == nil && s.Lengths.InputLengths == nil {
		return s.Lengths.Input
	}
	return s.input()
}

// varied says that requests differ.
func (s *Subject) varied() bool {
	l := &s.Lengths
	return s.Stage.Kinds != nil || l.InputLengths != nil || l.OutputLengths != nil || l.LengthLow != 0 && l.LengthLow != 1
}

// Errors are those to expect of the figures of one copy of a candidate.
func (s *Subject) Errors(c *search.Candidate, requests int, t *search.Trial) search.Errors {
	return s.Expect(c, requests, t)
}

// Expect is Errors as the calibration has them.
func (s *Subject) Expect(c *search.Candidate, requests int, t *search.Trial) *calibration.Expected {
	l := c.Layout.Complete(s.Stage.Model)
	var one calibration.Case
	one.On(l.Devices, parallel.MaxPerRank(requests, max(1, c.Y)), l.DP, s.Stage.Model.HasExperts())
	key := expected{
		alone:   alone{c.Layout, c.X > 0, c.MTP, c.Drafter},
		devices: one.Devices, requests: s.Stage.Overlay.Alike(one.Concurrency), input: s.longest(), full: calibration.Full(t.KVPeak),
	}
	if s.Stage.Kinds != nil && t.Input > 0 {
		key.input = int(math.Round(t.Input))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.errors[key]; ok {
		return sampled(known, t)
	}
	out := s.expect(c, &key)
	const most = 1 << 14 // a hundred bytes each
	if s.errors == nil || len(s.errors) >= most {
		s.errors = map[expected]*calibration.Expected{}
	}
	s.errors[key] = out
	return sampled(out, t)
}

// ExpectOf is Expect of an outcome.
func (s *Subject) ExpectOf(c *search.Candidate, requests int, o *figures.Outcome) *calibration.Expected {
	t := search.Trial{Figures: o.Figures}
	if kv := o.Use.KV + o.Use.Available; kv > 0 {
		t.KVPeak = float64(o.Use.KV / kv)
	}
	return s.Expect(c, requests, &t)
}

// sampled adds the sampling errors of a trial.
func sampled(e *calibration.Expected, t *search.Trial) *calibration.Expected {
	if t.Sampling != (figures.Sampling{}) {
		return new(e.Sampled(t.Sampling))
	}
	return e
}

func (s *Subject) expect(c *search.Candidate, key *expected) *calibration.Expected {
	r := s.resolved(c, &key.alone)
	if r == nil {
		return &calibration.Expected{} // its layout is refused
	}
	serves := r.Generates()
	about := session.About(&serves.Spec, s.Stage.Device, r.Pricing, s.Stage.Prices.Tier(s.Stage.Device, r.Pricing))
	about.Subject = calibration.SubjectOfDeployment(r)
	about.Disaggregated, about.Input = c.X > 0, key.input
	if key.full {
		about.KVPeak = 1
	}
	about.Devices, about.Concurrency = key.devices, key.requests
	return new(s.Stage.Overlay.Expect(&about).At(s.Statistic.At()))
}

// resolved is a unit with one worker of each role, whose errors are those of any number.
func (s *Subject) resolved(c *search.Candidate, key *alone) *deployment.Resolved {
	r, ok := s.alone[*key]
	if !ok {
		one := c.Unit()
		one.X, one.Y = min(c.X, 1), 1
		d := s.Deployment(one, 1)
		var err error
		if r, err = d.Resolve(s.Stage.Parts); err != nil {
			r = nil // the layout does not run; whoever tries it learns why
		}
		if s.alone == nil {
			s.alone = map[alone]*deployment.Resolved{}
		}
		s.alone[*key] = r
	}
	return r
}

// Layouts are those of workers that engines run on up to a number of devices of a system.
func (s *Subject) Layouts(d *device.Profile, devices int, sizes *search.Sizes) []parallel.Layout {
	return search.Machine{Domain: d.Domain(), Node: d.Node}.Layouts(devices, s.Stage.Model.HasExperts(), sizes)
}

// Fits reports why a worker of a layout cannot be run: it is illegal, it leaves no room
// for a cache, or the engine has no flags for it.
func (s *Subject) Fits(l parallel.Layout, prefill bool, batch int, by search.Draft) error {
	d := s.Asked
	p := d.Pools[len(d.Pools)-1]
	if prefill {
		p = d.Pools[0]
	}
	p.Role, p.Layout, p.MTP, p.Drafter, p.AcceptanceRates = deployment.Both, l, by.Tokens, by.By, s.AcceptanceRates
	p.Settings = append([]string{fmt.Sprintf("max_sequences=%d", batch)}, p.Settings...)
	d.Pools = []deployment.Pool{p}
	resolved, _, err := s.Stage.Fleet(&d)
	if err != nil {
		return err
	}
	return Runs(d, resolved, s.input(), s.output())
}

// Runs reports a layout that the engine has no flags for.
func Runs(d deployment.Deployment, r *deployment.Resolved, input, output int) error {
	p := launch.Plan{Deployment: d, Resolved: r, Input: input, Output: output}
	if _, err := p.Values(); errors.Is(err, launch.ErrLayout) {
		return err
	}
	return nil
}

// Budgets are the token budgets to try beside the engine's own for a worker that does
// both: half, twice and four times as much, but none below a full batch.
func (s *Subject) Budgets(c search.Candidate) []int {
	c.Copies = 1
	if d := &s.Asked; d.Gives(&d.Pools[len(d.Pools)-1], "token_budget") {
		return nil
	}
	s.mu.Lock()
	r := s.resolved(&c, &alone{layout: c.Layout, mtp: c.MTP, drafter: c.Drafter})
	s.mu.Unlock()
	if r == nil {
		return nil
	}
	own := r.Generates().Engine.TokenBudget
	var out []int
	for _, c.Budget = range []int{own / 2, 2 * own, 4 * own} {
		const least, most = 512, 32768 // launch scripts have neither less nor more
		if c.Budget < max(least, s.Whole) || c.Budget > most {
			continue
		}
		d := s.Deployment(c, 1)
		resolved, _, err := s.Stage.Fleet(&d)
		if err != nil {
			continue
		}
		p := launch.Plan{Deployment: d, Resolved: resolved, Input: s.input(), Output: s.output(), Prompt: s.Prompt()}
		if _, err := p.Values(); err == nil {
			out = append(out, c.Budget)
		}
	}
	return out
}

// Load is how requests come to a candidate: so many in flight or per second, in all.
type Load struct {
	Requests int
	Rate     float64
	// Ran is the simulation of one copy with its part of the rate, where a search has done it.
	Ran *search.Ran
}

// Show simulates a candidate that is shown, with its energy. Of many copies some are
// simulated, and the rates of the result, not those for JSON, are of all.
func (s *Subject) Show(ctx context.Context, c search.Candidate, batch int, l Load, limits simulate.Request) (*simulate.Response, error) {
	some := c
	copies := max(1, c.Copies)
	some.Copies = c.Sample()
	switch x := s.Sessions(); {
	case x.Turns > 0:
		some.Copies = x.Sample(&c)
	case l.Rate > 0:
		some.Copies = 1 // requests are dealt out to copies that know nothing of each other
	}
	of := max(1, some.Copies)
	q := limits
	q.Deployment = s.Deployment(some, batch)
	q.Traffic = s.traffic(simulate.Traffic{Concurrency: l.Requests * of / copies, Rate: l.Rate * float64(of) / float64(copies)})
	q.Complete()
	quiet := s.World.Quiet()
	run := func() (*simulate.Response, error) { return simulate.Metered(ctx, quiet, s.Stage, &q) }
	if l.Ran != nil && of == 1 {
		run = func() (*simulate.Response, error) { return simulate.Of(quiet, s.Stage, &q, l.Ran) }
	}
	out, err := run()
	if err != nil || of == copies {
		return out, err
	}
	f := float64(copies) / float64(of)
	r := &out.Result
	for _, x := range []*float64{&r.Offered, &r.RequestRate, &r.InputRate, &r.OutputRate, &r.GoodRate} {
		*x *= f
	}
	if r.Sessions != nil {
		r.Sessions.Rate *= f
	}
	return out, nil
}
