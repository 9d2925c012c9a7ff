package sim

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

func ran(t rapid.TB, c *Config) *statistics.Result {
	t.Helper()
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOneTurnIsARequest: sessions of one turn without a system prompt are plain requests, to the digit.
func TestOneTurnIsARequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := anySession(t)
		x.System, x.Turns, x.MinTurns = 0, 1, 0
		plain := traffic.Mix{{Share: 1, Input: traffic.Lengths{Tokens: x.First, Low: x.LengthLow}, Output: traffic.Lengths{Tokens: x.Output, Low: x.LengthLow}}}
		talks := traffic.Mix{{Share: 1, Session: x}}
		var steady *statistics.Steady
		if rapid.Bool().Draw(t, "steady") {
			steady = &statistics.Steady{Requests: 600}
		}
		engine, step, seed := anyEngine(t, ""), anyStepper(t, ""), rapid.Uint64().Draw(t, "seed")
		engine.PrefixCache, engine.Host = true, anyTier(t)
		n, routing := rapid.IntRange(1, 3).Draw(t, "replicas"), Routing(rapid.IntRange(0, int(SGLang)).Draw(t, "routing"))
		var results [2]*statistics.Result
		closed := rapid.Bool().Draw(t, "closed")
		for i, m := range []traffic.Mix{plain, talks} {
			var client traffic.Client = traffic.OpenLoop{Requests: 30, Rate: 5, Mix: m}
			if closed {
				client = traffic.ClosedLoop{Requests: 30, Concurrency: 4, Mix: m}
			}
			results[i] = ran(t, &Config{
				Client: client, Workers: Pool{Replicas: n, Routing: routing, Engine: engine, Stepper: step}, Seed: seed, Steady: steady, Records: true,
			})
		}
		if d := cmp.Diff(results[0], results[1]); d != "" {
			t.Fatal(d)
		}
	})
}

// serial draws one replica that serves one request at a time, in an order that nothing changes, and whose cache holds the longest.
func serial(t *rapid.T) *Config {
	c := &Config{Seed: rapid.Uint64().Draw(t, "seed"), Records: true}
	e := anyEngine(t, "")
	e.PrefixCache, e.Stages = true, 1
	longest := 0
	if rapid.Bool().Draw(t, "trace") {
		trace := anyTrace(t, rapid.IntRange(1, 40).Draw(t, "requests"))
		for i := range trace.Requests {
			q := &trace.Requests[i]
			q.Arrival = units.Seconds(1e6 * float64(i))
			longest = max(longest, q.Input+q.Output)
		}
		c.Client = trace
		e.BlockTokens = min(e.BlockTokens, trace.BlockTokens)
	} else {
		x := anySession(t)
		longest = x.Longest()
		c.Client = traffic.ClosedLoop{Requests: rapid.IntRange(1, 20).Draw(t, "sessions"), Concurrency: 1, Mix: traffic.Mix{{Share: 1, Session: x}}}
	}
	e.Blocks = (longest+4)/e.BlockTokens + 1 + rapid.IntRange(0, 60).Draw(t, "blocks")
	c.Workers = Pool{Engine: e, Stepper: anyStepper(t, "")}
	return c
}

// TestMoreCacheMoreHits: on one replica that serves one request after the other, more blocks never lower the share of prompt
// tokens found, nor does a host tier or a larger one: what an LRU cache holds, a larger one holds too.
func TestMoreCacheMoreHits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := serial(t)
		c.Workers.Engine.Host = anyTier(t)
		before := ran(t, c)
		e := &c.Workers.Engine
		more := rapid.IntRange(1, 50).Draw(t, "more")
		if rapid.Bool().Draw(t, "on the host") {
			e.Host.Blocks += more
		} else {
			e.Blocks += more
		}
		after := ran(t, c)
		if after.Finished != before.Finished || after.CachedShare < before.CachedShare {
			t.Fatalf("share %v of %d requests, with %d blocks more %v of %d", before.CachedShare, before.Finished, more, after.CachedShare, after.Finished)
		}
	})
}

// TestNoBandwidthNoTier: a host tier that cannot be read is none, to the digit.
func TestNoBandwidthNoTier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t)
		c.Workers.Engine.Host = server.Tier{}
		without := ran(t, c)
		c.Workers.Engine.Host = server.Tier{Blocks: rapid.IntRange(0, 100).Draw(t, "blocks"), BytesPerToken: 1000}
		if d := cmp.Diff(without, ran(t, c)); d != "" {
			t.Fatal(d)
		}
	})
}

