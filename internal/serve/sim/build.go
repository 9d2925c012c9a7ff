package sim

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// newSimulation checks a configuration and prepares its parts.
func newSimulation(c *Config) (*simulation, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &simulation{config: c, recorder: statistics.NewRecorder()}
	if c.Steady == nil {
		s.source = traffic.NewSource(c.Client, c.Seed)
	} else {
		s.source = traffic.NewEndlessSource(c.Client, c.Seed, mostInFlight(c))
	}
	if e := &c.Workers.Engine; e.PrefixCache {
		if err := s.source.FitBlocks(e.BlockTokens); err != nil {
			return nil, fmt.Errorf("workers: %w", err)
		}
	}
	s.left = len(s.source.Requests)
	s.cluster = newCluster(c, &s.source, &server.Shared{Clock: &s.clock, Cluster: s, Requests: s.source.Requests, Gaps: &s.recorder.Gaps, StepByStep: c.single})
	s.events.lines = make([]line, 2*len(s.cluster.replicas))
	s.view = clientView{
		engine: s.cluster.workers.replicas[0].Engine(), limits: &c.Limits, ratios: c.SLORatios, warmup: s.source.Warmup(), pools: c.Decode != nil,
	}
	if c.Timeline {
		s.recorder.Timeline = s.cluster.watched()
	}
	if s.source.Endless {
		var controls *statistics.ControlVariates
		// Prompts wait for workers that only compute prompts as they do in a queue; those for workers that generate wait for caches and
		// batches, which fill slowly and all at once.
		if c.Decode != nil {
			controls = s.source.ControlVariates()
		}
		s.steady = statistics.NewSteadyRun(c.Steady, s.source.SteadyLoad(), controls, s, &s.recorder)
	} else {
		s.cluster.meter()
	}
	return s, nil
}

// watched watches the replicas of a cluster.
func (c *cluster) watched() statistics.TimelineRecorder {
	watch := func(replicas []server.Replica, role string) []statistics.Watched {
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
