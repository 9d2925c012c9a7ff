package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Layers worked out by hand, kernel by kernel: what each reads and writes in bytes, and its arithmetic. Sizes are small and
// different, so that none stands in for another.
const (
	hidden, vocab, positions = 60, 1009, 512
	heads, kvHeads, width    = 12, 4, 10
	inner                    = 84
	wide                     = 2 // bytes of bfloat16
	index                    = 8 // of a token id or an address
)

// kernel is one operator of a step.
type kernel struct {
	Name                            string
	Count                           float64
	Bytes, Matrix, Vector, Vector32 float64
	Payload                         float64
}

func kernels(t *testing.T, s graph.Spec, segments ...graph.Segment) []kernel {
	t.Helper()
	g, err := graph.New(s)
	if err != nil {
		t.Fatal(err)
	}
	var out []kernel
	for _, it := range g.Append(nil, graph.Batch{Segments: segments}) {
		w := it.Op.Work()
		out = append(out, kernel{it.Op.Name.String(), it.Count, float64(w.Bytes), float64(w.Matrix), float64(w.Vector), float64(w.Vector32), float64(it.Op.Payload)})
	}
	return out
}

func same(t *testing.T, want, got []kernel) {
	t.Helper()
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) })
	if d := cmp.Diff(want, got, near); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// product is one of bfloat16 matrices.
func product(count, rows, depth, cols float64) kernel {
	return kernel{Name: "mm", Count: count, Bytes: wide * (rows*depth + depth*cols + rows*cols), Matrix: 2 * rows * depth * cols}
}

func reads(name string, count, bytes float64) kernel {
	return kernel{Name: name, Count: count, Bytes: bytes}
}

// norm reads rows, weights, and writes rows; five operations an element.
func norm(count, rows, cols float64) kernel {
	return kernel{Name: "rms_norm", Count: count, Bytes: wide * (rows*cols + cols + rows*cols), Vector32: 5 * rows * cols}
}

// allReduce reads and writes what it sums.
func allReduce(count float64) kernel {
	return kernel{Name: "all_reduce", Count: count, Bytes: 2 * wide * tokens * hidden, Payload: wide * tokens * hidden}
}

func dense() *model.Model {
	return &model.Model{
		ID: "dense", Hidden: hidden, Vocab: vocab, MaxPosition: positions, DType: dtype.BF16, Layers: []int{0, 0, 0},
		Kinds: []model.Layer{{
			Attention: model.Attention{Kind: model.GQA, Heads: heads, KVHeads: kvHeads, HeadDim: width, ValueDim: width, RopeDim: width, QKNorm: model.PerHead},
			FFN:       model.FFN{Kind: model.Dense, Intermediate: inner}, Norms: 2, Streams: 1,
		}},
	}
}

// A step of three decodes at 100 tokens and a prompt of 7 behind 13.
const (
	tokens, requests = 3 + 7, 3 + 1
	pairs            = 3*100 + (14 + 15 + 16 + 17 + 18 + 19 + 20)
	cached           = 3*100 + 20
	logits           = requests // a row for each
)

func segments() []graph.Segment {
	return []graph.Segment{{Requests: 3, Query: 1, Seq: 100, Decode: true}, {Requests: 1, Query: 7, Seq: 20}}
}

// attends is the kernel of attention of three layers on one of tp ranks: queries, the cache of keys and values, outputs, and addresses of
// blocks of 16 tokens, as many for each request as the longest has (7 for 100 tokens), with where it begins.
func attends(tp float64) kernel {
	const bytes = wide * (2*tokens*heads*width + cached*kvHeads*2*width)
	return kernel{
		Name: "attention", Count: 3, Bytes: bytes/tp + index*(7*requests+requests+1+2*requests),
		Matrix: 2 * pairs * heads * 2 * width / tp, Vector: 4 * pairs * heads / tp,
	}
}

// TestSharedAttention: where one kernel computes prompts and decodes, every query head of these reads the cache for itself; with
// decodes or prompts alone, and where each has a kernel, it does not.
func TestSharedAttention(t *testing.T) {
	s := plain(dense())
	s.SharesAttention = true
	attention := func(segments ...graph.Segment) []kernel {
		return slices.DeleteFunc(kernels(t, s, segments...), func(k kernel) bool { return k.Name != "attention" })
	}
	const n, decodes = 3, 3 * 100 // layers, and tokens in the cache of decodes
	same(t, []kernel{attends(1), {Name: "attention", Count: n, Bytes: wide * decodes * (heads - kvHeads) * 2 * width}}, attention(segments()...))
	for _, alone := range segments() {
		if got := attention(alone); len(got) != 1 {
			t.Errorf("%+v: %+v", alone, got)
		}
	}
	s.SharesAttention = false
	same(t, []kernel{attends(1)}, attention(segments()...))
}

