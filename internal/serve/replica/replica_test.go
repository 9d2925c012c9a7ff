package replica_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

func build(t testing.TB, id, system, engineName string, tp int) (*replica.Replica, error) {
	t.Helper()
	return buildLayout(t, id, system, engineName, parallel.Layout{Devices: tp, TP: tp})
}

// buildRanks builds data-parallel ranks with common experts, if there are any.
func buildRanks(t testing.TB, id string, dp int) (*replica.Replica, error) {
	t.Helper()
	return buildLayout(t, id, "b200_sxm", "vllm", parallel.Layout{Devices: dp, TP: 1, DP: dp, EP: dp})
}

func buildLayout(t testing.TB, id, system, engineName string, l parallel.Layout) (*replica.Replica, error) {
	t.Helper()
	return buildDrafts(t, id, system, engineName, l, 0, nil)
}

// buildDrafts builds a replica that drafts tokens, with its engine changed.
func buildDrafts(t testing.TB, id, system, engineName string, l parallel.Layout, mtp int, change func(*engine.Profile)) (*replica.Replica, error) {
	t.Helper()
	s, d, prices := specOf(t, id, system, l, mtp)
	e, err := engine.LookupVersion(engineName, "")
	if err != nil {
		t.Fatal(err)
	}
	on := *e.On(d, engine.Serving(s.Model, l.Devices, l.DP, s.MTP))
	if change != nil {
		change(&on)
	}
	return replica.New(&deployment.Served{Spec: s, Device: d, Engine: &on, Replicas: 1}, prices)
}

// specOf is a model on devices, and their prices.
func specOf(t testing.TB, id, system string, l parallel.Layout, mtp int) (graph.Spec, *device.Profile, *calibrated.Model) {
	t.Helper()
	m, err := model.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.Lookup(system)
	if err != nil {
		t.Fatal(err)
	}
	prices, ok := calibrated.New(d)
	if !ok {
		t.Fatalf("no prices for %s", system)
	}
	return graph.Spec{
		Model: m, Layout: l.Complete(m), Policy: graph.Physical(),
		Quant: graph.Resolve(m, graph.Physical(), graph.Actions{}), Compile: true, MTP: mtp,
	}, d, prices
}

// TestOnePrice: where the host costs nothing, a step of the simulation takes as
// long as the evaluator says of the same batch.
func TestOnePrice(t *testing.T) {
	l := parallel.Layout{Devices: 8, TP: 8, EP: 8}
	for id, mtp := range map[string]int{
		"deepseek-ai/DeepSeek-V3.2": 0, "deepseek-ai/DeepSeek-V3": 2, "openai/gpt-oss-120b": 0, "Qwen/Qwen3.5-397B-A17B": 1,
	} {
		r, err := buildDrafts(t, id, "b200_sxm", "vllm", l, mtp, func(e *engine.Profile) {
			e.Hosts, e.KVFormat = map[string]*engine.Terms{engine.Generic: {}}, dtype.None
		})
		if err != nil {
			t.Fatal(err)
		}
		s, _, prices := specOf(t, id, "b200_sxm", l, mtp)
		g, err := graph.New(s)
		if err != nil {
			t.Fatal(err)
		}
		e := step.New(g, prices)
		query := 1 + mtp
		for _, c := range []struct{ decode, context, prompts, tokens, cached int }{
			{decode: 32, context: 500},
			{decode: 200, context: 32768},
			{prompts: 1, tokens: 32768},
			{prompts: 3, tokens: 1500, cached: 4000},
			{decode: 64, context: 3000, prompts: 1, tokens: 8000, cached: 100},
		} {
			b := server.Batch{
				Decode: c.decode, DecodeContext: float64(c.decode * c.context),
				PrefillRequests: c.prompts, PrefillTokens: c.prompts * c.tokens, PrefillContext: c.prompts * c.cached,
				PrefillPairs: float64(c.prompts*c.tokens) * (float64(c.cached) + float64(c.tokens+1)/2),
			}
			var segments []graph.Segment
			if c.decode > 0 {
				segments = append(segments, graph.Segment{Requests: c.decode, Query: query, Seq: c.context + query, Decode: true})
			}
			if c.prompts > 0 {
				segments = append(segments, graph.Segment{Requests: c.prompts, Query: c.tokens, Seq: c.cached + c.tokens})
			}
			most := 0.005
			if c.decode*query+c.prompts*c.tokens <= 256 {
				most = 1e-9
			}
			want, got := e.Totals(graph.Batch{Segments: segments}).Time, r.Step(b)
			if math.Abs(float64(got/want)-1) > most {
				t.Errorf("%s, %+v: want %v, got %v", id, c, want, got)
			}
		}
	}
}