// TestOneReplicaOneWay: with one replica all routers do the same, to the digit.
func TestOneReplicaOneWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t)
		c.Workers.Replicas = 1
		if c.Decode != nil {
			c.Decode.Replicas = 1
		}
		c.Workers.Routing = RoundRobin
		want := ran(t, c)
		for routing := range Routing(len(RoutingNames())) {
			c.Workers.Routing = routing
			if d := cmp.Diff(want, ran(t, c)); d != "" {
				t.Fatalf("%v: %s", routing, d)
			}
		}
	})
}

// TestTurnsAreKept: prompts grow by the message and the answer, the next turn comes the time to think after the answer, and a
// cache that holds all has all but the new part, in whole blocks.
func TestTurnsAreKept(t *testing.T) {
	x := &workload.Session{System: 100, Turns: 4, First: 30, User: 20, Output: 10}
	e := vllm()
	e.PrefixCache = true
	c := &Config{Client: traffic.ClosedLoop{Requests: 2, Concurrency: 1, Mix: traffic.Mix{{Share: 1, Session: x}}}, Workers: Pool{Engine: e, Stepper: h100()}, Records: true}
	r := ran(t, c)
	if len(r.Records) != 8 || r.Sessions.Count != 2 || r.Sessions.Turns != 4 {
		t.Fatalf("%d requests, %+v", len(r.Records), r.Sessions)
	}
	for i, q := range r.Records {
		turn := i % 4
		if want := 130 + 30*turn; q.Input != want || q.Output != 10 {
			t.Errorf("turn %d: %d and %d tokens, want %d and 10", turn, q.Input, q.Output, want)
		}
		cached := 0
		switch {
		case turn > 0: // all but the last token of what was said before
			cached = (130 + 30*(turn-1) + 10 - 1) / 16 * 16
		case i > 0: // the system prompt
			cached = 100 / 16 * 16
		}
		if q.Cached != cached {
			t.Errorf("request %d: %d tokens cached, want %d", i, q.Cached, cached)
		}
		if turn > 0 {
			before := r.Records[i-1]
			near(t, "next turn", before.Arrival+before.Latency, q.Arrival)
		}
	}
	lasts := func(i int) units.Seconds {
		return r.Records[i+3].Arrival + r.Records[i+3].Latency - r.Records[i].Arrival
	}
	near(t, "sessions", (lasts(0)+lasts(4))/2, r.Sessions.Latency.Mean)
	near(t, "without thinking", r.Sessions.Latency.Mean, r.Sessions.Working.Mean)
}

// TestMeans: the means of a session are those of its requests.
func TestMeans(t *testing.T) {
	x := &workload.Session{System: 512, Turns: 9, MinTurns: 2, First: 300, User: 120, Output: 80, LengthLow: 0.5, Think: 1}
	e := vllm()
	e.PrefixCache, e.Blocks, e.BlockTokens = true, 1<<22, 1
	r := ran(t, &Config{Client: traffic.OpenLoop{Requests: 4000, Rate: 1, Mix: traffic.Mix{{Share: 1, Session: x}}}, Workers: Pool{Engine: e, Stepper: h100()}, Seed: 1})
	input, output, cached := x.Means()
	for what, v := range map[string][2]float64{
		"input": {input, r.InputRate / r.RequestRate}, "output": {output, r.OutputRate / r.RequestRate}, "cached": {cached / input, r.CachedShare},
		"turns": {x.MeanTurns(), float64(r.Requests) / 4000},
	} {
		if math.Abs(v[1]/v[0]-1) > 0.02 {
			t.Errorf("%s: want %.1f, got %.1f", what, v[0], v[1])
		}
	}
}