// denseLayer are the kernels of three layers on tp ranks up to the second norm.
func denseLayer(tp float64) []kernel {
	const n = 3
	const rotated = tokens * (heads + kvHeads) * width
	return []kernel{
		norm(n, tokens, hidden),
		product(n, tokens, hidden, (heads+2*kvHeads)*width/tp),
		norm(n, tokens*heads/tp, width), norm(n, tokens*kvHeads/tp, width),
		{Name: "apply_rope", Count: n, Bytes: wide * (2*rotated/tp + 2*tokens*width), Vector: 3 * rotated / tp}, // and cosines and sines
		reads("reshape_and_cache", n, 2*wide*tokens*2*kvHeads*width/tp+index*tokens),
		attends(tp),
		product(n, tokens, heads*width/tp, hidden),
		allReduce(n),
		reads("add_rms_norm2", n, wide*(2*tokens*hidden+hidden+2*tokens*hidden)), // two in, their sum and its norm out
	}
}

// begin looks tokens up, whose rows lie on several ranks, and the rotation's tables.
func begin() []kernel {
	return []kernel{
		reads("embedding", 1, index*tokens+2*wide*tokens*hidden), allReduce(1),
		reads("index", 2, 2*wide*tokens*width+index*tokens),
	}
}

// end takes the rows that want logits and multiplies them with the head, cut over the vocabulary.
func end(tp float64) []kernel {
	cut := math.Ceil(vocab / tp)
	return []kernel{
		norm(1, tokens, hidden), reads("index", 1, 2*wide*logits*hidden+index*logits), product(1, logits, hidden, cut),
		{Name: "all_gather", Count: 1, Bytes: wide * logits * cut * (1 + tp), Payload: wide * logits * cut},
	}
}

func TestDenseStep(t *testing.T) {
	const tp, n = 2, 3
	s := plain(dense())
	s.Layout = parallel.Layout{Devices: tp, TP: tp}.Complete(s.Model)
	want := begin()
	want = append(want, denseLayer(tp)...)
	want = append(want,
		product(n, tokens, hidden, 2*inner/tp), reads("swiglu", n, wide*tokens*3*inner/tp), // gate and up in, their product out
		product(n, tokens, inner/tp, hidden), allReduce(n),
		reads("add", n, 3*wide*tokens*hidden))
	same(t, append(want, end(tp)...), kernels(t, s, segments()...))
}

// TestNoRotation: a model without rotary positions looks up no tables and rotates nothing.
func TestNoRotation(t *testing.T) {
	m := dense()
	m.Kinds[0].Attention.RopeDim = 0
	rotated, plainly := kernels(t, plain(dense()), segments()...), kernels(t, plain(m), segments()...)
	rotated = slices.DeleteFunc(rotated, func(k kernel) bool { return k.Name == "apply_rope" || k.Name == "index" && k.Count == 2 })
	same(t, rotated, plainly)
}

