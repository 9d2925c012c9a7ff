package sim

import (
	"math"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// anyEngine draws settings, tight ones more often than not.
func anyEngine(t *rapid.T, name string) server.Engine {
	g := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, name+what) }
	e := server.Engine{
		Policy:          server.Policy(g(0, 2, "policy")),
		TokenBudget:     g(1, 120, "budget"),
		MaxSequences:    g(1, 12, "sequences"),
		Stages:          rapid.SampledFrom([]int{0, 1, 1, 2, 4}).Draw(t, name+"stages"),
		BatchSequences:  rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, name+"batch sequences"),
		BlockTokens:     rapid.SampledFrom([]int{1, 2, 4, 16}).Draw(t, name+"block"),
		ReservePrompt:   rapid.Bool().Draw(t, name+"reserve prompt"),
		Chunked:         rapid.Bool().Draw(t, name+"chunked"),
		Reserve:         rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, name+"reserve"),
		PrefillAhead:    rapid.Bool().Draw(t, name+"prefill ahead"),
		Overlapped:      rapid.Bool().Draw(t, name+"overlapped"),
		ReceiveInterval: rapid.SampledFrom([]int{0, 1, 3, 7}).Draw(t, name+"receive"),
		BatchWaitSteps:  rapid.SampledFrom([]int{0, 2, 9}).Draw(t, name+"batch wait"),
		BatchWaitRatio:  rapid.Float64Range(0, 1).Draw(t, name+"ratio"),
		RankWaitSteps:   rapid.SampledFrom([]int{0, 3, 11}).Draw(t, name+"rank wait"),
		RankFill:        rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, name+"rank fill"),
		RankStallSteps:  rapid.SampledFrom([]int{0, 2, 5}).Draw(t, name+"rank stall"),
		Ranks:           rapid.SampledFrom([]int{0, 1, 2, 4}).Draw(t, name+"ranks"),
		AcceptedPerStep: rapid.SampledFrom([]float64{0, 1, 1.75, 2, 3.125}).Draw(t, name+"accepted"),
		VerifiedPerStep: g(0, 3, "verified"),
		APIFixed:        tick * units.Seconds(rapid.SampledFrom([]float64{0, 206_361}).Draw(t, name+"api")),
		APIPerToken:     tick * units.Seconds(rapid.SampledFrom([]float64{0, 11_912}).Draw(t, name+"api per token")),
		First:           tick * units.Seconds(rapid.SampledFrom([]float64{0, 838_861}).Draw(t, name+"first")),
	}
	e.Blocks = g(40, 400, "tokens")/e.BlockTokens + 1
	return e
}

// tick divides all times drawn, and steps gain eighths of tokens: sums of them
// are exact, so that events at the same time stay so whatever the order of
// adding up.
const tick units.Seconds = 1.0 / (1 << 24)

func anyStepper(t *rapid.T, name string) server.Stepper {
	x := func(what string, high int) units.Seconds {
		return units.Seconds(rapid.IntRange(0, high).Draw(t, name+what)) * tick
	}
	return affine{
		fixed: 160_003*tick + x("fixed", 160_000), prefill: x("prefill", 160_000), token: x("token", 16_000),
		pair: x("pair", 160), request: x("request", 32_000), read: x("read", 1600),
		slowest: units.Seconds(rapid.SampledFrom([]float64{0, 0.375, 1}).Draw(t, name+"slowest")),
	}
}

func anyLengths(t *rapid.T, name string, longest int) traffic.Lengths {
	return traffic.Lengths{
		Tokens: rapid.IntRange(1, longest).Draw(t, name),
		Low:    rapid.SampledFrom([]float64{0, 0.2, 0.8}).Draw(t, name+" low"),
	}
}

func anyClient(t *rapid.T) traffic.Client {
	input, output := anyLengths(t, "input", 150), anyLengths(t, "output", 60)
	n := rapid.IntRange(1, 40).Draw(t, "requests")
	switch rapid.IntRange(0, 2).Draw(t, "client") {
	case 0:
		return traffic.ClosedLoop{
			Requests: n, Concurrency: rapid.IntRange(1, 15).Draw(t, "concurrency"), Input: input, Output: output,
			Spread: tick * units.Seconds(rapid.SampledFrom([]float64{0, 13_035_899}).Draw(t, "spread")),
			Think:  tick * units.Seconds(rapid.SampledFrom([]float64{0, 531_838}).Draw(t, "think")),
		}
	case 1:
		return traffic.OpenLoop{
			Requests: n, Rate: rapid.Float64Range(0.3, 60).Draw(t, "rate"), Input: input, Output: output,
			Process: traffic.Process(rapid.IntRange(0, 2).Draw(t, "process")), Variation: rapid.Float64Range(0.2, 4).Draw(t, "variation"),
		}
	default:
		return anyTrace(t, n)
	}
}

