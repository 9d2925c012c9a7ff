package search

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/soak"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// talking is a bench of a small engine with sessions, and a candidate for it.
func talking(x *workload.Session, routing sim.Routing, blocks int) (*Bench, Candidate) {
	pool := sim.Pool{
		Routing: routing,
		Engine:  server.Engine{MaxSequences: 64, TokenBudget: 2048, BlockTokens: 16, Blocks: blocks, PrefixCache: true},
		Stepper: server.StepFunc(func(b server.Batch) units.Seconds {
			return units.Seconds(0.004 + 2e-5*float64(b.PrefillTokens) + 1e-9*b.PrefillPairs + 1e-4*float64(b.Decode) + 2e-8*b.DecodeContext)
		}),
	}
	input, output, cached := x.Means()
	mix := traffic.Mix{{Share: 1, Session: x}}
	b := &Bench{
		Input: int(math.Round(input)), Output: int(math.Round(output)), Prefix: int(math.Ceil(cached)), Varied: true, Seed: 1,
		Closed: func(n int) traffic.Client { return traffic.ClosedLoop{Requests: 1, Concurrency: n, Mix: mix} },
		Open: func(rate float64) traffic.Client {
			return traffic.OpenLoop{Requests: 1, Rate: rate / x.MeanTurns(), Mix: mix}
		},
		Build: func(c Candidate, batch int) (Built, error) {
			p := pool
			p.Replicas, p.Engine.MaxSequences = c.times(), batch
			return Built{Config: sim.Config{Workers: p}}, nil
		},
		Sessions: Sessions{
			Turns: x.MeanTurns(), Think: x.Think * units.Seconds(1-1/x.MeanTurns()), Pairs: x.Pairs(), Routing: routing,
		},
	}
	return b, Candidate{Layout: parallel.Layout{Devices: 1, TP: 1, DP: 1, PP: 1}, Y: 1, Copies: 1}
}

func drawSession(t *rapid.T) *workload.Session {
	x := &workload.Session{
		System: 16 * rapid.IntRange(0, 40).Draw(t, "system"), Turns: rapid.IntRange(2, 6).Draw(t, "turns"),
		First: rapid.IntRange(20, 400).Draw(t, "first"), User: rapid.IntRange(10, 100).Draw(t, "user"), Output: rapid.IntRange(5, 60).Draw(t, "output"),
		LengthLow: 0.5, Think: units.Seconds(rapid.Float64Range(0, 3).Draw(t, "think")),
	}
	return x
}

func judged(b *Bench) *Simulated {
	return &Simulated{
		Bench: b, Judge: Judge{Limits: workload.Limits{TTFT: 0.5, TPOT: 30 * units.Millisecond}}, Range: Range{Min: 1, Max: 64, Given: true},
		Label: func(*Candidate) string { return "" },
	}
}

// TestSessionsNeedDevices: a higher rate of sessions never needs fewer devices, whatever the router.
func TestSessionsNeedDevices(t *testing.T) {
	several := 0
	soak.Few(t, 12, func(t *rapid.T) {
		x := drawSession(t)
		x.Think++ // with less, rates near the capacity of four copies take seconds to refuse
		b, c := talking(x, sim.Routing(rapid.IntRange(0, int(sim.SGLang)).Draw(t, "routing")), rapid.IntRange(300, 3000).Draw(t, "blocks"))
		rate := rapid.Float64Range(10, 40).Draw(t, "rate")
		before := 0
		for _, times := range []float64{1, 2} {
			s := &Sized{Simulated: judged(b), Rate: times * rate, MaxDevices: 4}
			s.Range.Max = 1 // a copy carries little, so that rates need several
			r := s.Evaluate(t.Context(), c, math.Inf(-1))
			if !r.OK {
				return // no number of copies keeps the limits, of this rate and so of higher ones
			}
			if r.Candidate.Copies < before {
				t.Fatalf("%g requests/s need %d devices, less %d", times*rate, r.Candidate.Copies, before)
			}
			before = r.Candidate.Copies
		}
		if before > 1 {
			several++
		}
	})
	if several < 4 {
		t.Errorf("%d questions need more than one device: the others could not fail", several)
	}
}

