package plan

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// cost is what a contender costs at its throughput.
func (p *planning) cost(d *device.Profile, c *Found) money.Cost {
	c.Price = d.Price
	if price, ok := p.r.PriceOf(d.Name); ok {
		c.Price = device.Price{USDPerHour: price, Source: givenPrice, Class: device.Yours}
	}
	out := money.Cost{USDPerHour: c.Price.USDPerHour, Source: c.Price.Source}
	if out.USDPerHour == 0 || c.Throughput == 0 {
		return money.Cost{}
	}
	l := money.Load{Devices: c.Devices(), Tokens: c.Throughput, Requests: c.RequestRate}
	if c.Load > 0 { // what comes, not what it could carry
		l.Requests = p.r.average() * c.Turns
		l.Tokens = l.Requests * float64(c.Experiment.Output)
	}
	if c.Energy != nil {
		l.PerToken = units.Joules(c.Energy.PerToken.Value)
	}
	return out.Of(l, *p.r.EnergyPrice)
}

// average is the load on average.
func (r *Request) average() float64 {
	if r.Daily != nil {
		return mean(r.Daily)
	}
	return r.Rate
}

// meter finds the energy of a contender under the load that comes on average, with its spare
// copies; that of the most load without them is known.
func (p *planning) meter(ctx context.Context, c *Found) error {
	average := p.r.average()
	if c.Concurrency == 0 || c.Load == 0 || average == 0 || average == p.r.peak() && c.Spare == 0 {
		return nil
	}
	q := c.traffic(&p.r.Sources, 0)
	part := 1
	if c.Turns > 1 { // copies share sessions
		part = c.Sampled
	}
	q.Deployment, q.Rate = some(&c.Option, part), average*float64(part)/float64(c.Copies)
	q.Process, q.Variation = p.r.Process, p.r.Variation
	s, err := simulate.Prepare(p.world, &q)
	if err != nil {
		return err
	}
	got, err := simulate.Metered(ctx, p.world, s, &q)
	if err != nil {
		return err
	}
	c.Energy = got.Energy
	return nil
}

// some is some copies of the deployment.
func some(o *experiment.Option, copies int) deployment.Deployment {
	out := o.Deployment
	out.Pools = slices.Clone(out.Pools)
	for i := range out.Pools {
		out.Pools[i].Replicas = max(1, out.Pools[i].Replicas*copies/o.Copies)
	}
	return out
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return sum / float64(len(all))
}

// detail adds what is told about the first contender only.
func (p *planning) detail(ctx context.Context, out *Response) error {
	if len(out.Contenders) == 0 || out.Contenders[0].Concurrency == 0 {
		return nil
	}
	best := &out.Contenders[0].Found
	part := best.Sampled
	q := best.traffic(&p.r.Sources, best.Concurrency)
	if best.Load > 0 {
		q.Concurrency, q.Rate = 0, p.r.peak()
		q.Process, q.Variation = p.r.Process, p.r.Variation
		if best.Run.Result.Sessions == nil {
			q.Variation = min(p.r.variation(part), simulate.MaxVariation)
		}
	}
	q.Deployment, q.Concurrency, q.Rate = some(&best.Option, part), q.Concurrency*part/best.Copies, q.Rate*float64(part)/float64(best.Copies)
	s, err := simulate.Prepare(p.world, &q)
	if err != nil {
		return err
	}
	q.Timeline = true
	run, err := simulate.On(ctx, p.world, s, &q)
	if err != nil {
		return err
	}
	out.Model, out.Minute = run.Model, run.Timeline
	for _, x := range run.Result.Series {
		out.Timeline = append(out.Timeline, Moment{x.At, x.Waiting * best.Copies / part, x.Running * best.Copies / part, x.KV})
	}
	if out.Pools, err = p.pools(ctx, best); err != nil {
		return err
	}
	if out.Loads, err = p.loads(ctx, s, best); err != nil {
		return err
	}
	if out.Drafting, err = p.drafting(ctx, best); err != nil {
		return err
	}
	p.scaled(out)
	return p.explain(ctx, out, s.Overlay)
}