// buildPriced builds a replica on an H200 under vLLM with prices of one's own.
func buildPriced(t *testing.T, id string, l parallel.Layout, mtp int, prices cost.Coster) (*replica.Replica, error) {
	t.Helper()
	s, d, _ := specOf(t, id, "h200_sxm", l, mtp)
	e, err := engine.LookupVersion("vllm", "")
	if err != nil {
		t.Fatal(err)
	}
	return replica.New(&deployment.Served{Spec: s, Device: d, Engine: e.On(d, engine.Serving(s.Model, l.Devices, l.DP, s.MTP)), Replicas: 1}, prices)
}

// TestSteps: more of anything in a step never makes it shorter, and a step is
// never shorter than its parts alone.
func TestSteps(t *testing.T) {
	for id, engineName := range map[string]string{
		"Qwen/Qwen3-32B": "vllm", "openai/gpt-oss-120b": "trtllm", "deepseek-ai/DeepSeek-V3": "sglang", "Qwen/Qwen3.5-397B-A17B": "sglang",
	} {
		r, err := build(t, id, "b200_sxm", engineName, 8)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			draw := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
			b := server.Batch{Decode: 1 + draw("decode", 255)}
			b.DecodeContext = float64(b.Decode * draw("context", 8192))
			if n := draw("prefill", 4); n > 0 {
				c := 1 + draw("chunk", 4096)
				b.PrefillRequests, b.PrefillTokens = n, n*c
				b.PrefillPairs = float64(n) * float64(c) * float64(c+1) / 2
			}
			more := b
			more.Decode += draw("more", 64)
			more.DecodeContext += float64(draw("deeper", 100000))
			if a, z := r.Step(b), r.Step(more); z < a*(1-1e-9) || !(a > 0) || math.IsInf(float64(a), 0) {
				t.Errorf("%s: %+v takes %v, %+v takes %v", id, b, a, more, z)
			}
		})
	}
}

// TestDecodeRuns: a jump over many steps takes as long as the steps, nearly so
// where contexts outgrow a window on the way.
func TestDecodeRuns(t *testing.T) {
	const n, context, steps = 64, 64 * 700, 500
	for id, most := range map[string]float64{"Qwen/Qwen3-32B": 1e-3, "google/gemma-3-27b-it": 1e-2} {
		r, err := build(t, id, "h200_sxm", "vllm", 4)
		if err != nil {
			t.Fatal(err)
		}
		var sum units.Seconds
		for i := range steps {
			sum += r.Step(server.Batch{Decode: n, DecodeContext: context + float64(i*n), Sampled: n})
		}
		if got := r.Decode(n, context, n, steps); math.Abs(float64(got/sum)-1) > most {
			t.Errorf("%s: want %v, got %v", id, sum, got)
		}
	}
}

