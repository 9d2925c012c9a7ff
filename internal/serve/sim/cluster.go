package sim

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// cluster is the replicas of a simulation: workers and, where prefill and decode are apart, those that generate.
type cluster struct {
	config   *Config
	replicas []replica
	workers  pool // of the replicas
	decode   pool // likewise; none unless disaggregated
}

// newCluster makes the replicas, which work on the requests of a source.
func newCluster(c *Config, requests *source, around *site) cluster {
	workers, decode := max(1, c.Workers.Replicas), 0
	if c.Decode != nil {
		decode = max(1, c.Decode.Replicas)
	}
	made := cluster{config: c, replicas: make([]replica, workers+decode)}
	made.workers = newPool(&c.Workers, made.replicas[:workers], 0, c.Decode == nil, around, requests.conversations)
	made.workers.countsTokens = c.Workers.Routing.affinity().tokens
	for i := range made.workers.replicas {
		x := &made.workers.replicas[i].scheduler
		requests.remember(x.engine, x.kv.(*blockStore))
	}
	if c.Decode == nil {
		return made
	}
	for i := range made.workers.replicas {
		made.workers.replicas[i].outbox.free = make([]units.Seconds, max(1, c.Link.Parallel))
	}
	caches := *c.Decode
	caches.Engine.ReceiveInterval = 1 // arrived caches are looked for in every step
	made.decode = newPool(&caches, made.replicas[workers:], workers, true, around, requests.conversations)
	for i := range made.decode.replicas {
		made.decode.replicas[i].heldTokens = caches.Engine.Held
	}
	return made
}

// possible reports whether a request would fit if it were alone.
func (c *cluster) possible(q *request) bool {
	fits := func(p *pool) bool {
		x := &p.replicas[0].scheduler
		return x.kv.Blocks(x.mostTokens(q)) <= x.kv.Total()
	}
	return fits(&c.workers) && (len(c.decode.replicas) == 0 || q.output == 1 || fits(&c.decode))
}

// meter has the pools' meters see the steps from now on.
func (c *cluster) meter() {
	for _, p := range []*Pool{&c.config.Workers, c.config.Decode} {
		if p != nil && p.Meter != nil {
			p.Meter.Restart()
		}
	}
	for i := range c.workers.replicas {
		c.workers.replicas[i].device.meter = c.config.Workers.Meter
	}
	for i := range c.decode.replicas {
		c.decode.replicas[i].device.meter = c.config.Decode.Meter
	}
}

// restart has all counters of the replicas begin again.
func (c *cluster) restart(now units.Seconds) {
	for i := range c.replicas {
		r := &c.replicas[i]
		r.usage.restart(now, r.scheduler.kv.Held())
		r.scheduler.preemptions = 0
		r.scheduler.kv.Restart()
	}
	c.meter()
}

// running is the number of requests that run.
func (c *cluster) running() int {
	n := 0
	for i := range c.replicas {
		n += c.replicas[i].scheduler.running.n
	}
	return n
}

// state sums up all replicas.
func (c *cluster) state() statistics.Point {
	var p statistics.Point
	held, total := 0, 0
	for i := range c.replicas {
		r := &c.replicas[i]
		p.Waiting += r.queued()
		p.Running += r.scheduler.running.n
		held += r.scheduler.kv.Held()
		total += r.scheduler.kv.Total()
	}
	p.KV = float64(held) / float64(total)
	return p
}

// takes is about how long a request takes beside others: its tokens at the pace of a full batch, and what is computed of the
// prompts of the others meanwhile. The warm-up corrects what it gets wrong.
func (c *cluster) takes(input, output, computed float64, clients int) units.Seconds {
	pool := &c.workers
	if len(c.decode.replicas) > 0 {
		pool = &c.decode
	}
	r := &pool.replicas[0]
	each := (float64(clients) + float64(len(pool.replicas)) - 1) / float64(len(pool.replicas))
	fits := float64(r.scheduler.kv.Total()) * float64(r.scheduler.engine.BlockTokens) / (input + output)
	batch := math.Max(1, math.Floor(math.Min(each, math.Min(fits, float64(r.scheduler.engine.MaxSequences)))))
	steps := math.Max(1, output/r.scheduler.engine.AcceptedPerStep)
	prompt := c.workers.replicas[0].device.stepper.Step(Batch{
		PrefillRequests: 1, PrefillTokens: int(computed), PrefillContext: int(input - computed),
		PrefillPairs: computed * (input - (computed-1)/2), Sampled: 1,
	})
	took := r.device.stepper.Decode(int(batch), batch*input, batch*r.scheduler.engine.AcceptedPerStep, int(steps))
	if took += prompt * units.Seconds(clients) / units.Seconds(len(c.workers.replicas)); !sound(took) {
		return 0 // the run reports what is wrong with the step model
	}
	return took * units.Seconds(math.Max(1, each/batch))
}
