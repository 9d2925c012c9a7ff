package traffic

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// SteadyLoad is what a steady run is to know of requests without end.
func (s *Source) SteadyLoad() *statistics.Load {
	f := &statistics.Load{Clients: s.load.clients, Sessions: s.conversations != nil}
	if r := s.load.replay; r != nil {
		f.Replay = len(r.requests)
	}
	if s.conversations != nil {
		f.Turns, f.Thinks = s.conversations.meanTurns, s.conversations.mix.thinks()
	}
	if loop, ok := s.client.(OpenLoop); ok {
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

// ControlVariates are queues that show how busy a window is; nil where arrivals are not Poisson's, or requests not independent of each other:
// mean waits are known only where they are.
func (s *Source) ControlVariates() *statistics.ControlVariates {
	loop, ok := s.client.(OpenLoop)
	if !ok || loop.Process != Poisson || loop.Mix.turns() > 1 || loop.Mix.recalls() {
		return nil
	}
	mean, square := loop.prompts()
	return statistics.NewControlVariates(loop.Rate, mean, square, len(s.Requests))
}