// TestSessionCapacityLasts: the capacity of a copy for sessions holds in a long run too, also where caches are nearly too small.
func TestSessionCapacityLasts(t *testing.T) {
	soak.Few(t, 5, func(t *rapid.T) {
		x := drawSession(t)
		x.Think++
		b, c := talking(x, sim.LeastLoaded, rapid.IntRange(150, 600).Draw(t, "blocks"))
		s := &Sized{Simulated: judged(b), Rate: rapid.Float64Range(1, 20).Draw(t, "rate"), MaxDevices: 4}
		r := s.Evaluate(t.Context(), c, math.Inf(-1))
		if !r.OK {
			return
		}
		unit := c.Unit()
		long := &rates{Sized: s, unit: unit, r: &Result{}, copies: b.Sessions.Sample(&r.Candidate), long: true, batch: r.Capacity.Batch}
		carries := r.Capacity.Throughput / b.scale() / float64(b.Output)
		if _, v, err := long.at(t.Context(), carries, 1); err != nil || v != Fits {
			t.Fatalf("%g requests/s of a capacity of %g: %s, %v", s.Rate/float64(r.Candidate.Copies), carries, v, err)
		}
	})
}

// TestSessionBoundsHold: no simulation of sessions carries more, or has fewer requests in flight, than its bounds say.
func TestSessionBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSession(t)
		b, c := talking(x, sim.RoundRobin, rapid.IntRange(300, 20000).Draw(t, "blocks"))
		n := rapid.IntRange(1, 64).Draw(t, "sessions")
		got, err := b.Run(t.Context(), c, Load{Requests: n}, 64, Aim{})
		if err != nil {
			t.Fatal(err)
		}
		one, err := b.bounds(&c)
		if err != nil {
			t.Fatal(err)
		}
		const chance = 1.15 // of lengths and times to think that are drawn, in a window that may be short
		_, output, _ := x.Means()
		if most, rate := one.throughput(n)/float64(b.Output), got.Throughput/output; rate > chance*most {
			t.Fatalf("%g requests/s, bound %g", rate, most)
		}
		if least := one.inFlight(n); chance*got.InFlight < float64(least)-1 {
			t.Fatalf("%g requests in flight, bound %d", got.InFlight, least)
		}
	})
}

// TestSharedContext: bounds take no more of the KV cache to be read than a simulation reads of what requests share.
func TestSharedContext(t *testing.T) {
	x := &workload.Session{System: 512, Turns: 6, First: 300, User: 80, Output: 40, LengthLow: 0.5}
	b, c := talking(x, sim.RoundRobin, 6000)
	build := b.Build
	b.Build = func(c Candidate, batch int) (Built, error) {
		out, err := build(c, batch)
		out.Config.Workers.Engine.CachedReadRatio = 0.6
		return out, err
	}
	one, err := b.bounds(&c)
	if err != nil {
		t.Fatal(err)
	}
	alone, shared := one.generates.context(1), one.generates.context(2)
	if want := 0.4 * float64(b.Prefix); math.Abs(alone-shared-want) > 1e-9 {
		t.Errorf("%g tokens are read by one of two, %g by one alone: want %g fewer", shared, alone, want)
	}
}

// TestOneCopyShowsAll: where the router keeps sessions in place and spreads them evenly, a copy with its part of them has the
// times of the whole cluster; of other routers the cluster itself is simulated, since it has not.
func TestOneCopyShowsAll(t *testing.T) {
	x := &workload.Session{System: 512, Turns: 6, First: 300, User: 80, Output: 40, LengthLow: 0.5, Think: 2}
	for routing := range sim.Routing(len(sim.RoutingNames())) {
		b, c := talking(x, routing, 6000)
		four := c
		four.Copies = 4
		const rate = 20
		one, err := b.Run(t.Context(), c, Load{Rate: rate}, 64, Aim{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := b.Run(t.Context(), four, Load{Rate: 4 * rate}, 64, Aim{})
		if err != nil {
			t.Fatal(err)
		}
		apart := math.Abs(float64(all.TTFT/one.TTFT) - 1)
		if b.Sessions.mixes() != (apart > 0.25) {
			t.Errorf("%v: TTFT %v of one copy, %v of four", routing, one.TTFT, all.TTFT)
		}
	}
}