// TestEagerStep: without fusion every product is its own, and norms, rotations and activations are the operators PyTorch
// runs.
func TestEagerStep(t *testing.T) {
	const n, f32 = 3, 4
	s := plain(dense())
	s.Compile = false
	norm := func(rows, cols float64) []kernel {
		x := rows * cols
		return []kernel{
			reads("_to_copy", n, (wide+f32)*x), reads("pow", n, 2*f32*x), reads("mean", n, f32*(x+rows)), reads("add", n, 2*f32*rows),
			reads("rsqrt", n, 2*f32*rows), reads("mul", n, f32*(x+rows+x)), reads("_to_copy", n, (f32+wide)*x), reads("mul", n, wide*(x+cols+x)),
		}
	}
	rope := func(heads float64) []kernel {
		x, table := tokens*heads*width, float64(tokens*width)
		return []kernel{
			reads("mul", n, wide*(2*x+table)), reads("neg", n, wide*x), reads("cat", n, 2*wide*x), // half in, half out; both halves
			reads("mul", n, wide*(2*x+table)), reads("add", n, 3*wide*x),
		}
	}
	want := []kernel{reads("embedding", 1, index*tokens+2*wide*tokens*hidden), reads("index_select", 2, 2*wide*tokens*width+index*tokens)}
	want = append(want, norm(tokens, hidden)...)
	want = append(want, product(n, tokens, hidden, heads*width), product(n, tokens, hidden, kvHeads*width), product(n, tokens, hidden, kvHeads*width))
	want = append(want, norm(tokens*heads, width)...)
	want = append(want, norm(tokens*kvHeads, width)...)
	want = append(want, rope(heads)...)
	want = append(want, rope(kvHeads)...)
	want = append(want, reads("reshape_and_cache", n, 2*wide*tokens*2*kvHeads*width+index*tokens), attends(1), product(n, tokens, heads*width, hidden))
	want = append(want, reads("add", n, 3*wide*tokens*hidden))
	want = append(want, norm(tokens, hidden)...)
	want = append(want, product(n, tokens, hidden, inner), product(n, tokens, hidden, inner), reads("silu", n, 2*wide*tokens*inner),
		reads("mul", n, 3*wide*tokens*inner), product(n, tokens, inner, hidden), reads("add", n, 3*wide*tokens*hidden))
	last := norm(tokens, hidden)
	for i := range last {
		last[i].Count = 1
	}
	want = append(want, last...)
	want = append(want, reads("index_select", 1, 2*wide*logits*hidden+index*logits), product(1, logits, hidden, vocab))
	same(t, want, kernels(t, s, segments()...))
}

// TestNarrowStep: with weights and inputs in eight bits the norms narrow what they write, and a scale goes with every row.
func TestNarrowStep(t *testing.T) {
	const n, scale = 3, 4
	s := plain(dense())
	s.Quant = graph.Resolve(s.Model, s.Policy, graph.Actions{Linear: dtype.W8A8Dynamic})
	narrow := func(rows, depth, cols float64) kernel {
		return kernel{
			Name: "static_quant_linear", Count: n, Bytes: rows*depth + depth*cols + wide*rows*cols + scale*rows, Matrix: 2 * rows * depth * cols,
		}
	}
	quantize := func(rows, cols float64) kernel {
		return reads("dynamic_quantize", n, wide*rows*cols+rows*cols+scale)
	}
	rest := denseLayer(1)
	want := []kernel{
		reads("rms_norm_dynamic_quant", n, wide*(tokens*hidden+hidden)+tokens*hidden+scale), narrow(tokens, hidden, (heads+2*kvHeads)*width),
		rest[2], rest[3], rest[4], rest[5], rest[6],
		quantize(tokens, heads*width), narrow(tokens, heads*width, hidden),
		reads("add_rms_norm_dynamic_quant2", n, wide*(2*tokens*hidden+hidden+tokens*hidden)+tokens*hidden+scale), // two in; sum wide, norm narrow
		narrow(tokens, hidden, 2*inner), reads("swiglu", n, wide*tokens*3*inner), quantize(tokens, inner), narrow(tokens, inner, hidden),
	}
	got := kernels(t, s, segments()...)
	same(t, want, got[2:2+len(want)])
}

const (
	experts, choice    = 24, 3
	expertInner        = 36
	sharedInner        = 48
	chosen, everChosen = tokens * choice, experts // rows, and experts of a rank without expert parallelism
)

func mixture() *model.Model {
	m := dense()
	m.ID = "mixture"
	m.Kinds[0].FFN = model.FFN{Kind: model.MoE, Experts: experts, TopK: choice, ExpertIntermediate: expertInner, SharedIntermediate: sharedInner}
	return m
}

// dealt is the rows of the busiest of so many ranks, and how many of its experts are awake: TestExpertsAtRandom counts them.
func dealt(ranks uint32, tokens float64) (rows, awake float64) {
	d := op.Deal{Experts: experts, Choice: choice, Ranks: ranks}.Dealt(false)
	return d.Busiest(tokens)
}

// grouped is the product of all awake experts' matrices with the rows sent to each.
func grouped(name string, rows, awake, depth, cols, out float64) kernel {
	const n = 3 // layers
	k := kernel{Name: name, Count: n, Bytes: wide * (rows*depth + awake*depth*cols + rows*out), Matrix: 2 * rows * depth * cols}
	if out != cols {
		k.Vector = 7 * rows * out // the activation behind it
	}
	return k
}

