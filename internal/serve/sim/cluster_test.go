package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

func run(tb testing.TB, c *Config) *statistics.Result {
	tb.Helper()
	r, err := Run(context.Background(), c)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// TestTransfer follows two requests by hand through a prefill and a decode
// replica: the link carries the second cache after the first, and the second
// request joins the first in the step after it arrives.
func TestTransfer(t *testing.T) {
	engine := server.Engine{Policy: server.DecodeFirst, TokenBudget: 100, MaxSequences: 10, Blocks: 100, BlockTokens: 16}
	prefill := server.StepFunc(func(b server.Batch) units.Seconds { return units.Seconds(b.PrefillTokens) * 0.001 })
	decode := server.StepFunc(func(b server.Batch) units.Seconds { return 0.1 * units.Seconds(b.Decode) })
	r := run(t, &Config{
		Client:  traffic.ClosedLoop{Requests: 2, Concurrency: 2, Input: traffic.Lengths{Tokens: 100}, Output: traffic.Lengths{Tokens: 4}},
		Workers: Pool{Engine: engine, Stepper: prefill}, Decode: &Pool{Engine: engine, Stepper: decode},
		Link: server.Link{BytesPerToken: 10, Bandwidth: 5000, Latency: 0.05}, Records: true,
	})
	// Prompts end at 0.1 and 0.2; 1000 bytes take 0.2 s: caches arrive at 0.35
	// and 0.55. The first decodes alone until 0.45 and 0.55, then both together
	// at 0.75; its third token is its last. The other goes on alone.
	for i, want := range []struct{ first, end units.Seconds }{{0.35, 0.75}, {0.55, 0.95}} {
		near(t, "first token", want.first, r.Records[i].TTFT)
		near(t, "end", want.end, r.Records[i].Latency)
	}
	if r.Decode.PrefillSteps != 0 || r.Workers.Steps != 2 || r.Decode.Steps != 5 {
		t.Errorf("steps: %+v, %+v", r.Workers, *r.Decode)
	}
}

// TestParallelLinks: caches that travel side by side arrive when each is through, a short one
// before a long one that left earlier.
func TestParallelLinks(t *testing.T) {
	engine := server.Engine{Policy: server.DecodeFirst, TokenBudget: 100, MaxSequences: 10, Blocks: 100, BlockTokens: 16}
	trace := &traffic.Trace{BlockTokens: 16}
	for _, tokens := range []int{100, 10, 10} {
		trace.Requests = append(trace.Requests, workload.Request{Input: tokens, Output: 2})
	}
	r := run(t, &Config{
		Client:  trace,
		Workers: Pool{Engine: engine, Stepper: server.StepFunc(func(server.Batch) units.Seconds { return 0.1 })},
		Decode:  &Pool{Engine: engine, Stepper: server.StepFunc(func(server.Batch) units.Seconds { return 0.001 })},
		Link:    server.Link{BytesPerToken: 10, Bandwidth: 1000, Parallel: 2}, Records: true,
	})
	// Prompts end at 0.1, 0.2 and 0.2 and take the links for 1, 0.1 and 0.1 s.
	for i, want := range []units.Seconds{1.1, 0.3, 0.4} {
		near(t, "first token", want, r.Records[i].TTFT)
	}
}

// TestFirstTokenWaits: the client sees nothing until the decode replica takes the
// request, which has room for one.
func TestFirstTokenWaits(t *testing.T) {
	engine := server.Engine{Policy: server.InFlight, TokenBudget: 100, MaxSequences: 10, Blocks: 100, BlockTokens: 16}
	single := engine
	single.MaxSequences = 1
	r := run(t, &Config{
		Client:  traffic.ClosedLoop{Requests: 2, Concurrency: 2, Input: traffic.Lengths{Tokens: 50}, Output: traffic.Lengths{Tokens: 5}},
		Workers: Pool{Engine: engine, Stepper: server.StepFunc(func(server.Batch) units.Seconds { return 0.1 })},
		Decode:  &Pool{Engine: single, Stepper: server.StepFunc(func(server.Batch) units.Seconds { return 0.2 })}, Records: true,
	})
	// Both prompts end at 0.1; four further tokens take 0.8.
	for i, want := range []units.Seconds{0.1, 0.9} {
		near(t, "first token", want, r.Records[i].TTFT)
		near(t, "time per token", 0.2, r.Records[i].TPOT)
	}
}

// TestHeldTokens: a client sees the first of the tokens held back when the last of
// them is there; nothing ends later, and where prompts are computed too nothing is
// held back.
func TestHeldTokens(t *testing.T) {
	engine := server.Engine{Policy: server.PrefillFirst, TokenBudget: 100, MaxSequences: 10, Blocks: 100, BlockTokens: 16}
	holding := engine
	holding.Held = 10
	step := server.StepFunc(func(server.Batch) units.Seconds { return 0.1 })
	client := traffic.ClosedLoop{Requests: 1, Concurrency: 1, Input: traffic.Lengths{Tokens: 50}, Output: traffic.Lengths{Tokens: 41}}
	for _, c := range []struct {
		decode    *Pool
		workers   server.Engine
		ttft, end units.Seconds
	}{
		{&Pool{Engine: engine, Stepper: step}, engine, 0.1, 4.1},
		{&Pool{Engine: holding, Stepper: step}, engine, 1.1, 4.1},
		{nil, holding, 0.1, 4.1},
	} {
		r := run(t, &Config{Client: client, Workers: Pool{Engine: c.workers, Stepper: step}, Decode: c.decode, Records: true})
		near(t, "first token", c.ttft, r.Records[0].TTFT)
		near(t, "end", c.end, r.Records[0].Latency)
		near(t, "time per token", (c.end-c.ttft)/40, r.Records[0].TPOT)
	}
	short := client
	short.Output.Tokens = 5
	r := run(t, &Config{Client: short, Workers: Pool{Engine: engine, Stepper: step}, Decode: &Pool{Engine: holding, Stepper: step}, Records: true})
	near(t, "all of a short answer", r.Records[0].Latency, r.Records[0].TTFT)
}

// TestDecodePoolRecomputes: a decode replica that runs out of blocks preempts,
// and prefills itself what it had.
func TestDecodePoolRecomputes(t *testing.T) {
	engine := server.Engine{Policy: server.DecodeFirst, TokenBudget: 100, MaxSequences: 10, Blocks: 100, BlockTokens: 16}
	small := engine
	small.Blocks = 16
	r := run(t, &Config{
		Client:  traffic.ClosedLoop{Requests: 2, Concurrency: 2, Input: traffic.Lengths{Tokens: 100}, Output: traffic.Lengths{Tokens: 80}},
		Workers: Pool{Engine: engine, Stepper: h100()}, Decode: &Pool{Engine: small, Stepper: h100()},
	})
	if r.Finished != 2 || r.Decode.Preemptions == 0 || r.Decode.PrefillSteps == 0 || r.Workers.Preemptions != 0 {
		t.Errorf("workers %+v, decode %+v", r.Workers, *r.Decode)
	}
}

// TestPrefix follows contents through a small cache.
func TestPrefix(t *testing.T) {
	engine := server.Engine{Policy: server.DecodeFirst, TokenBudget: 1000, MaxSequences: 10, Blocks: 12, BlockTokens: 16, PrefixCache: true}
	ask := func(at units.Seconds, input int, blocks ...uint32) workload.Request {
		return workload.Request{Arrival: at, Input: input, Output: 2, Blocks: blocks}
	}
	r := run(t, &Config{
		Client: &traffic.Trace{BlockTokens: 32, Requests: []workload.Request{
			ask(0, 80, 0, 1, 2),    // learns 0 and 1; 2 is half a block
			ask(10, 64, 0, 1),      // finds 0; 1 would leave nothing to compute
			ask(20, 100, 0, 1, 3),  // finds 0 and 1, learns 3
			ask(30, 150, 4, 5, 6),  // takes ten of twelve blocks: 3 and then 1 are evicted
			ask(40, 100, 0, 1, 3),  // finds 0
			ask(50, 20),            // is about something else
			ask(50, 33, 0),         // finds 0
			ask(50, 33, 0),         // shares it
			ask(60, 1000, 0, 1, 3), // can never fit
		}},
		Workers: Pool{Engine: engine, Stepper: h100()}, Records: true,
	})
	for i, want := range []int{0, 32, 64, 0, 32, 0, 32, 32, 0} {
		if got := r.Records[i].Cached; got != want {
			t.Errorf("request %d: want %d tokens cached, got %d", i, want, got)
		}
	}
	if !r.Records[8].Refused || r.Refused != 1 {
		t.Errorf("the last must be refused: %+v", r.Records[8])
	}
}

// TestReadAgain: of a beginning that three requests share, two read it at a part of the time.
func TestReadAgain(t *testing.T) {
	most := func(again float64) float64 {
		engine := server.Engine{Policy: server.DecodeFirst, TokenBudget: 1000, MaxSequences: 10, Blocks: 100, BlockTokens: 16, PrefixCache: true, CachedReadRatio: again}
		var most float64
		price := server.StepFunc(func(b server.Batch) units.Seconds {
			if b.Decode == 3 {
				most = max(most, b.DecodeContext)
			}
			return 0.1
		})
		ask := workload.Request{Input: 70, Output: 9, Blocks: []uint32{0, 1}}
		run(t, &Config{Client: &traffic.Trace{BlockTokens: 32, Requests: []workload.Request{ask, ask, ask}}, Workers: Pool{Engine: engine, Stepper: price}})
		return most
	}
	whole := most(0)
	if whole < 3*70 || most(1) != whole {
		t.Errorf("three of 70 tokens read %g, and %g", whole, most(1))
	}
	if got, want := most(0.6), whole-0.4*2*64; math.Abs(got-want) > 1e-9 {
		t.Errorf("want %g of %g tokens read, got %g", want, whole, got)
	}
}

// TestRouting: the least loaded replica gets the next request, the first among
// equals.
func TestRouting(t *testing.T) {
	engine := server.Engine{Policy: server.InFlight, TokenBudget: 100, MaxSequences: 10, Blocks: 100, BlockTokens: 16}
	trace := &traffic.Trace{}
	for i, output := range []int{50, 5, 5, 5, 5} {
		trace.Requests = append(trace.Requests, workload.Request{Arrival: units.Seconds(i), Input: 10, Output: output})
	}
	step := server.StepFunc(func(server.Batch) units.Seconds { return 0.1 })
	for routing, want := range map[Routing][]int{RoundRobin: {0, 1, 0, 1, 0}, LeastLoaded: {0, 1, 1, 1, 1}} {
		r := run(t, &Config{
			Client: trace, Records: true,
			Workers: Pool{Replicas: 2, Routing: routing, Engine: engine, Stepper: step},
		})
		for i := range want {
			if got := r.Records[i].Worker; got != want[i] {
				t.Errorf("%v: request %d: want replica %d, got %d", routing, i, want[i], got)
			}
		}
	}
}

// TestSpeculation: with twice the tokens per step, the same steps take half the
// time.
func TestSpeculation(t *testing.T) {
	config := &Config{
		Client:  traffic.ClosedLoop{Requests: 1, Concurrency: 1, Input: traffic.Lengths{Tokens: 10}, Output: traffic.Lengths{Tokens: 101}},
		Workers: Pool{Engine: vllm(), Stepper: server.StepFunc(func(server.Batch) units.Seconds { return 0.01 })},
	}
	for accepted, want := range map[float64]units.Seconds{1: 0.01, 2: 0.005, 2.5: 0.004} {
		config.Workers.Engine.AcceptedPerStep = accepted
		near(t, "time per token", want, run(t, config).TPOT.Mean)
	}
}

// TestGoodput: limits split the requests.
func TestGoodput(t *testing.T) {
	config := &Config{Client: closed(16), Workers: Pool{Engine: vllm(), Stepper: h100()}, Records: true}
	all := run(t, config)
	if all.GoodShare != 1 || all.GoodRate != all.RequestRate {
		t.Errorf("without limits all are good: %g", all.GoodShare)
	}
	config.Limits = workload.Limits{TTFT: all.TTFT.P90, TPOT: all.TPOT.Max, Latency: all.Latency.Max}
	if share := run(t, config).GoodShare; share < 0.88 || share > 0.92 {
		t.Errorf("limit at p90: %g are good", share)
	}
	if got := all.OutputRate * float64(all.Duration); got < 160*820 || got > 160*1024 {
		t.Errorf("%g tokens", got)
	}
}

// TestNames: settings print as words, and what is no setting as a number.
func TestNames(t *testing.T) {
	got := fmt.Sprint(server.DecodeFirst, server.PrefillFirst, server.InFlight, server.Policy(7), traffic.Poisson, traffic.Gamma, traffic.Constant, traffic.Process(7), RoundRobin, LeastLoaded, Routing(7))
	want := "decode-first prefill-first in-flight policy 7 poisson gamma constant process 7 round-robin least-loaded routing 7"
	if got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestCancelled: a long simulation stops when asked to.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := closed(4)
	c.Requests = 100_000
	if _, err := Run(ctx, &Config{Client: c, Workers: Pool{Engine: vllm(), Stepper: h100()}}); err == nil {
		t.Error("want an error")
	}
}

// TestGolden shows small runs of every kind.
func TestGolden(t *testing.T) {
	small := traffic.ClosedLoop{
		Requests: 12, Concurrency: 4, Warmup: 2, Think: 1e-3,
		Input: traffic.Lengths{Tokens: 2048, Low: 0.5}, Output: traffic.Lengths{Tokens: 128, Low: 0.5},
	}
	open := traffic.OpenLoop{
		Rate: 8, Process: traffic.Gamma, Variation: 2, Requests: 12,
		Input: traffic.Lengths{Tokens: 2048, Low: 0.5}, Output: traffic.Lengths{Tokens: 128, Low: 0.5},
	}
	for name, c := range map[string]*Config{
		"decode-first":  {Client: small, Workers: Pool{Engine: vllm(), Stepper: h100()}},
		"prefill-first": {Client: small, Workers: Pool{Engine: sglang(), Stepper: h100()}},
		"in-flight":     {Client: small, Workers: Pool{Engine: trtllm(), Stepper: h100()}},
		"replicas":      {Client: open, Workers: Pool{Replicas: 2, Routing: LeastLoaded, Engine: vllm(), Stepper: h100()}},
		"disaggregated": {
			Client: open, Workers: Pool{Replicas: 2, Engine: sglang(), Stepper: h100()}, Decode: &Pool{Engine: sglang(), Stepper: h100()},
			Link: server.Link{BytesPerToken: 160_000, Bandwidth: 25e9, Latency: 2e-3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.Seed, c.Records = 1, true
			c.Limits = workload.Limits{TTFT: 0.5}
			r := run(t, c)
			var out bytes.Buffer
			if err := statistics.WriteCSV(&out, r.Records); err != nil {
				t.Fatal(err)
			}
			r.Records, r.Series = nil, nil
			text, err := json.MarshalIndent(r, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "\n%s\n", text)
			golden.Check(t, "testdata/"+name+".golden", out.Bytes())
		})
	}
}

// TestSeries: a long run is shown in at most 512 points, evenly spaced, and the
// queue in it is that of a burst that is worked off.
func TestSeries(t *testing.T) {
	c := closed(64)
	engine := vllm()
	engine.MaxSequences = 16
	r := run(t, &Config{Client: c, Workers: Pool{Engine: engine, Stepper: h100()}})
	if n := len(r.Series); n < 200 || n >= 512 {
		t.Fatalf("%d points", n)
	}
	for i, p := range r.Series {
		near(t, "time of a point", r.Series[1].At*units.Seconds(i), p.At)
		if p.Running > 16 || p.Waiting+p.Running > 64 || p.KV < 0 || p.KV > 1 {
			t.Fatalf("not sound: %+v", p)
		}
	}
	if p := r.Series[len(r.Series)/2]; p.Waiting < 44 || p.Running < 15 {
		t.Errorf("in the middle: %+v", p)
	}
}

// TestCancelledBefore: a cancelled run does not begin.
func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &Config{Client: closed(4), Workers: Pool{Engine: vllm(), Stepper: h100()}}
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