// TestOneRequest: a request alone takes its prefill and its decode steps.
func TestOneRequest(t *testing.T) {
	r, err := build(t, "Qwen/Qwen3-32B", "h200_sxm", "vllm", 4)
	if err != nil {
		t.Fatal(err)
	}
	res, err := sim.Run(context.Background(), &sim.Config{
		Client:  traffic.ClosedLoop{Requests: 1, Concurrency: 1, Input: traffic.Lengths{Tokens: 1000}, Output: traffic.Lengths{Tokens: 100}},
		Workers: r.Pool(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	prefill := r.Step(server.Batch{PrefillRequests: 1, PrefillTokens: 1000, PrefillPairs: 1000 * 1001 / 2, Sampled: 1})
	if res.TTFT.Mean < prefill || res.TTFT.Mean > prefill+50*units.Millisecond {
		t.Errorf("TTFT %v, the prefill step takes %v", res.TTFT.Mean, prefill)
	}
	decode := r.Decode(1, 1000, 1, 99) / 99
	if math.Abs(float64(res.TPOT.Mean/decode)-1) > 0.01 {
		t.Errorf("TPOT %v, a decode step takes %v", res.TPOT.Mean, decode)
	}
}

func TestTooLarge(t *testing.T) {
	if _, err := build(t, "deepseek-ai/DeepSeek-V3", "h100_sxm", "vllm", 2); !errors.Is(err, replica.ErrNoCache) {
		t.Errorf("want ErrNoCache, got %v", err)
	}
}

// TestDrafts: a step verifies what was drafted, and an engine that does not schedule
// ahead while drafting shows its host work.
func TestDrafts(t *testing.T) {
	pool := func(mtp int, overlapped bool) sim.Pool {
		t.Helper()
		l := parallel.Layout{Devices: 8, TP: 8}
		r, err := buildDrafts(t, "deepseek-ai/DeepSeek-V3", "h200_sxm", "vllm", l, mtp, func(e *engine.Profile) { e.MTP.Overlapped = overlapped })
		if err != nil {
			t.Fatal(err)
		}
		return r.Pool(1)
	}
	few := server.Batch{Decode: 4, DecodeContext: 4 * 1000, Sampled: 4}
	plain, drafts, waits := pool(0, false), pool(2, true), pool(2, false)
	if plain.Engine.VerifiedPerStep != 1 || drafts.Engine.VerifiedPerStep != 3 {
		t.Errorf("steps verify %d and %d tokens", plain.Engine.VerifiedPerStep, drafts.Engine.VerifiedPerStep)
	}
	a, b, c := plain.Stepper.Step(few), drafts.Stepper.Step(few), waits.Stepper.Step(few)
	if !(a < b && b < c) {
		t.Errorf("want a step to take longer with drafts and longest where the host waits: %v, %v, %v", a, b, c)
	}
}

// TestSplitBudget: ranks that share experts divide the token budget where the engine
// says so; those of a dense model are engines of their own.
func TestSplitBudget(t *testing.T) {
	for _, c := range []struct {
		id             string
		splits         bool
		replicas, want int
	}{
		{"openai/gpt-oss-120b", false, 1, 4 * 1000},
		{"openai/gpt-oss-120b", true, 1, 1000},
		{"Qwen/Qwen3-8B", false, 4, 1000},
		{"Qwen/Qwen3-8B", true, 4, 1000},
	} {
		l := parallel.Layout{Devices: 4, TP: 1, DP: 4}
		r, err := buildDrafts(t, c.id, "h200_sxm", "sglang", l, 0, func(e *engine.Profile) {
			e.TokenBudget, e.AttentionDP.SplitsBudget = 1000, c.splits
		})
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Pool(1); p.Replicas != c.replicas || p.Engine.TokenBudget != c.want {
			t.Errorf("%s, splits %t: %d replicas with a budget of %d", c.id, c.splits, p.Replicas, p.Engine.TokenBudget)
		}
	}
}

// BenchmarkClosedLoop is one configuration of a search, with a replica's prices of
// steps: 160 requests of about 1,000 tokens in and out from 16 clients.
func BenchmarkClosedLoop(b *testing.B) {
	for _, id := range []string{"Qwen/Qwen3-32B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3"} {
		r, err := build(b, id, "b200_sxm", "vllm", 8)
		if err != nil {
			b.Fatal(err)
		}
		config := &sim.Config{Workers: r.Pool(1), Client: traffic.ClosedLoop{
			Requests: 160, Concurrency: 16, Input: traffic.Lengths{Tokens: 1000, Low: 0.8}, Output: traffic.Lengths{Tokens: 1000, Low: 0.8},
		}}
		b.Run("model="+id, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sim.Run(context.Background(), config); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
