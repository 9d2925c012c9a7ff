package sim

import (
	"math"
	"reflect"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Bytes is about how much memory a run takes at its peak, beside what the caller holds. It grows
// with the requests and with nothing else that matters, so that a server can refuse a run before
// it begins: 2²⁴ requests are 3 GB.
func (c *Config) Bytes() units.Bytes {
	if c.Client == nil {
		return 0
	}
	n, window := c.Client.size()
	alike := float64(c.alike())
	kept, each := n, 3*sizeOf[units.Seconds]() // TTFT, TPOT and latency are sorted
	if _, trace := c.Client.(*Trace); c.Steady != nil && !trace {
		kept = float64(mostInFlight(c))
		if loop, ok := c.Client.(ClosedLoop); ok {
			kept, window = float64(loop.Concurrency), float64(loop.Concurrency)
		}
		n = float64(c.Steady.bound(c.Client))
		each += sizeOf[units.Seconds]() // what percentiles are found in
	}
	if c.Records {
		each += sizeOf[Record]()
	}
	if c.Workers.Engine.PrefixCache {
		each += sizeOf[[]uint32]()
	}
	waiting := sizeOf[event]() + 2*sizeOf[int32]()
	return units.Bytes((n*each + kept*sizeOf[request]() + window*waiting) / alike)
}

func sizeOf[T any]() float64 { return float64(reflect.TypeFor[T]().Size()) }

// size is how many requests there will be room for, and how many of them are sent at once.
func (c ClosedLoop) size() (requests, window float64) {
	return c.Mix.meanTurns() * float64(c.Requests), float64(min(c.Concurrency, c.Requests))
}

// size implements [Client]. Where time ends the loop, room for requests is made as they come: a
// quarter more than there are, beside the room before it.
func (o OpenLoop) size() (requests, window float64) {
	if o.Duration == 0 {
		return o.Mix.meanTurns() * float64(o.Requests), 0
	}
	const growth = 1.25 + 1
	n := growth * o.Mix.meanTurns() * o.Rate * float64(o.Duration)
	if o.Requests > 0 {
		n = math.Min(n, growth*o.Mix.meanTurns()*float64(o.Requests))
	}
	return n, 0
}

func (t *Trace) size() (requests, window float64) { return float64(len(t.Requests)), 0 }
