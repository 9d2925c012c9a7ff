package sim

import (
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// newSimulation checks a configuration and prepares its parts.
func newSimulation(c *Config) (*simulation, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &simulation{config: c, source: newSource(c), recorder: recorder{series: newSeries(), timeline: timelineRecorder{next: units.Seconds(math.Inf(1))}}}
	if e := &c.Workers.Engine; e.PrefixCache && !s.load.coarsen(e.BlockTokens) {
		return nil, fmt.Errorf("workers: the KV blocks have %d tokens and the trace's blocks %d: one must be a multiple of the other",
			e.BlockTokens, s.load.blockTokens)
	}
	s.left = len(s.requests)
	s.cluster = newCluster(c, &s.source, &site{clock: &s.clock, cluster: s, requests: s.requests, gaps: &s.gaps})
	s.events.lines = make([]line, 2*len(s.replicas))
	s.view = clientView{
		engine: s.workers.replicas[0].scheduler.engine, limits: &c.Limits, ratios: c.Together, warmup: s.load.warmup, pools: c.Decode != nil,
	}
	if c.Minute {
		s.timeline = newTimeline(s.workers.replicas, s.decode.replicas)
	}
	if s.endless {
		s.steady = newSteady(s, len(s.requests))
	} else {
		s.cluster.meter()
	}
	return s, nil
}