// TestSteadySessions: in steady state the load is that of all turns, Little's law holds, and contents that nobody has are used again.
func TestSteadySessions(t *testing.T) {
	x := &workload.Session{System: 1024, Turns: 8, MinTurns: 3, First: 400, User: 120, Output: 200, LengthLow: 0.5, Think: 5}
	e := vllm()
	e.PrefixCache, e.Blocks = true, 8000
	for _, client := range []traffic.Client{
		traffic.OpenLoop{Requests: 1, Rate: 0.8, Mix: traffic.Mix{{Share: 1, Session: x}}}, traffic.ClosedLoop{Requests: 1, Concurrency: 60, Mix: traffic.Mix{{Share: 1, Session: x}}},
	} {
		c := &Config{Client: client, Workers: Pool{Replicas: 2, Routing: LLMD, Engine: e, Stepper: h100()}, Seed: 3, Steady: &statistics.Steady{}}
		s, err := newSimulation(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := s.result()
		if !r.Sampling.Steady() {
			t.Fatalf("ended %s", r.Sampling.Ended)
		}
		if _, open := client.(traffic.OpenLoop); open && math.Abs(r.RequestRate/(0.8*5.5)-1) > 1e-9 {
			t.Errorf("want %v requests/s, got %v", 0.8*5.5, r.RequestRate)
		}
		if l := r.RequestRate * float64(r.Latency.Mean); math.Abs(r.InFlight.Mean/l-1) > 0.01 {
			t.Errorf("%v in flight, rate times latency is %v", r.InFlight.Mean, l)
		}
		if r.Workers.Evictions == 0 || r.Sessions.Count == 0 {
			t.Errorf("%d evictions, %d sessions", r.Workers.Evictions, r.Sessions.Count)
		}
		if n := s.source.NumberedContents(); n > r.Sessions.Count/2 {
			t.Errorf("%d contents numbered for more than %d sessions: none is used again", n, r.Sessions.Count)
		}
	}
}

// TestRouters: where sessions are spread over replicas, routers that know prefixes find more of them than round robin.
func TestRouters(t *testing.T) {
	x := &workload.Session{System: 1024, Turns: 8, First: 400, User: 120, Output: 100, Think: 2}
	e := vllm()
	e.PrefixCache = true
	share := map[Routing]float64{}
	for routing := range Routing(len(RoutingNames())) {
		r := ran(t, &Config{
			Client:  traffic.OpenLoop{Requests: 300, Rate: 4, Mix: traffic.Mix{{Share: 1, Session: x}}},
			Workers: Pool{Replicas: 4, Routing: routing, Engine: e, Stepper: h100()}, Seed: 1,
		})
		share[routing] = r.CachedShare
	}
	for _, routing := range []Routing{BySession, ByPrefix, LLMD, Dynamo, SGLang} {
		if share[routing] < share[RoundRobin]+0.05 {
			t.Errorf("%v finds %.2f of the prompts, round robin %.2f", routing, share[routing], share[RoundRobin])
		}
	}
}

// TestHostTier: what does not fit on the device is loaded instead of computed, and a step lasts as long as its loads.
func TestHostTier(t *testing.T) {
	x := &workload.Session{Turns: 6, First: 2000, User: 200, Output: 50, Think: 30}
	e := vllm()
	e.PrefixCache, e.Blocks = true, 1000
	run := func(tier server.Tier) *statistics.Result {
		e.Host = tier
		return ran(t, &Config{Client: traffic.ClosedLoop{Requests: 100, Concurrency: 20, Mix: traffic.Mix{{Share: 1, Session: x}}}, Workers: Pool{Engine: e, Stepper: h100()}, Seed: 1})
	}
	without, fast, slow := run(server.Tier{}), run(server.Tier{Blocks: 10_000, BytesPerToken: 1 << 17, Bandwidth: 50e9}), run(server.Tier{Blocks: 10_000, BytesPerToken: 1 << 17, Bandwidth: 1e8})
	if without.HostShare != 0 || fast.HostShare < 0.3 || fast.CachedShare < without.CachedShare+0.3 {
		t.Errorf("shares %.2f without, %.2f with, %.2f of it on the host", without.CachedShare, fast.CachedShare, fast.HostShare)
	}
	if !(fast.TTFT.Mean < without.TTFT.Mean && without.TTFT.Mean < slow.TTFT.Mean) {
		t.Errorf("TTFT %v without, %v with a fast tier, %v with a slow one", without.TTFT.Mean, fast.TTFT.Mean, slow.TTFT.Mean)
	}
	if fast.Workers.Spared <= fast.Workers.Loading || slow.Workers.Spared >= slow.Workers.Loading {
		t.Errorf("fast: %v loading spares %v; slow: %v spares %v", fast.Workers.Loading, fast.Workers.Spared, slow.Workers.Loading, slow.Workers.Spared)
	}
}

// TestRoutingNames: names are read as they are written.
func TestRoutingNames(t *testing.T) {
	for i, name := range RoutingNames() {
		if r, ok := RoutingNamed(name); !ok || r != Routing(i) || fmt.Sprint(r) != name {
			t.Errorf("%s: %v %t", name, r, ok)
		}
	}
	if _, ok := RoutingNamed("random"); ok {
		t.Error("random is no routing")
	}
}
