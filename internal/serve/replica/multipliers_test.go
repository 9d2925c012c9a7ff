package replica_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// hosted is a mixture of experts on eight devices whose host takes known times.
func hosted(t *testing.T, terms engine.Terms, change func(*engine.Profile)) *replica.Replica {
	t.Helper()
	l := parallel.Layout{Devices: 8, TP: 8}
	r, err := buildDrafts(t, "Qwen/Qwen3-235B-A22B", "h200_sxm", "vllm", l, 0, func(e *engine.Profile) {
		e.Hosts, e.Exposed = map[string]*engine.Terms{engine.Generic: &terms}, 1
		e.Graph = engine.Graph{MaxBatch: 1 << 13, Given: true}
		if change != nil {
			change(e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const layers = 94 // of Qwen3-235B-A22B

var (
	decoding = server.Batch{Decode: 32, DecodeContext: 32 * 2000, Sampled: 32}
	mixed    = server.Batch{Decode: 32, DecodeContext: 32 * 2000, Sampled: 33, PrefillRequests: 1, PrefillTokens: 3000, PrefillPairs: 3000 * 3001 / 2}
)

// alike allows for rounding.
func alike(a, b units.Seconds) bool { return math.Abs(float64(a-b)) <= 1e-9*math.Abs(float64(a)) }

// TestPartsOfAStep: a step without host work is the sum of its parts; each part is tuned by its own multiplier, in steps
// with prompts by those of prefills, in others by those of decodes.
func TestPartsOfAStep(t *testing.T) {
	r := hosted(t, engine.Terms{}, nil)
	for name, b := range map[string]server.Batch{"decode": decoding, "mixed": mixed} {
		whole := r.Step(b)
		var sum units.Seconds
		for p := range step.Parts {
			part := func(by float64, prefill bool) units.Seconds {
				multipliers := replica.Ones()
				if prefill {
					multipliers.Prefill[p] = by
				} else {
					multipliers.Decode[p] = by
				}
				return r.Scaled(multipliers).Step(b)
			}
			own, other := b.PrefillTokens > 0, b.PrefillTokens == 0
			alone := part(2, own) - whole
			if alone <= 0 || !alike(part(4, own)-whole, 3*alone) {
				t.Errorf("%s, part %d: twice adds %v, four times %v", name, p, alone, part(4, own)-whole)
			}
			if part(2, other) != whole {
				t.Errorf("%s, part %d: tuned by the other kind of step", name, p)
			}
			sum += alone
		}
		if !alike(sum, whole) {
			t.Errorf("%s: the parts take %v, the step %v", name, sum, whole)
		}
	}
}

// TestHostOfAStep: the host adds its time for the step and for each sequence, for prompts and for each layer; a multipliers
// multiplies each by its own.
func TestHostOfAStep(t *testing.T) {
	bare := hosted(t, engine.Terms{}, nil)
	terms := engine.Terms{
		PerStep: 1e-3, PerSequence: 20e-6, PerPrefillStep: 3e-3, PerLayer: 50e-6, Floor: engine.Floors{MoE: 400e-6},
		APIFixed: 5e-3, APIPerToken: 7e-6, First: 11e-3,
	}
	r := hosted(t, terms, nil)
	multipliers := replica.Ones()
	multipliers.PerStep, multipliers.PerSequence, multipliers.PerPrefillStep, multipliers.PerLayer = 2, 3, 5, 7
	multipliers.APIFixed, multipliers.APIPerToken, multipliers.First, multipliers.LaunchFloor = 1.1, 1.2, 1.3, 1.4
	for _, c := range []struct {
		name                              string
		r                                 *replica.Replica
		steps, sequences, prompts, layers units.Seconds
	}{{"untuned", r, 1, 1, 1, 1}, {"tuned", r.Scaled(multipliers), 2, 3, 5, 7}} {
		work := func(sequences units.Seconds) units.Seconds {
			return c.steps*terms.PerStep + c.sequences*sequences*terms.PerSequence + c.layers*layers*terms.PerLayer
		}
		if got, want := c.r.Step(decoding), bare.Step(decoding)+work(32); !alike(got, want) {
			t.Errorf("%s decode: want %v, got %v", c.name, want, got)
		}
		if got, want := c.r.Step(mixed), bare.Step(mixed)+work(33)+c.prompts*terms.PerPrefillStep; !alike(got, want) {
			t.Errorf("%s mixed: want %v, got %v", c.name, want, got)
		}
	}
	if e := r.Scaled(multipliers).Pool(1).Engine; !alike(e.APIFixed, 1.1*5e-3) || !alike(e.APIPerToken, 1.2*7e-6) || !alike(e.First, 1.3*11e-3) {
		t.Errorf("the API server: %+v", e)
	}
	if e := r.Pool(1).Engine; e.APIFixed != 5e-3 || e.APIPerToken != 7e-6 || e.First != 11e-3 {
		t.Errorf("the API server, untuned: %+v", e)
	}
}

// TestLaunches: without a captured graph the layers take no less than their launches, both put together at a right angle;
// attention and the head are not among them.
func TestLaunches(t *testing.T) {
	const floor, most = 700e-6, 32 + 3000 // tokens of the mixed step
	bare := hosted(t, engine.Terms{}, nil)
	inLayers := func(b server.Batch) (sum units.Seconds) {
		for _, p := range []step.Part{step.Products, step.Experts, step.Exchange, step.Elementwise} {
			multipliers := replica.Ones()
			multipliers.Decode[p], multipliers.Prefill[p] = 2, 2
			sum += bare.Scaled(multipliers).Step(b) - bare.Step(b)
		}
		return sum
	}
	for _, c := range []struct {
		name     string
		maxBatch int
		eager    bool
		b        server.Batch
		launched float64 // the least time of a layer, in floors
	}{
		{"captured", 32, false, decoding, 0},
		{"above the largest graph", 31, false, decoding, 1},
		{"no graphs", 0, false, decoding, 1},
		{"graphs of one", 1, false, decoding, 1},
		{"eager prompts", 1 << 20, true, mixed, 1},
		{"prompts within the largest graph", most, false, mixed, 0.25},
		{"prompts above it", most - 1, false, mixed, 1},
		{"eager prompts, none there", 32, true, decoding, 0},
	} {
		r := hosted(t, engine.Terms{PerLayer: 10e-6, Floor: engine.Floors{MoE: floor}, Pieces: floor / 4}, func(e *engine.Profile) {
			e.Graph.MaxBatch, e.Graph.EagerPrefill = c.maxBatch, c.eager
		})
		for by, r := range map[float64]*replica.Replica{1: r, 2: r.Scaled(func() replica.Multipliers { u := replica.Ones(); u.LaunchFloor = 2; return u }())} {
			in := inLayers(c.b)
			want := bare.Step(c.b) + layers*10e-6
			if c.launched > 0 {
				want = bare.Step(c.b) - in + units.Seconds(math.Hypot(float64(in+layers*10e-6), by*c.launched*layers*floor))
			}
			if got := r.Step(c.b); !alike(got, want) {
				t.Errorf("%s, %g times the floor: want %v, got %v", c.name, by, want, got)
			}
		}
	}
}

// TestUntuned multiplies nothing.
func TestUntuned(t *testing.T) {
	r, err := build(t, "deepseek-ai/DeepSeek-V3", "b200_sxm", "sglang", 8)
	if err != nil {
		t.Fatal(err)
	}
	u := r.Scaled(replica.Ones())
	if r.Step(decoding) != u.Step(decoding) || r.Step(mixed) != u.Step(mixed) || r.Pool(1).Engine != u.Pool(1).Engine {
		t.Error("ones change something")
	}
}

// TestContextOfPrompts: tokens that are cached already are read, and the chunk itself is.
func TestContextOfPrompts(t *testing.T) {
	r := hosted(t, engine.Terms{}, nil)
	b := mixed
	b.PrefillContext = 50_000
	if far, near := r.Step(b), r.Step(mixed); far <= near {
		t.Errorf("behind 50,000 tokens a prompt takes %v, without them %v", far, near)
	}
	read := &watched{cost: calibratedH200(t)}
	l := parallel.Layout{Devices: 8, TP: 8}
	w, err := buildPriced(t, "Qwen/Qwen3-235B-A22B", l, 0, read)
	if err != nil {
		t.Fatal(err)
	}
	w.Step(b)
	if want := 50_000. + 3000; read.attention.Prefill.Context != want || read.attention.Prefill.Tokens != 3000 || read.attention.Prefill.Requests != 1 ||
		read.attention.Prefill.Pairs != b.PrefillPairs || read.attention.Decode.Requests != 32 || read.attention.Decode.Tokens != 32 || read.attention.Decode.Context != 32*2001 {
		t.Errorf("attention is priced for %+v and %+v", read.attention.Prefill, read.attention.Decode)
	}
}

// watched remembers the last attention priced, and the one before it.
type watched struct {
	cost              cost.Coster
	before, attention op.Op
}

func (w *watched) Cost(o *op.Op) cost.Estimate {
	if o.Kind == op.Attention || o.Kind == op.Latent {
		w.before, w.attention = w.attention, *o
	}
	return w.cost.Cost(o)
}

func calibratedH200(t *testing.T) cost.Coster {
	t.Helper()
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := calibrated.New(d)
	return m
}

// TestDraftedTokens: with n draft tokens a decode and the first draft attend with n+1 queries to one context, each further
// draft with one query of every request, prompts included; and an engine that does not
// schedule ahead meanwhile shows all of its host's work.
func TestDraftedTokens(t *testing.T) {
	l := parallel.Layout{Devices: 8, TP: 8}
	read := &watched{cost: calibratedH200(t)}
	w, err := buildPriced(t, "deepseek-ai/DeepSeek-V3", l, 2, read)
	if err != nil {
		t.Fatal(err)
	}
	w.Step(mixed)
	if d := read.before.Decode; d.Requests != 32 || d.Tokens != 3*32 || d.Context != 32*(2000+3) {
		t.Errorf("two drafts: attention of %+v", d)
	}
	if d := read.attention.Decode; d.Requests != 33 || d.Tokens != 33 || d.Pairs != d.Context || read.attention.Prefill.Tokens != 0 {
		t.Errorf("the second draft: attention of %+v and %+v", read.attention.Prefill, d)
	}
	for _, overlapped := range []bool{true, false} {
		build := func(mtp int) *replica.Replica {
			r, err := buildDrafts(t, "deepseek-ai/DeepSeek-V3", "h200_sxm", "vllm", l, mtp, func(e *engine.Profile) {
				e.Hosts, e.Exposed, e.MTP.Overlapped = map[string]*engine.Terms{engine.Generic: {PerStep: 1e-3}}, 0.25, overlapped
			})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		plain, drafts := build(0), build(1)
		if a, b := plain.Pool(1).Engine.VerifiedPerStep, drafts.Pool(1).Engine.VerifiedPerStep; a != 1 || b != 2 {
			t.Errorf("%d and %d tokens verified", a, b)
		}
		// The host's millisecond, shown whole and for each of two passes where nothing is scheduled ahead, else a quarter of it.
		slow := replica.Ones()
		slow.PerStep = 2
		for r, exposed := range map[*replica.Replica]float64{plain: 0.25, drafts: map[bool]float64{true: 0.25, false: 2}[overlapped]} {
			if got := r.Scaled(slow).Step(decoding) - r.Step(decoding); math.Abs(float64(got)-exposed*1e-3) > 1e-9 {
				t.Errorf("overlapped %t, drafts %t: a millisecond more of the host shows as %v", overlapped, r == drafts, got)
			}
		}
	}
}

// TestLaunchedDrafts: a draft that replays no graph lasts as much longer as its launches.
func TestLaunchedDrafts(t *testing.T) {
	build := func(launches units.Seconds) *replica.Replica {
		r, err := buildDrafts(t, "deepseek-ai/DeepSeek-V3", "h200_sxm", "vllm", parallel.Layout{Devices: 8, TP: 8}, 3, func(e *engine.Profile) {
			e.Hosts = map[string]*engine.Terms{engine.Generic: {PerDraft: launches}}
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if got := build(5e-3).Step(decoding) - build(0).Step(decoding); math.Abs(float64(got)-15e-3) > 1e-9 {
		t.Errorf("three drafts of 5 ms of launches take %v longer", got)
	}
}

// TestAlone: an engine with one device waits for less of its host's work; ranks that share experts are not alone.
func TestAlone(t *testing.T) {
	slow := replica.Ones()
	slow.PerStep = 2
	for _, c := range []struct {
		model  string
		layout parallel.Layout
		shown  float64
	}{
		{"Qwen/Qwen3-8B", parallel.Layout{Devices: 1, TP: 1}, 0.1},
		{"Qwen/Qwen3-8B", parallel.Layout{Devices: 2, TP: 1, DP: 2}, 0.1},
		{"Qwen/Qwen3-8B", parallel.Layout{Devices: 2, TP: 2}, 0.4},
		{"Qwen/Qwen3-30B-A3B", parallel.Layout{Devices: 1, TP: 1}, 0.1},
		{"Qwen/Qwen3-30B-A3B", parallel.Layout{Devices: 2, TP: 1, DP: 2}, 0.4},
	} {
		r, err := buildDrafts(t, c.model, "h200_sxm", "vllm", c.layout, 0, func(e *engine.Profile) {
			e.Hosts, e.Exposed, e.Alone = map[string]*engine.Terms{engine.Generic: {PerStep: 1e-3}}, 0.4, 0.25
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Scaled(slow).Step(decoding) - r.Step(decoding); math.Abs(float64(got)-c.shown*1e-3) > 1e-9 {
			t.Errorf("%s on %+v: a millisecond more of the host shows as %v, want %g of it", c.model, c.layout, got, c.shown)
		}
	}
}

// TestSlowToCompute: experts that are slow to compute take longer in steps of many tokens, and not where weights are read.
func TestSlowToCompute(t *testing.T) {
	build := func(prompts float64) *replica.Replica {
		r, err := buildDrafts(t, "Qwen/Qwen3-30B-A3B", "h200_sxm", "vllm", parallel.Layout{Devices: 1, TP: 1}, 0, func(e *engine.Profile) {
			e.Slow, e.Hosts = []engine.SlowKernels{{Weights: "bf16", Generations: []string{"hopper"}, Prompts: prompts}}, map[string]*engine.Terms{engine.Generic: {}}
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	slow, fast := build(2), build(1)
	longer := func(tokens int) float64 {
		b := server.Batch{PrefillRequests: 1, PrefillTokens: tokens, PrefillPairs: float64(tokens*tokens) / 2}
		return float64(slow.Step(b)/fast.Step(b)) - 1
	}
	if few, many := longer(100), longer(8000); few > 0.01 || many < 0.2 {
		t.Errorf("a step of 100 tokens takes %g longer, of 8000 %g", few, many)
	}
}

// TestPool: the pool of a replica and its ranks in a simulation.
func TestPool(t *testing.T) {
	l := parallel.Layout{Devices: 4, TP: 1, DP: 4, EP: 4}
	for _, c := range []struct {
		split                     bool
		budget, tokens, sequences int
	}{{false, 1001, 4 * 1001, 50}, {true, 1001, 4 * 250, 20}, {true, 3, 4, 20}} {
		r, err := buildDrafts(t, "openai/gpt-oss-120b", "h200_sxm", "sglang", l, 0, func(e *engine.Profile) {
			e.BlockTokens, e.TokenBudget, e.MaxSequences = 7, c.budget, c.sequences
			e.PrefixCaching, e.Reserve, e.ReceiveInterval, e.HeldTokens = true, 0.3, 9, 11
			e.BatchWait = engine.BatchWait{Steps: 13, Ratio: 0.7}
			e.AttentionDP = engine.AttentionDP{SplitsBudget: c.split, WaitSteps: 17}
		})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Pool(3)
		want := server.Engine{
			Policy: server.PrefillFirst, Stages: 1, TokenBudget: c.tokens, MaxSequences: 4 * c.sequences, Blocks: r.KVTokens / 7 * 4, BlockTokens: 7,
			PrefixCache: true, Chunked: true, Reserve: 0.3, ReceiveInterval: 9, Overlapped: true, Held: 11, CachedReadRatio: 1, BatchWaitSteps: 13, BatchWaitRatio: 0.7, VerifiedPerStep: 1, RankWaitSteps: 17, Ranks: 4,
			APIFixed: p.Engine.APIFixed, APIPerToken: p.Engine.APIPerToken, First: p.Engine.First,
		}
		if p.Replicas != 3 || p.Engine != want {
			t.Errorf("want %+v, got %d of %+v", want, p.Replicas, p.Engine)
		}
	}
	for name, policy := range map[string]server.Policy{"vllm": server.DecodeFirst, "sglang": server.PrefillFirst, "trtllm": server.InFlight} {
		r, err := build(t, "Qwen/Qwen3-8B", "h200_sxm", name, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Pool(1).Engine.Policy; got != policy {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestLink: every rank sends its part of a cache at the same time, and the side with fewer has more to carry. gpt-oss has
// 18 layers without a window, 8 KV heads of 64 and two bytes for an element of key and value; a 16th rank holds a head
// that another has too. Every rank of latent attention holds all of the cache, 61 layers of 576.
func TestLink(t *testing.T) {
	const heads, latent = 18 * 8 * 64 * 2 * 2, 61 * 576 * 2
	layout := func(tp, pp, dp int) parallel.Layout {
		return parallel.Layout{Devices: tp * pp * dp, TP: tp, PP: pp, DP: dp, EP: tp * dp}
	}
	for name, c := range map[string]struct {
		model    string
		from, to parallel.Layout
		want     float64 // bytes of a token through the busiest rank
		parallel int
	}{
		"one to one":           {"openai/gpt-oss-120b", layout(1, 1, 1), layout(1, 1, 1), heads, 1},
		"as many":              {"openai/gpt-oss-120b", layout(8, 1, 1), layout(8, 1, 1), heads / 8., 1},
		"fewer send":           {"openai/gpt-oss-120b", layout(2, 1, 1), layout(8, 1, 1), heads / 2., 1},
		"fewer receive":        {"openai/gpt-oss-120b", layout(8, 1, 1), layout(2, 1, 1), heads / 2., 1},
		"heads twice":          {"openai/gpt-oss-120b", layout(8, 1, 1), layout(16, 1, 1), heads / 4., 1},
		"stages send":          {"openai/gpt-oss-120b", layout(2, 2, 1), layout(4, 1, 1), heads / 4., 1},
		"stages receive":       {"openai/gpt-oss-120b", layout(1, 1, 1), layout(1, 2, 1), heads, 1},
		"ranks of their own":   {"openai/gpt-oss-120b", layout(1, 1, 4), layout(1, 1, 8), heads, 4},
		"latent, as many":      {"deepseek-ai/DeepSeek-V3", layout(8, 1, 1), layout(8, 1, 1), latent, 1},
		"latent, one receives": {"deepseek-ai/DeepSeek-V3", layout(8, 1, 1), layout(1, 1, 16), latent, 1},
		"latent, fewer send":   {"deepseek-ai/DeepSeek-V3", layout(8, 1, 1), layout(16, 1, 1), 2 * latent, 1},
	} {
		from, err := buildLayout(t, c.model, "b300_sxm", "vllm", c.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := buildLayout(t, c.model, "b300_sxm", "vllm", c.to)
		if err != nil {
			t.Fatal(err)
		}
		d, err := device.Lookup("b300_sxm")
		if err != nil {
			t.Fatal(err)
		}
		outer := &d.Links[0]
		want := server.Link{
			BytesPerToken: units.Bytes(c.want), Latency: outer.Latency, Parallel: c.parallel,
			Bandwidth: outer.Bandwidth * units.BytesPerSecond(outer.Efficiency),
		}
		if got := to.Link(from); got != want {
			t.Errorf("%s: want %+v, got %+v", name, want, got)
		}
	}
}

// TestLeastCache: one block is a cache, less is none.
func TestLeastCache(t *testing.T) {
	l := parallel.Layout{Devices: 1, TP: 1}
	whole, err := buildDrafts(t, "Qwen/Qwen3-8B", "h200_sxm", "vllm", l, 0, func(e *engine.Profile) { e.BlockTokens = 1 })
	if err != nil {
		t.Fatal(err)
	}
	for block, fits := range map[int]bool{whole.KVTokens: true, whole.KVTokens + 1: false} {
		r, err := buildDrafts(t, "Qwen/Qwen3-8B", "h200_sxm", "vllm", l, 0, func(e *engine.Profile) { e.BlockTokens = block })
		if fits != (err == nil) || !fits && !errors.Is(err, replica.ErrNoCache) {
			t.Errorf("blocks of %d of %d tokens: %v", block, whole.KVTokens, err)
		} else if fits && r.KVTokens != whole.KVTokens {
			t.Errorf("one block of %d tokens: %d fit", block, r.KVTokens)
		}
	}
}

// TestUnevenRanks: the fullest of any number of ranks decides; a run is the sum of its steps.
func TestUnevenRanks(t *testing.T) {
	for _, n := range []int{2, 4} {
		one, err := buildRanks(t, "openai/gpt-oss-120b", n)
		if err != nil {
			t.Fatal(err)
		}
		all := one.Pool(1).Stepper
		rapid.Check(t, func(t *rapid.T) {
			requests := rapid.IntRange(1, 300).Draw(t, "requests")
			context := float64(requests) * rapid.Float64Range(1, 4000).Draw(t, "context")
			most := (requests + n - 1) / n
			share := float64(most) / float64(requests)
			got := all.Step(server.Batch{Decode: requests, DecodeContext: context, Sampled: requests})
			if want := one.Step(server.Batch{Decode: most, DecodeContext: share * context, Sampled: most}); !alike(got, want) {
				t.Fatalf("%d requests on %d ranks: want %v, got %v", requests, n, want, got)
			}
			prompts := rapid.IntRange(1, 20).Draw(t, "prompts")
			tokens, cached := prompts*rapid.IntRange(1, 500).Draw(t, "tokens"), prompts*rapid.IntRange(0, 500).Draw(t, "cached")
			full := (prompts + n - 1) / n
			part := float64(full) / float64(prompts)
			up := func(x int) int { return int(math.Ceil(part * float64(x))) }
			b := server.Batch{PrefillRequests: prompts, PrefillTokens: tokens, PrefillContext: cached, PrefillPairs: 1e6, Sampled: prompts}
			want := one.Step(server.Batch{PrefillRequests: full, PrefillTokens: up(tokens), PrefillContext: up(cached), PrefillPairs: part * 1e6, Sampled: full})
			if got := all.Step(b); !alike(got, want) {
				t.Fatalf("%d prompts on %d ranks: want %v, got %v", prompts, n, want, got)
			}
			steps, growth := rapid.IntRange(1, 200).Draw(t, "steps"), float64(requests)*100
			run := all.Decode(requests, context, growth, steps)
			if want := one.Decode(most, share*context, share*growth, steps); !alike(run, want) {
				t.Fatalf("a run of %d steps: want %v, got %v", steps, want, run)
			}
		})
	}
}

// TestRunOfSteps: a run takes as long as its steps at growing context.
func TestRunOfSteps(t *testing.T) {
	r := hosted(t, engine.Terms{}, nil)
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 200).Draw(t, "requests"), rapid.IntRange(1, 60).Draw(t, "steps")
		context, growth := rapid.Float64Range(1, 1e6).Draw(t, "context"), rapid.Float64Range(0, 1e4).Draw(t, "growth")
		got, want := r.Decode(n, context, growth, steps), server.StepFunc(r.Step).Decode(n, context, growth, steps)
		if math.Abs(float64(got/want)-1) > 1e-3 { // attention bends where traffic overtakes arithmetic
			t.Errorf("%d steps of %d: want %v, got %v", steps, n, want, got)
		}
	})
}