// router scores all experts, then writes the weight and the number of those chosen.
func router(n, rows float64) []kernel {
	const f32 = 4
	return []kernel{product(n, rows, hidden, experts), reads("moe_gating_top_k_softmax", n, f32*rows*experts+(f32+index)*rows*choice)}
}

func shared(n, rows, width float64) []kernel {
	return []kernel{
		product(n, rows, hidden, 2*width), reads("swiglu", n, wide*rows*3*width), product(n, rows, width, hidden),
		reads("add", n, 3*wide*rows*hidden),
	}
}

// TestSummedExperts: ranks that hold the same tokens run slices of all experts on them. A row is written for each pair of a
// token and an expert before the products, and read again, with its weight and place, into the token's sum.
func TestSummedExperts(t *testing.T) {
	const tp, n = 4, 3
	s := plain(mixture())
	s.Layout = parallel.Layout{Devices: tp, TP: tp}.Complete(s.Model)
	want := begin()
	want = append(want, denseLayer(tp)...)
	want = append(want, router(n, tokens)...)
	want = append(want, shared(n, tokens, sharedInner/tp)...)
	_, active := dealt(1, tokens)
	want = append(want,
		reads("init_routing_v2", n, wide*(tokens+chosen)*hidden+index*chosen),
		grouped("grouped_matmul_swiglu", chosen, active, hidden, 2*expertInner/tp, expertInner/tp),
		grouped("grouped_matmul", chosen, active, expertInner/tp, hidden, hidden),
		reads("unpermute_tokens", n, wide*(chosen+tokens)*hidden+(wide+index)*chosen),
		allReduce(n), reads("add", n, 3*wide*tokens*hidden))
	same(t, append(want, end(tp)...), kernels(t, s, segments()...))
}

// TestSentExperts: ranks with tokens of their own send each token once to every other rank that has any of its experts,
// and get one sum back from each.
func TestSentExperts(t *testing.T) {
	const ranks, n = 4, 3
	s := plain(mixture())
	s.Layout = parallel.Layout{Devices: ranks, DP: ranks, EP: ranks}.Complete(s.Model)
	const local = experts / ranks
	received, active := dealt(ranks, ranks*tokens)
	elsewhere := float64(tokens*(ranks-1)) * (1 - math.Pow(1-float64(local)/experts, choice))
	exchange := kernel{Name: "all_to_all", Count: n, Bytes: 2 * wide * elsewhere * hidden, Payload: wide * elsewhere * hidden}
	want := router(n, tokens)
	want = append(want, shared(n, tokens, sharedInner)...) // whole on each rank
	want = append(want,
		reads("init_routing_v2", n, wide*(tokens+chosen)*hidden+index*chosen), exchange,
		grouped("grouped_matmul_swiglu", received, active, hidden, 2*expertInner, expertInner),
		grouped("grouped_matmul", received, active, expertInner, hidden, hidden), exchange,
		reads("unpermute_tokens", n, wide*(chosen+tokens)*hidden+(wide+index)*chosen))
	got := kernels(t, s, segments()...)
	before := 2 + len(denseLayer(1)) - 1 // no sums over one rank
	same(t, want, got[before:before+len(want)])
}

// TestExpertsAtRandom: what the busiest rank gets and how many of its experts are awake are the means over tokens that
// choose among experts of different popularity, and the ranks a token is sent to those over tokens that choose among equal ones.
func TestExpertsAtRandom(t *testing.T) {
	const ranks, draws, local = 4, 1000, experts / 4
	s := plain(mixture())
	s.Layout = parallel.Layout{Devices: ranks, DP: ranks, EP: ranks}.Complete(s.Model)
	var sent float64
	for _, k := range kernels(t, s, segments()...) {
		if k.Name == "all_to_all" {
			sent = k.Payload / (wide * hidden)
		}
	}
	random := newRandom()
	var visits float64
	for range draws {
		for range tokens { // of rank 0
			at := map[int]bool{}
			for _, e := range random.Perm(experts)[:choice] {
				at[e/local] = true
			}
			delete(at, 0)
			visits += float64(len(at))
		}
	}
	if got := visits / draws; math.Abs(got/sent-1) > 0.06 {
		t.Errorf("%g visits, %g at random", sent, got)
	}
	for _, n := range []int{1, 4, 32, 500} {
		var rows, awake float64
		for range draws {
			r, a := popular(random, n, ranks)
			rows, awake = rows+r/draws, awake+a/draws
		}
		// Loads of ranks are not quite normal, and popular experts lie closer together on some.
		if r, a := dealt(ranks, float64(n)); math.Abs(r/rows-1) > 0.12 || math.Abs(a/awake-1) > 0.12 {
			t.Errorf("%d tokens: %g rows for %g experts, %g and %g at random", n, r, a, rows, awake)
		}
	}
}

