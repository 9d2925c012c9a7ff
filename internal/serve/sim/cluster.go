package sim

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// cluster is the replicas of a simulation: workers and, where prefill and decode are apart, those that generate.
type cluster struct {
	config   *Config
	replicas []server.Replica
	workers  pool // of the replicas
	decode   pool // likewise; none unless disaggregated
}

// newCluster makes the replicas, which work on the requests of a source.
func newCluster(c *Config, requests *traffic.Source, around *server.Shared) cluster {
	workers, decode := max(1, c.Workers.Replicas), 0
	if c.Decode != nil {
		decode = max(1, c.Decode.Replicas)
	}
	made := cluster{config: c, replicas: make([]server.Replica, workers+decode)}
	does := server.WholeRequest
	if c.Decode != nil {
		does, around.Link = server.PrefillOnly, &c.Link
	}
	made.workers = newPool(&c.Workers, made.replicas[:workers], 0, does, around, requests)
	made.workers.countsTokens = c.Workers.Routing.affinity().tokens
	if e := &c.Workers.Engine; e.PrefixCache {
		if known := requests.Prompts(e); known != nil {
			for i := range made.workers.replicas {
				made.workers.replicas[i].Remember(known)
			}
		}
	}
	if c.Decode == nil {
		return made
	}
	caches := *c.Decode
	caches.Engine.ReceiveInterval = 1 // arrived caches are looked for in every step
	made.decode = newPool(&caches, made.replicas[workers:], workers, server.DecodeOnly, around, requests)
	return made
}

// possible reports whether a request would fit if it were alone.
func (c *cluster) possible(q *server.Request) bool {
	fits := func(p *pool) bool { return p.replicas[0].Fits(q) }
	return fits(&c.workers) && (len(c.decode.replicas) == 0 || q.Output == 1 || fits(&c.decode))
}

// meter has the pools' meters see the steps from now on.
func (c *cluster) meter() {
	for _, p := range []*Pool{&c.config.Workers, c.config.Decode} {
		if p != nil && p.Meter != nil {
			p.Meter.Restart()
		}
	}
	for i := range c.workers.replicas {
		c.workers.replicas[i].SetMeter(c.config.Workers.Meter)
	}
	for i := range c.decode.replicas {
		c.decode.replicas[i].SetMeter(c.config.Decode.Meter)
	}
}

// restart has all counters of the replicas begin again.
func (c *cluster) restart() {
	for i := range c.replicas {
		c.replicas[i].Restart()
	}
	c.meter()
}

// auditEmpty reports replicas that keep something when all requests have ended.
func (c *cluster) auditEmpty() error {
	for i := range c.replicas {
		if err := c.replicas[i].AuditEmpty(); err != nil {
			return err
		}
	}
	return nil
}

// running is the number of requests that run.
func (c *cluster) running() int {
	n := 0
	for i := range c.replicas {
		n += c.replicas[i].Running()
	}
	return n
}

// state sums up all replicas.
func (c *cluster) state() statistics.Point {
	var p statistics.Point
	held, total := 0, 0
	for i := range c.replicas {
		r := &c.replicas[i]
		p.Waiting += r.Queued()
		p.Running += r.Running()
		held += r.KV().Held()
		total += r.KV().Total()
	}
	p.KV = float64(held) / float64(total)
	return p
}

// takes is about how long a request takes beside others: its tokens at the pace of a full batch, and what is computed of the
// prompts of the others meanwhile. The warm-up corrects what it gets wrong.
func (c *cluster) takes(input, output, computed float64, clients int) units.Seconds {
	pool, model := &c.workers, c.config.Workers.Stepper
	if len(c.decode.replicas) > 0 {
		pool, model = &c.decode, c.config.Decode.Stepper
	}
	r := &pool.replicas[0]
	engine := r.Engine()
	each := (float64(clients) + float64(len(pool.replicas)) - 1) / float64(len(pool.replicas))
	fits := float64(r.KV().Total()) * float64(engine.BlockTokens) / (input + output)
	batch := math.Max(1, math.Floor(math.Min(each, math.Min(fits, float64(engine.MaxSequences)))))
	steps := math.Max(1, output/engine.AcceptedPerStep)
	prompt := c.config.Workers.Stepper.Step(server.Batch{
		PrefillRequests: 1, PrefillTokens: int(computed), PrefillContext: int(input - computed),
		PrefillPairs: computed * (input - (computed-1)/2), Sampled: 1,
	})
	took := model.Decode(int(batch), batch*input, batch*engine.AcceptedPerStep, int(steps))
	if took += prompt * units.Seconds(clients) / units.Seconds(len(c.workers.replicas)); !server.Sound(took) {
		return 0 // the run reports what is wrong with the step model
	}
	return took * units.Seconds(math.Max(1, each/batch))
}
