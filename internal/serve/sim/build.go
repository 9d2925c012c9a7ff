package sim

import (
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// newSimulation checks a configuration and prepares its parts.
func newSimulation(c *Config) (*simulation, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &simulation{config: c, recorder: statistics.NewRecorder()}
	if c.Steady == nil {
		s.source = newSource(c.Client, c.Seed)
	} else {
		s.source = newEndlessSource(c.Client, c.Seed, mostInFlight(c))
	}
	if e := &c.Workers.Engine; e.PrefixCache {
		if err := s.fitBlocks(e.BlockTokens); err != nil {
			return nil, fmt.Errorf("workers: %w", err)
		}
	}
	s.left = len(s.requests)
	s.cluster = newCluster(c, &s.source, &site{clock: &s.clock, cluster: s, requests: s.requests, gaps: &s.recorder.Gaps})
	s.events.lines = make([]line, 2*len(s.replicas))
	s.view = clientView{
		engine: s.workers.replicas[0].engine(), limits: &c.Limits, ratios: c.Together, warmup: s.warmup(), pools: c.Decode != nil,
	}
	if c.Timeline {
		s.recorder.Timeline = s.watched()
	}
	if s.endless {
		s.steady = statistics.NewSteadyRun(c.Steady, new(s.facts(c)), newControlVariates(c, len(s.requests)), s, &s.recorder)
	} else {
		s.cluster.meter()
	}
	return s, nil
}

// controlled reports whether queues show how busy a window is. Prompts wait for workers that only compute prompts as they do in a queue; those
// for workers that generate wait for caches and batches, which fill slowly and all at once. And mean waits are known only where requests are
// independent of each other.
func (c *Config) controlled() bool {
	loop, ok := c.Client.(OpenLoop)
	return ok && c.Decode != nil && loop.Process == Poisson && loop.Mix.turns() == 1 && !loop.Mix.recalls()
}

// newControlVariates makes the queues, with so many places for requests; nil where they show nothing.
func newControlVariates(c *Config, places int) *statistics.ControlVariates {
	if !c.controlled() {
		return nil
	}
	loop, _ := c.Client.(OpenLoop)
	mean, square := loop.prompts()
	return statistics.NewControlVariates(loop.Rate, mean, square, places)
}

// facts is what is known of the requests of a run without end.
func (s *source) facts(c *Config) statistics.Load {
	f := statistics.Load{Clients: s.load.clients, Sessions: s.conversations != nil}
	if r := s.load.replay; r != nil {
		f.Replay = len(r.like)
	}
	if s.conversations != nil {
		f.Turns, f.Thinks = s.conversations.means, s.conversations.mix.thinks()
	}
	if loop, ok := c.Client.(OpenLoop); ok {
		f.Rate, f.Variation = loop.Rate, 1
		if loop.Process == Gamma {
			f.Variation = math.Max(1, loop.Variation)
		}
		if f.Sessions { // the turns of a session come together
			f.Rate *= f.Turns
			f.Variation *= math.Sqrt(f.Turns)
		}
	}
	return f
}

// watched watches the replicas of a cluster.
func (c *cluster) watched() statistics.TimelineRecorder {
	watch := func(replicas []replica, role string) []statistics.Watched {
		out := make([]statistics.Watched, len(replicas))
		for i := range replicas {
			out[i] = statistics.Watched{Role: role, Replica: &replicas[i]}
		}
		return out
	}
	if len(c.decode.replicas) == 0 {
		return statistics.WatchReplicas(watch(c.workers.replicas, "both"))
	}
	return statistics.WatchReplicas(watch(c.workers.replicas, "prefill"), watch(c.decode.replicas, "decode"))
}

// mostInFlight is how many requests of an open loop there is room for: many times as many as all replicas run at
// a time. With more it is overloaded.
func mostInFlight(c *Config) int {
	const times, least, most = 16, 1 << 12, 1 << 18
	n := max(1, c.Workers.Replicas) * c.Workers.Engine.MaxSequences
	if c.Decode != nil {
		n += max(1, c.Decode.Replicas) * c.Decode.Engine.MaxSequences
	}
	return min(max(times*n, least), most)
}