// traffic is a simulation of a contender's deployment with so many requests in flight.
func (c *Found) traffic(s *session.Sources, concurrency int) simulate.Request {
	e := &c.Experiment
	return simulate.Request{
		Deployment: c.Deployment, Sources: *s, Limits: e.Limits, Statistic: e.Statistic,
		Traffic: simulate.Traffic{Concurrency: concurrency, Input: e.Input, Output: e.Output, Prefix: e.Prefix, Workloads: e.Workloads},
	}
}

// pools are the workers of a contender with their steps.
func (p *planning) pools(ctx context.Context, c *Found) ([]estimate.Pool, error) {
	part := c.Sampled
	some := some(&c.Option, part)
	r := estimate.Request{Experiment: c.Experiment, Sources: p.r.Sources, Concurrency: max(1, c.Concurrency*part/c.Copies), Steps: true}
	for i := range some.Pools {
		pool := &some.Pools[i]
		w := estimate.Workers{Count: max(1, pool.Replicas), Layout: pool.Layout, Batch: c.Batch}
		if pool.Role == deployment.Prefill {
			w.Batch = max(1, c.Prompts)
			r.Prefill = w
		} else {
			r.Workers = w
		}
	}
	e, err := estimate.Run(ctx, p.world, r)
	if err != nil {
		return nil, err
	}
	for i := range e.Pools {
		e.Pools[i].Workers = max(1, c.Deployment.Pools[i].Replicas)
	}
	return e.Pools, nil
}

// loads are the figures of a contender with fewer and with more requests in flight.
func (p *planning) loads(ctx context.Context, s *session.Stage, c *Found) ([]Load, error) {
	var numbers []int
	for _, share := range []float64{1.0 / 16, 1.0 / 8, 1.0 / 4, 3.0 / 8, 1.0 / 2, 5.0 / 8, 3.0 / 4, 7.0 / 8, 1, 1.125, 1.25, 1.5} {
		n := max(1, int(math.Round(share*float64(c.Capacity.Concurrency))))
		if len(numbers) == 0 || n > numbers[len(numbers)-1] {
			numbers = append(numbers, n)
		}
	}
	out := make([]Load, len(numbers))
	err := pool.All(ctx, len(numbers), session.DefaultJobs, func(i int) error {
		part := c.Sampled
		q := c.traffic(&p.r.Sources, max(1, numbers[i]*part/c.Copies))
		q.Deployment = some(&c.Option, part)
		if c.Turns > 1 { // loads beyond what caches hold take long to be precise
			q.Requests, q.Protocol = 64*max(q.Concurrency, 256), simulate.Steady
		}
		q.Complete()
		r, err := simulate.Remembered(p.world, &q, &p.r.Sources, func() (*simulate.Response, error) { return simulate.On(ctx, p.world, s, &q) })
		if err != nil {
			return err
		}
		got, x, all := &r.Result, &r.Expected, float64(c.Copies)/float64(part)
		out[i] = Load{
			Concurrency: numbers[i], Tokens: x.Throughput.Of(got.OutputRate * all), RequestRate: got.RequestRate * all, Judged: r.Judged,
			Mean: r.Mean(), P95: r.P95(),
		}
		return nil
	})
	return out, err
}

// counter reports the progress of work that is done several pieces at a time. Its zero value counts for nobody.
type counter struct {
	tell func(session.Progress)
	what string

	mu       sync.Mutex
	task     string
	done, of int
}

// more begins a task with so many pieces.
func (c *counter) more(task string, pieces int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.task = task
	c.of += pieces
	c.report()
}

// add counts a piece.
func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.report()
}

func (c *counter) report() {
	if c.tell != nil {
		c.tell(session.Progress{Task: c.task, Done: c.done, Of: c.of, What: c.what})
	}
}