// popular draws experts of exponentially distributed popularity, lets tokens choose by it, and returns the most pairs and
// the most experts awake of a rank. Of exponential variables with given rates the smallest are those.
func popular(random *rand.Rand, tokens, ranks int) (rows, awake float64) {
	rate := make([]float64, experts)
	for i := range rate {
		rate[i] = random.ExpFloat64()
	}
	pairs := make([]float64, experts)
	when := make([]float64, experts)
	order := make([]int, experts)
	for range tokens {
		for i := range when {
			when[i], order[i] = random.ExpFloat64()/rate[i], i
		}
		sort.Slice(order, func(a, b int) bool { return when[order[a]] < when[order[b]] })
		for _, e := range order[:choice] {
			pairs[e]++
		}
	}
	for own := range slices.Chunk(pairs, experts/ranks) {
		sum, met := 0.0, 0.0
		for _, n := range own {
			sum += n
			met += min(n, 1)
		}
		rows, awake = max(rows, sum), max(awake, met)
	}
	return rows, awake
}

const (
	queryRank, latentRank, rope, nope, value = 30, 20, 6, 10, 8
)

func latent() *model.Model {
	m := dense()
	m.ID = "latent"
	m.Kinds[0].Attention = model.Attention{
		Kind: model.MLA, Heads: heads, KVHeads: heads, HeadDim: nope + rope, ValueDim: value, RopeDim: rope, QRank: queryRank, KVRank: latentRank,
	}
	return m
}

// TestLatentStep: queries through their low rank, keys and values as one latent with a rotated part, which alone is
// cached. A decode works on the latents, a prompt expands them, those of its cached context too.
func TestLatentStep(t *testing.T) {
	const tp, n = 2, 3
	const h = heads / tp
	s := plain(latent())
	s.Layout = parallel.Layout{Devices: tp, TP: tp}.Complete(s.Model)
	const rotated = tokens * (h + 1) * rope
	const up = latentRank * h * (nope + value)
	const decodePairs, promptPairs = 3 * 100, pairs - 3*100
	want := []kernel{
		norm(n, tokens, hidden), product(n, tokens, hidden, queryRank+latentRank+rope), norm(n, tokens, queryRank),
		product(n, tokens, queryRank, h*(nope+rope)), norm(n, tokens, latentRank),
		{Name: "apply_rope", Count: n, Bytes: wide * (2*rotated + 2*tokens*rope), Vector: 3 * rotated},
		reads("concat_and_cache_mla", n, 2*wide*tokens*(latentRank+rope)+index*tokens),
		{
			Name: "multihead_latent_attention", Count: n,
			// Both phases read the projection; queries, outputs, latents; where each request begins and its blocks of 16 tokens.
			Bytes: wide*(2*up+tokens*h*(nope+rope)+tokens*h*value+cached*(latentRank+rope)) + index*(requests+1+2*requests+3*7+2),
			Matrix: 2*20*up + 2*promptPairs*h*(nope+rope+value) + // 20 tokens expanded
				2*3*up + 2*decodePairs*h*(latentRank+rope+latentRank),
			Vector: 4 * pairs * h,
		},
		product(n, tokens, h*value, hidden), allReduce(n),
	}
	got := kernels(t, s, segments()...)
	same(t, want, got[3:3+len(want)])
}

// TestSharedContext: ranks that cut the context of latent attention gather the queries of all, and exchange what each
// found for them. A decode's up-projections are absorbed before and behind that, by the rank that has the heads.
func TestSharedContext(t *testing.T) {
	const tp, n = 4, 3
	const h = heads / tp
	s := plain(latent())
	s.Layout = parallel.Layout{Devices: tp, TP: tp, DCP: 2}.Complete(s.Model)
	var gathered, exchanged, attention kernel
	all := kernels(t, s, segments()...)
	for i, k := range all {
		if k.Name == "multihead_latent_attention" {
			gathered, attention, exchanged = all[i-1], k, all[i+1]
		}
	}
	const up = latentRank * 2 * h * (nope + value)
	same(t, []kernel{
		{Name: "all_gather", Count: n, Bytes: 3 * wide * tokens * h * (nope + rope), Payload: wide * tokens * h * (nope + rope)},
		{
			Name: "multihead_latent_attention", Count: n,
			Bytes:  wide*(up+up/2+tokens*2*h*(nope+rope+value)+cached/2*(latentRank+rope)) + index*(requests+1+2*requests+3*7+2),
			Matrix: 2*20*up + 2*(pairs-300)/2*2*h*(nope+rope+value) + 2*3*up/2 + 2*300/2*2*h*(2*latentRank+rope),
			Vector: 4 * pairs / 2 * 2 * h,
		},
		{Name: "all_to_all", Count: n, Bytes: 2 * 4 * tokens * h * latentRank, Payload: 4 * tokens * h * latentRank}, // partial sums in float32
	}, []kernel{gathered, attention, exchanged})
}

func newRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// TestWindowByCounting: what queries attend to, and what of the cache they read together, counted token by token.
func TestWindowByCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := dense()
		a := &m.Kinds[0].Attention
		a.Window = rapid.OneOf(rapid.Just(0), rapid.IntRange(1, 80)).Draw(t, "window")
		query := rapid.OneOf(rapid.Just(1), rapid.IntRange(6, 60)).Draw(t, "query")
		seq := query + rapid.IntRange(0, 100).Draw(t, "before")
		g, err := graph.New(plain(m))
		if err != nil {
			t.Fatal(err)
		}
		attended, read := 0, map[int]bool{}
		for last := seq - query + 1; last <= seq; last++ { // tokens up to and with the query's own
			for token := 1; token <= last; token++ {
				if a.Window == 0 || token > last-a.Window {
					attended++
					read[token] = true
				}
			}
		}
		const n = 3
		for _, it := range g.Append(nil, graph.Batch{Segments: []graph.Segment{{Requests: n, Query: query, Seq: seq, Decode: query == 1}}}) {
			if it.Op.Kind != op.Attention {
				continue
			}
			span := it.Op.Prefill
			if query == 1 {
				span = it.Op.Decode
			}
			want := op.Span{Requests: n, Tokens: float64(n * query), Pairs: float64(n * attended), Context: float64(n * len(read))}
			if span != want {
				t.Errorf("want %+v, got %+v", want, span)
			}
			if it.Op.Window != float64(a.Window) {
				t.Errorf("a window of %g", it.Op.Window)
			}
		}
	})
}

// TestCompressedByCounting: behind a cache with one entry for several tokens stand the recent ones themselves; a selection
// takes the most of the entries it may.
func TestCompressedByCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := latent()
		a := &m.Kinds[0].Attention
		a.Compress, a.Local = rapid.IntRange(2, 9).Draw(t, "compress"), rapid.IntRange(1, 40).Draw(t, "local")
		query := rapid.OneOf(rapid.Just(1), rapid.IntRange(6, 60)).Draw(t, "query")
		seq := query + rapid.IntRange(0, 100).Draw(t, "before")
		g, err := graph.New(plain(m))
		if err != nil {
			t.Fatal(err)
		}
		attended, entries, recent := 0, map[int]bool{}, map[int]bool{}
		for last := seq - query + 1; last <= seq; last++ {
			for token := 1; token <= last; token++ {
				if token%a.Compress == 1 { // the first of an entry's tokens
					attended++
					entries[token] = true
				}
				if token > last-a.Local {
					attended++
					recent[token] = true
				}
			}
		}
		for _, it := range g.Append(nil, graph.Batch{Segments: []graph.Segment{{Requests: 1, Query: query, Seq: seq, Decode: query == 1}}}) {
			if it.Op.Kind != op.Latent {
				continue
			}
			span := it.Op.Prefill
			if query == 1 {
				span = it.Op.Decode
			}
			if want := (op.Span{Requests: 1, Tokens: float64(query), Pairs: float64(attended), Context: float64(len(entries) + len(recent))}); span != want {
				t.Errorf("want %+v, got %+v", want, span)
			}
		}
	})
}

// TestGroupsOfScales: an MXFP4 scale is shared by 32 elements unless another number is given.
func TestGroupsOfScales(t *testing.T) {
	for given, want := range map[int]int{0: 32, 64: 64} {
		q := graph.Resolve(dense(), graph.Physical(), graph.Actions{Linear: dtype.MXFP4Action, MXFP4Group: given})
		if q.Dense.Group != want || q.Experts.Group != want {
			t.Errorf("%d given: %+v", given, q.Dense)
		}
	}
}