// anyTrace draws prompts that share beginnings: a tree of contents.
func anyTrace(t *rapid.T, n int) *traffic.Trace {
	trace := &traffic.Trace{BlockTokens: rapid.SampledFrom([]int{8, 16, 32}).Draw(t, "content tokens")}
	children := map[[2]uint32]uint32{}
	at := units.Seconds(0)
	for range n {
		at += units.Seconds(rapid.Float64Range(0, 0.3).Draw(t, "gap"))
		q := workload.Request{
			Arrival: at, Input: rapid.IntRange(1, 150).Draw(t, "prompt"), Output: rapid.IntRange(1, 50).Draw(t, "answer"),
		}
		parent := uint32(math.MaxUint32)
		for range (q.Input + trace.BlockTokens - 1) / trace.BlockTokens {
			key := [2]uint32{parent, uint32(rapid.IntRange(0, 1).Draw(t, "branch"))}
			child, known := children[key]
			if !known {
				child = uint32(len(children))
				children[key] = child
			}
			q.Blocks = append(q.Blocks, child)
			parent = child
		}
		trace.Requests = append(trace.Requests, q)
	}
	return trace
}

// anyConfig draws a cluster.
func anyConfig(t *rapid.T) *Config {
	pool := func(name string) Pool {
		return Pool{
			Replicas: rapid.IntRange(1, 3).Draw(t, name+"replicas"), Routing: Routing(rapid.IntRange(0, int(SGLang)).Draw(t, name+"routing")),
			Engine: anyEngine(t, name), Stepper: anyStepper(t, name),
		}
	}
	c := &Config{Client: anyClient(t), Workers: pool(""), Seed: rapid.Uint64().Draw(t, "seed"), Records: true}
	if rapid.Bool().Draw(t, "sessions") {
		c.Client = anySessions(t)
		c.Workers.Engine.PrefixCache = rapid.Bool().Draw(t, "remembered")
	}
	begins := rapid.SampledFrom([]int{0, 1, 20, 100}).Draw(t, "common prefix")
	switch client := c.Client.(type) {
	case traffic.ClosedLoop:
		if client.Mix != nil {
			break
		}
		client.Prefix = min(begins, client.Input.Shortest()-1)
		c.Client = client
	case traffic.OpenLoop:
		if client.Mix != nil {
			break
		}
		client.Prefix = min(begins, client.Input.Shortest()-1)
		c.Client = client
	}
	if _, trace := c.Client.(*traffic.Trace); !converses(c.Client) && (trace || begins > 0) {
		c.Workers.Engine.PrefixCache = rapid.Bool().Draw(t, "prefix")
	}
	c.Workers.Engine.Host = anyTier(t)
	if rapid.Bool().Draw(t, "disaggregated") {
		decode := pool("decode ")
		c.Decode = &decode
		c.Link = server.Link{BytesPerToken: 1000, Bandwidth: units.BytesPerSecond(rapid.Float64Range(1e5, 1e8).Draw(t, "bandwidth")), Latency: 0.00191, Parallel: rapid.IntRange(0, 3).Draw(t, "parallel")}
	}
	return c
}

// anyTier draws a host tier whose times are whole ticks.
func anyTier(t *rapid.T) server.Tier {
	return server.Tier{
		Blocks: rapid.IntRange(0, 60).Draw(t, "host blocks"), BytesPerToken: units.Bytes(rapid.SampledFrom([]int{0, 1000, 100_000}).Draw(t, "host bytes")),
		Bandwidth: units.BytesPerSecond(rapid.SampledFrom([]float64{0, 1 << 24}).Draw(t, "host bandwidth")),
	}
}

// anySession draws sessions, some of one turn.
func anySession(t *rapid.T) *workload.Session {
	turns := rapid.IntRange(1, 5).Draw(t, "turns")
	return &workload.Session{
		System: rapid.IntRange(0, 50).Draw(t, "system"), Turns: turns, MinTurns: rapid.IntRange(0, turns).Draw(t, "least turns"),
		First: rapid.IntRange(1, 60).Draw(t, "first"), User: rapid.IntRange(1, 30).Draw(t, "user"), Output: rapid.IntRange(1, 30).Draw(t, "answer"),
		LengthLow: rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "low"), Think: units.Seconds(rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "think")),
	}
}

// anySessions draws a client of sessions, alone or beside requests.
func anySessions(t *rapid.T) traffic.Client {
	mix := traffic.Mix{{Share: 1, Session: anySession(t)}}
	switch rapid.IntRange(0, 2).Draw(t, "beside") {
	case 1:
		mix = append(mix, traffic.Kind{Share: 0.5, Input: traffic.Lengths{Tokens: 40}, Output: traffic.Lengths{Tokens: 9}})
	case 2:
		mix = append(mix, traffic.Kind{Share: 2, Session: anySession(t)})
	}
	n := rapid.IntRange(1, 15).Draw(t, "sessions begun")
	if rapid.Bool().Draw(t, "closed") {
		return traffic.ClosedLoop{Requests: n, Concurrency: rapid.IntRange(1, 8).Draw(t, "concurrency"), Mix: mix}
	}
	return traffic.OpenLoop{Requests: n, Rate: rapid.Float64Range(0.3, 20).Draw(t, "rate"), Mix: mix}
}

func converses(c traffic.Client) bool {
	closed, _ := c.(traffic.ClosedLoop)
	open, _ := c.(traffic.OpenLoop)
	return closed.Mix != nil || open.Mix != nil
}

// apart lets no two sessions go on at the same time: whose turn would be first depends on when the ends of steps were planned.
func apart(c traffic.Client) {
	closed, _ := c.(traffic.ClosedLoop)
	open, _ := c.(traffic.OpenLoop)
	for _, k := range append(closed.Mix, open.Mix...) {
		if k.Session != nil {
			k.Session.Think = 0.5
		}
	}
}
