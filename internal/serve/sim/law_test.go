package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// TestAgreesWithNaive: every request starts and ends when the simulator that
// takes every step says so.
func TestAgreesWithNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &Config{
			Client: anyClient(t), Workers: Pool{Engine: anyEngine(t, ""), Stepper: anyStepper(t, "")},
			Seed: rapid.Uint64().Draw(t, "seed"), Records: true,
		}
		if e := &c.Workers.Engine; e.Stages > 1 {
			e.PrefillAhead = false // naive does not know which batch has whose turn
		}
		if _, trace := c.Client.(*traffic.Trace); !trace { // whose prompts may begin alike
			c.Workers.Engine.PrefixCache = rapid.Bool().Draw(t, "prefix cache")
		}
		got, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		n := newNaive(c)
		n.run()
		for i, want := range n.all {
			r := got.Records[i]
			if r.Refused != (want.first == 0) {
				t.Fatalf("request %d: refused %t", i, r.Refused)
			}
			if r.Refused {
				continue
			}
			near(t, fmt.Sprintf("request %d: first token", i), want.first-want.arrived+c.Workers.Engine.First, r.TTFT)
			near(t, fmt.Sprintf("request %d: end", i), want.end-want.arrived+c.Workers.Engine.First, r.Latency)
			if r.Preempted != want.preempted {
				t.Fatalf("request %d: want %d preemptions, got %d", i, want.preempted, r.Preempted)
			}
		}
	})
}

func near(t rapid.TB, what string, want, got units.Seconds) {
	t.Helper()
	if diff := math.Abs(float64(want - got)); !(diff <= 1e-9*max(1, math.Abs(float64(want)))) {
		t.Fatalf("%s: want %.12g, got %.12g", what, float64(want), float64(got))
	}
}

// TestJumpsAreSteps: taking every step by itself changes nothing, in clusters
// of any kind.
func TestJumpsAreSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t)
		if c.Workers.Routing > BySession {
			c.Workers.Replicas = 1 // routers see the caches as of the last run that has ended
		}
		apart(c.Client)
		jumps, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.single = true
		steps, err := runAll(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range steps.Records {
			got := jumps.Records[i]
			near(t, fmt.Sprintf("request %d: first token", i), want.TTFT, got.TTFT)
			near(t, fmt.Sprintf("request %d: end", i), want.Latency, got.Latency)
		}
		if jumps.Workers.Steps != steps.Workers.Steps {
			t.Errorf("want %d steps, got %d", steps.Workers.Steps, jumps.Workers.Steps)
		}
		if jumps.ITL.Count != steps.ITL.Count {
			t.Errorf("want %d gaps, got %d", steps.ITL.Count, jumps.ITL.Count)
		}
		near(t, "mean gap", steps.ITL.Mean, jumps.ITL.Mean)
	})
}

// TestTurns: requests that wait for their turn with the first token out get it, and end, however little the cache holds.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t)
		e := &c.Workers.Engine
		if c.Decode != nil {
			e = &c.Decode.Engine
		}
		e.Policy, e.PrefillAhead, e.MaxSequences = server.PrefillFirst, true, rapid.IntRange(1, 2).Draw(t, "turns")
		e.BlockTokens = 16
		e.Blocks = rapid.IntRange(4, 8).Draw(t, "blocks")
		if _, err := Run(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	})
}

// TestConservation: requests in are requests out, blocks add up after every
// step, the clock never goes back.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t)
		c.audit = true
		r, err := runAll(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Finished+r.Refused != r.Requests || len(r.Records) != r.Requests {
			t.Fatalf("%d in, %d finished, %d refused", r.Requests, r.Finished, r.Refused)
		}
		for _, q := range r.Records {
			if !q.Refused && (q.TTFT <= 0 || q.Latency < q.TTFT || q.Cached >= q.Input) {
				t.Fatalf("not sound: %+v", q)
			}
		}
	})
}

// TestSameSeedSameBytes: nothing but the configuration decides.
func TestSameSeedSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t)
		var texts [2]bytes.Buffer
		for i := range texts {
			r, err := Run(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			if err := statistics.WriteCSV(&texts[i], r.Records); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			texts[i].Write(text)
		}
		if !bytes.Equal(texts[0].Bytes(), texts[1].Bytes()) {
			t.Fatal("two runs differ")
		}
	})
}

// TestSingleRequest: alone, a request takes the time of its steps.
func TestSingleRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEngine(t, "")
		e.AcceptedPerStep, e.Blocks, e.Stages = 1, 1000, 1
		step := anyStepper(t, "")
		input, output := rapid.IntRange(1, 150).Draw(t, "input"), rapid.IntRange(1, 60).Draw(t, "output")
		r, err := Run(context.Background(), &Config{
			Client:  traffic.ClosedLoop{Requests: 1, Concurrency: 1, Input: traffic.Lengths{Tokens: input}, Output: traffic.Lengths{Tokens: output}},
			Workers: Pool{Engine: e, Stepper: step},
		})
		if err != nil {
			t.Fatal(err)
		}
		first := e.First + e.APIFixed + e.APIPerToken*units.Seconds(input)
		for done := 0; done < input; {
			c := min(input-done, e.TokenBudget)
			if e.Policy == server.InFlight && !e.Chunked {
				c = input
			}
			b := server.Batch{
				PrefillRequests: 1, PrefillTokens: c, PrefillContext: done,
				PrefillPairs: float64(c) * (float64(done) + float64(c+1)/2),
			}
			if done += c; done == input {
				b.Sampled = 1
			}
			first += step.Step(b)
		}
		near(t, "first token", first, r.TTFT.Mean)
		last := first
		for i := range output - 1 {
			last += step.Step(server.Batch{Decode: 1, DecodeContext: float64(input + i), Sampled: 1})
		}
		near(t, "latency", last, r.Latency.Mean)
	})
}
