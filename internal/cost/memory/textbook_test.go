package memory_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Memory worked out by hand for models of small and different sizes, in bfloat16: two bytes an element.
const (
	hidden, vocab, positions = 60, 1009, 512
	heads, kvHeads, width    = 12, 4, 10
	inner                    = 84
	wide                     = 2
)

func dense(layers int) *model.Model {
	return &model.Model{
		ID: "dense", Hidden: hidden, Vocab: vocab, MaxPosition: positions, DType: dtype.BF16, Layers: make([]int, layers),
		Kinds: []model.Layer{{
			Attention: model.Attention{Kind: model.GQA, Heads: heads, KVHeads: kvHeads, HeadDim: width, ValueDim: width, RopeDim: width, QKNorm: model.PerHead},
			FFN:       model.FFN{Kind: model.Dense, Intermediate: inner}, Norms: 2, Streams: 1,
		}},
	}
}

func specOf(m *model.Model, l parallel.Layout) *graph.Spec {
	return &graph.Spec{
		Model: m, Layout: l.Complete(m), Policy: graph.Physical(), Compile: true,
		Quant: graph.Resolve(m, graph.Physical(), graph.Actions{Linear: dtype.Disabled}),
	}
}

func holds(t *testing.T, what string, s *graph.Spec, elements float64) {
	t.Helper()
	if got := float64(memory.New(s).Weights()); math.Abs(got-wide*elements) > 1e-6 {
		t.Errorf("%s: want %.0f elements, got %.1f", what, elements, got/wide)
	}
}

// attention is a rank's share of a dense layer up to the feed-forward part: norms, projections, norms of heads.
func attention(tp float64) float64 {
	kv := math.Max(1, kvHeads/tp)
	return 2*hidden + hidden*(heads/tp+2*kv)*width + heads/tp*width*hidden + 2*width
}

// rim is the embedding and the head, each cut over the vocabulary, the rotation's tables and the last norm.
func rim(tp float64) (first, last float64) {
	cut := math.Ceil(vocab / tp)
	return cut*hidden + 2*positions*width, cut*hidden + hidden
}

func TestDenseWeights(t *testing.T) {
	for _, tp := range []float64{1, 2, 4, 12} {
		first, last := rim(tp)
		layer := attention(tp) + 3*hidden*math.Ceil(inner/tp)
		holds(t, fmt.Sprintf("TP %g", tp), specOf(dense(5), parallel.Layout{Devices: int(tp), TP: int(tp)}), first+last+5*layer)
		if tp > 4 {
			continue
		}
		// Five layers over two stages: three and the embedding, or two and the head; over three: two, two, one.
		two := specOf(dense(5), parallel.Layout{Devices: 2 * int(tp), TP: int(tp), PP: 2})
		holds(t, fmt.Sprintf("TP %g, PP 2", tp), two, math.Max(first+3*layer, last+2*layer))
		three := specOf(dense(5), parallel.Layout{Devices: 3 * int(tp), TP: int(tp), PP: 3})
		holds(t, fmt.Sprintf("TP %g, PP 3", tp), three, math.Max(first+2*layer, last+layer))
	}
}

// TestSmallWeights: each option of a layer adds what it is.
func TestSmallWeights(t *testing.T) {
	first, last := rim(2)
	layer := attention(2) + 3*hidden*inner/2
	for _, c := range []struct {
		name   string
		change func(*model.Model, *graph.Spec)
		more   float64
	}{
		{"bias", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].Attention.Bias = true }, (heads + 2*kvHeads) / 2 * width},
		{"output bias", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].Attention.OutBias = true }, hidden},
		{"sinks", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].Attention.Sinks = true }, heads / 2},
		{"gate", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].Attention.OutGate = true }, hidden * heads / 2 * width},
		{"values are keys", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].Attention.KeyIsVal = true }, -hidden * kvHeads / 2 * width},
		{"shared keys", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].Attention.SharedKV = true }, -hidden * 2 * kvHeads / 2 * width},
		{"norm of all heads", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].Attention.QKNorm = model.WholeVector }, (heads+kvHeads)/2*width - 2*width},
		{"no norm of heads", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].Attention.QKNorm = model.NoQKNorm }, -2 * width},
		{"four norms", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].Norms = 4 }, 2 * hidden},
		{"no gate", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].FFN.Ungated = true }, -hidden * inner / 2},
		{"biases of the feed-forward part", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].FFN.Bias = true }, 2*inner/2 + hidden},
		{"biases without a gate", func(m *model.Model, _ *graph.Spec) { m.Kinds[0].FFN.Bias, m.Kinds[0].FFN.Ungated = true, true }, -hidden*inner/2 + inner/2 + hidden},
		{"tied head", func(m *model.Model, _ *graph.Spec) { m.Tied = true }, -math.Ceil(vocab/2.) * hidden},
		{"a low-rank output", func(m *model.Model, _ *graph.Spec) {
			m.Kinds[0].Attention.OutRank, m.Kinds[0].Attention.OutGroup = 7, 6
		}, 7*heads/2*width + 7*6/2*hidden - heads/2*width*hidden},
		{"a selector", func(m *model.Model, _ *graph.Spec) {
			m.Kinds[0].Attention.Indexer = model.Indexer{Heads: 3, Dim: 5, TopK: 9}
		}, hidden*3*5 + 2*5 + hidden*5},
		{"a borrowed selection", func(m *model.Model, _ *graph.Spec) {
			m.Kinds[0].Attention.Indexer = model.Indexer{Heads: 3, Dim: 5, TopK: 9, Shared: true}
		}, 0},
	} {
		m := dense(1)
		s := specOf(m, parallel.Layout{Devices: 2, TP: 2})
		c.change(m, s)
		holds(t, c.name, s, first+last+layer+c.more)
	}
	// Parallel residual streams: mixing weights in each layer and before the last norm.
	const streams = 3
	m := dense(1)
	m.Kinds[0].Streams = streams
	holds(t, "streams", specOf(m, parallel.Layout{Devices: 2, TP: 2}), first+last+layer+2*(2+streams)*streams*(streams*hidden+1)+streams*streams*hidden)
	// A draft model is so many more of the last layer; a MTP module a layer, a joint projection and two norms.
	s := specOf(dense(2), parallel.Layout{Devices: 2, TP: 2})
	s.Draft.Layers = 3
	holds(t, "a draft model", s, first+last+5*layer)
	s = specOf(dense(2), parallel.Layout{Devices: 2, TP: 2})
	s.Model.MTP, s.MTP = model.MTP{Layers: 2}, 2
	holds(t, "drafts", s, first+last+4*layer+2*(2*hidden*hidden+2*hidden))
}

const experts, choice, expertInner, sharedInner = 24, 3, 36, 48

func mixture() *model.Model {
	m := dense(1)
	m.Kinds[0].FFN = model.FFN{Kind: model.MoE, Experts: experts, TopK: choice, ExpertIntermediate: expertInner, SharedIntermediate: sharedInner}
	return m
}

// TestExpertWeights: experts are cut over ranks, or into slices; the router is whole everywhere; shared experts are cut
// over tensor-parallel ranks that see the same tokens.
func TestExpertWeights(t *testing.T) {
	for _, c := range []struct {
		tp, dp, ep           int
		local, inner, shared float64
	}{
		{1, 1, 1, experts, expertInner, sharedInner},
		{4, 1, 1, experts, expertInner / 4, sharedInner / 4},
		{4, 1, 4, experts / 4, expertInner, sharedInner / 4},
		{4, 1, 2, experts / 2, expertInner / 2, sharedInner / 4},
		{1, 4, 4, experts / 4, expertInner, sharedInner},
		{2, 2, 4, experts / 4, expertInner, sharedInner},
		{2, 2, 1, experts, expertInner / 4, sharedInner},
		{1, 5, 5, 5, expertInner, sharedInner}, // 24 over 5, rounded up
	} {
		m := mixture()
		first, last := rim(float64(c.tp))
		want := first + last + attention(float64(c.tp)) + hidden*experts + 3*hidden*(c.local*c.inner+c.shared)
		l := parallel.Layout{Devices: c.tp * c.dp, TP: c.tp, DP: c.dp, EP: c.ep}
		holds(t, fmt.Sprintf("%+v", c), specOf(m, l), want)
		m.Kinds[0].FFN.SharedGate = true
		holds(t, "a gate of the shared experts", specOf(m, l), want+hidden)
		m.Kinds[0].FFN.RouterBias = true
		holds(t, "a bias of the router", specOf(m, l), want+hidden+experts)
		m.Kinds[0].FFN.Latent = 20
		holds(t, "narrow experts", specOf(m, l), want+hidden+experts+2*hidden*20+20-3*(hidden-20)*c.local*c.inner)
	}
}

// TestTilesOfExperts: MXFP4 matrices are padded to tiles of 128 each way; a byte of scale goes with 32 weights.
func TestTilesOfExperts(t *testing.T) {
	m := mixture()
	m.Kinds[0].FFN.SharedIntermediate = 0
	s := specOf(m, parallel.Layout{Devices: 1})
	before := memory.New(s).Weights()
	s.Quant.Experts = dtype.Scheme{Weight: dtype.FP4, Activation: dtype.BF16, Group: 32, Scale: dtype.FP8}
	const padded = 128 * 128 // of 60 by 36
	want := -wide*3*hidden*experts*expertInner + experts*3*padded*(0.5+1./32)
	if got := float64(memory.New(s).Weights() - before); math.Abs(got-want) > 1e-6 {
		t.Errorf("want %.0f bytes more, got %.0f", want, got)
	}
	s.Quant.Experts.Group = 16 // not MXFP4
	want = -wide*3*hidden*experts*expertInner + experts*3*hidden*expertInner*(0.5+1./16)
	if got := float64(memory.New(s).Weights() - before); math.Abs(got-want) > 1e-6 {
		t.Errorf("in groups of 16: want %.0f bytes more, got %.0f", want, got)
	}
}

// TestLatentWeights: low-rank queries, the latent with its rotated part, and what expands it.
func TestLatentWeights(t *testing.T) {
	const queryRank, rank, rope, nope, value = 30, 20, 6, 14, 8
	for _, tp := range []float64{1, 2} {
		first, last := rim(tp)
		first += 2 * positions * (rope - width)
		h := heads / tp
		rest := first + last + 2*hidden + 3*hidden*math.Ceil(inner/tp) + hidden*(rank+rope) + rank + rank*h*(nope+value) + h*value*hidden
		queries := hidden*queryRank + queryRank + queryRank*h*(nope+rope)
		build := func(change func(*model.Attention)) *graph.Spec {
			m := dense(1)
			a := &m.Kinds[0].Attention
			*a = model.Attention{Kind: model.MLA, Heads: heads, KVHeads: heads, HeadDim: nope + rope, ValueDim: value, RopeDim: rope, QRank: queryRank, KVRank: rank}
			change(a)
			return specOf(m, parallel.Layout{Devices: int(tp), TP: int(tp)})
		}
		holds(t, "latent", build(func(*model.Attention) {}), rest+queries)
		holds(t, "full-rank queries", build(func(a *model.Attention) { a.QRank = 0 }), rest+hidden*h*(nope+rope))
		holds(t, "gate", build(func(a *model.Attention) { a.OutGate = true }), rest+queries+hidden*h*value)
		holds(t, "sinks", build(func(a *model.Attention) { a.Sinks = true }), rest+queries+h)
		holds(t, "no expansion", build(func(a *model.Attention) { a.KeyIsVal = true }), rest+queries-rank*h*(nope+value))
		selector := queryRank*3*5.0 + 2*5 + hidden*3 + hidden*5
		holds(t, "selector", build(func(a *model.Attention) { a.Indexer = model.Indexer{Heads: 3, Dim: 5, TopK: 9} }), rest+queries+selector)
	}
}

// TestCachedBytes: what a token and a request keep, on a rank.
func TestCachedBytes(t *testing.T) {
	const rank, rope = 20, 6
	recurrent := model.Recurrent{KeyHeads: 4, ValueHeads: 8, KeyDim: 5, ValueDim: 7, Groups: 2, Conv: 4, StateFormat: dtype.F32}
	for _, c := range []struct {
		name              string
		a                 model.Attention
		tp, dcp           int
		perToken, request float64 // bytes
	}{
		{"heads", model.Attention{Kind: model.GQA, Heads: heads, KVHeads: kvHeads, HeadDim: 10, ValueDim: 6}, 2, 1, wide * 2 * 16, 0},
		{"copied heads", model.Attention{Kind: model.GQA, Heads: heads, KVHeads: kvHeads, HeadDim: 10, ValueDim: 6}, 12, 1, wide * 16, 0},
		{"copies that share", model.Attention{Kind: model.GQA, Heads: heads, KVHeads: 2, HeadDim: 10, ValueDim: 6}, 12, 3, wide * 16 / 3., 0},
		{"no more sharers than copies", model.Attention{Kind: model.GQA, Heads: heads, KVHeads: 4, HeadDim: 10, ValueDim: 6}, 12, 6, wide * 16 / 3., 0},
		{"another layer's", model.Attention{Kind: model.GQA, Heads: heads, KVHeads: kvHeads, HeadDim: 10, ValueDim: 6, SharedKV: true}, 1, 1, 0, 0},
		{"latent", model.Attention{Kind: model.MLA, Heads: heads, KVHeads: heads, HeadDim: 10, ValueDim: 6, KVRank: rank, RopeDim: rope}, 4, 1, wide * (rank + rope), 0},
		{"latent, cut", model.Attention{Kind: model.MLA, Heads: heads, KVHeads: heads, HeadDim: 10, ValueDim: 6, KVRank: rank, RopeDim: rope}, 4, 2, wide * (rank + rope) / 2., 0},
		{
			"selected",
			model.Attention{Kind: model.MLA, Heads: heads, KVHeads: heads, HeadDim: 10, ValueDim: 6, KVRank: rank, RopeDim: rope, Indexer: model.Indexer{Heads: 2, Dim: 30, TopK: 5}},
			4, 2, wide*(rank+rope) + 30 + 4, 0, // a key in fp8 with its scale, and nothing cut
		},
		{"delta rule", model.Attention{Kind: model.GatedDelta, Recurrent: recurrent}, 2, 1, 0, 4*4*5*7 + wide*3*(4*7+2*2*5)},
		{"delta rule, heads copied", model.Attention{Kind: model.GatedDelta, Recurrent: recurrent}, 16, 1, 0, 4*1*5*7 + wide*3*(1*7+2*1*5)},
		{"state space", model.Attention{Kind: model.Mamba2, Recurrent: recurrent}, 2, 1, 0, 4*4*5*7 + wide*3*(4*7+2*1*5)},
		{"state space, heads copied", model.Attention{Kind: model.Mamba2, Recurrent: recurrent}, 16, 1, 0, 4*1*5*7 + wide*3*(1*7+2*1*5)},
	} {
		m := dense(3)
		m.Kinds[0].Attention = c.a
		s := specOf(m, parallel.Layout{Devices: c.tp, TP: c.tp, DCP: c.dcp})
		mem := memory.New(s)
		if got := float64(mem.BytesPerToken(1)); math.Abs(got-3*c.perToken) > 1e-9 {
			t.Errorf("%s: want %g bytes a token, got %g", c.name, 3*c.perToken, got)
		}
		// Whole blocks of 16 tokens: 5 requests with 255 tokens and one to come fill eighty.
		want := 3 * 5 * c.request
		if c.perToken > 0 {
			cut := 1.
			if c.dcp > 1 && c.a.Indexer.TopK == 0 {
				cut = min(float64(c.dcp), max(1, float64(c.tp)/float64(c.a.KVHeads)))
				if c.a.Kind == model.MLA {
					cut = float64(c.dcp)
				}
			}
			want += 3 * math.Ceil(80/cut) * 16 * c.perToken * cut
		}
		if got := float64(mem.KV(batch(5, 1, 255))); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: want a cache of %g bytes, got %g", c.name, want, got)
		}
	}
	narrow := recurrent
	narrow.StateFormat = dtype.None // the model's own
	m := dense(1)
	m.Kinds[0].Attention = model.Attention{Kind: model.GatedDelta, Recurrent: narrow}
	if got := float64(memory.New(specOf(m, parallel.Layout{Devices: 1})).KV(batch(1, 1, 1))); got != wide*8*5*7+wide*3*(8*7+2*4*5) {
		t.Errorf("a state in bfloat16 takes %g", got)
	}
}

// TestCompressedCache: one entry for so many tokens, rounded up, and the recent tokens themselves, in blocks.
func TestCompressedCache(t *testing.T) {
	const rank, rope, compress, local = 20, 6, 5, 200
	for _, c := range []struct {
		local, seq, blocks, entries float64
	}{{local, 999, 13, 200}, {local, 1000, 13, 201}, {local, 50, 4, 11}, {0, 999, 0, 200}} {
		m := dense(1)
		m.Kinds[0].Attention = model.Attention{Kind: model.MLA, Heads: heads, KVHeads: heads, HeadDim: 10, ValueDim: 6, KVRank: rank, RopeDim: rope, Compress: compress, Local: int(c.local)}
		mem := memory.New(specOf(m, parallel.Layout{Devices: 1}))
		want := wide * (rank + rope) * (16*c.blocks + c.entries)
		if got := float64(mem.KV(batch(1, 1, int(c.seq)))); got != want {
			t.Errorf("%+v: want %g, got %g", c, want, got)
		}
		if got := float64(mem.BytesPerToken(0)); math.Abs(got-float64(wide*(rank+rope))/compress) > 1e-9 {
			t.Errorf("%g bytes a token", got)
		}
	}
}

// TestTrialByHand: while logits are sampled the hidden states before and after the last norm are there, and the rows
// dispatched to experts, each as wide as the model and as gate and up; but for fp4, whose kernels route inside.
func TestTrialByHand(t *testing.T) {
	const tokens, sequences, copies = 100, 50, 3
	m := mixture()
	s := specOf(m, parallel.Layout{Devices: 4, TP: 4})
	const states = wide * 2 * tokens * hidden
	const rows = wide * tokens * choice * (hidden + 2*expertInner/4)
	const samples = 4 * copies * sequences * vocab
	mem := memory.New(s)
	if got := mem.Trial(tokens, sequences, copies); got != states+rows+samples {
		t.Errorf("want %d, got %v", states+rows+samples, float64(got))
	}
	s.Quant.Experts = dtype.Scheme{Weight: dtype.FP4, Activation: dtype.FP4, Group: 16, Scale: dtype.FP8}
	if got := memory.New(s).Trial(tokens, sequences, copies); got != states+samples {
		t.Errorf("fp4: want %d, got %v", states+samples, float64(got))
	}
	if got := memory.New(s).Trial(tokens, 0, 0); got < states+rows {
		t.Errorf("fp4 without logits: want %d at least, got %v", states+rows, float64(got))
	}
}

// TestUse: what is left of a device is what nothing else takes.
func TestUse(t *testing.T) {
	mem := memory.New(specOf(dense(2), parallel.Layout{Devices: 1}))
	b := batch(3, 2, 100)
	u := mem.Use(b, 1e9, 1e6)
	if u.Weights != mem.Weights() || u.KV != mem.KV(b) || u.Activation != mem.Activation(b) || u.Reserved != 1e6 ||
		u.Available != 1e9-u.Weights-u.KV-u.Activation-1e6 {
		t.Errorf("%+v", u)
	}
}

// TestMemoryPictures shows what catalog models keep on a device, under both policies.
func TestMemoryPictures(t *testing.T) {
	type layout = parallel.Layout
	var out bytes.Buffer
	for _, c := range []struct {
		model  string
		layout layout
	}{
		{"deepseek-ai/DeepSeek-V3", layout{Devices: 16, TP: 8, EP: 16}},
		{"deepseek-ai/DeepSeek-V4-Flash", layout{Devices: 4, TP: 4, EP: 4}},
		{"deepseek-ai/DeepSeek-V2-Lite", layout{Devices: 4, TP: 2, PP: 2}},
		{"moonshotai/Kimi-K3", layout{Devices: 16, TP: 8, EP: 16}},
		{"moonshotai/Kimi-Linear-48B-A3B-Instruct", layout{Devices: 4, TP: 4}},
		{"Qwen/Qwen3.5-397B-A17B", layout{Devices: 8, TP: 8, EP: 8}},
		{"nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16", layout{Devices: 4, TP: 2, EP: 4}},
		{"google/gemma-4-26B-A4B", layout{Devices: 2, TP: 2}},
		{"google/gemma-3-4b-it", layout{Devices: 1}},
		{"openai/gpt-oss-120b", layout{Devices: 4, TP: 4}},
		{"MiniMaxAI/MiniMax-M3", layout{Devices: 8, TP: 4, EP: 8}},
		{"Qwen/Qwen2-57B-A14B", layout{Devices: 4, TP: 2, EP: 2, MoETP: 2}},
		{"Qwen/Qwen2.5-VL-7B-Instruct", layout{Devices: 2, TP: 2, PP: 1}},
		{"Qwen/Qwen3-8B", layout{Devices: 32, TP: 16, DCP: 2, PP: 2}},
		{"meta-llama/Llama-4-Scout-17B-16E", layout{Devices: 4, TP: 4}},
	} {
		m, err := model.Lookup(c.model)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []graph.Policy{graph.Physical(), tensorcast.Policy()} {
			s := &graph.Spec{Model: m, Layout: c.layout.Complete(m), Policy: p, Vision: true, Compile: true, Quant: graph.Resolve(m, p, graph.Actions{})}
			s.MTP = m.MTP.Layers
			mem := memory.New(s)
			steps := graph.Batch{Segments: []graph.Segment{{Requests: 40, Query: 1, Seq: 5000, Decode: true}, {Requests: 2, Query: 300, Seq: 1000}}}
			fmt.Fprintf(&out, "%s %+v %s\n", c.model, s.Layout, p.Name)
			line := func(what string, b units.Bytes) { fmt.Fprintf(&out, "\t%s %.0f\n", what, float64(b)) }
			line("weights", mem.Weights())
			line("cache", mem.KV(steps))
			line("a token", mem.BytesPerToken(0))
			line("a token, half of a window", mem.BytesPerToken(0.5))
			line("an index key", mem.IndexKey())
			line("activations", mem.Activation(steps))
			line("a trial", mem.Trial(8192, 256, 2))
		}
	}
	golden.Check(t, "testdata/catalog.golden", out.Bytes())
}

// TestRecurrentWeights: projections of keys, queries, values, gate, step and decay, the convolution, and what each head
// has of its own; a rank has one head at least.
func TestRecurrentWeights(t *testing.T) {
	const keys, values, key, value, groups, kernel = 4, 8, 5, 7, 2, 4
	r := model.Recurrent{KeyHeads: keys, ValueHeads: values, KeyDim: key, ValueDim: value, Groups: groups, Conv: kernel}
	for _, tp := range []float64{1, 2, 16} {
		first, last := rim(tp)
		first -= 2 * positions * width // nothing is rotated
		rest := first + last + 2*hidden + 3*hidden*math.Ceil(inner/tp)
		kh, vh, g := math.Max(1, keys/tp), math.Max(1, values/tp), math.Max(1, groups/tp)
		build := func(kind model.AttentionKind, change func(*model.Recurrent)) *graph.Spec {
			m := dense(1)
			m.Kinds[0].Attention = model.Attention{Kind: kind, Recurrent: r}
			change(&m.Kinds[0].Attention.Recurrent)
			return specOf(m, parallel.Layout{Devices: int(tp), TP: int(tp)})
		}
		none := func(*model.Recurrent) {}
		delta := hidden*(2*kh*key+vh*value+vh) + hidden*vh*value + (2*kh*key+vh*value)*kernel + vh + value // up to the step size's bias and the norm
		gate, decay := hidden*vh*value, hidden*vh+vh
		holds(t, "delta rule", build(model.GatedDelta, none), rest+delta+gate+decay)
		holds(t, "low-rank gate", build(model.GatedDelta, func(r *model.Recurrent) { r.GateRank = 3 }), rest+delta+hidden*3+3*vh*value+decay)
		holds(t, "decay of channels", build(model.GatedDelta, func(r *model.Recurrent) { r.ChannelDecay = true }), rest+delta+gate+hidden*key+key*kh*key+kh*key)
		conv := vh*value + 2*g*key
		holds(t, "state space", build(model.Mamba2, none), rest+hidden*(vh*value+conv+vh)+vh*value*hidden+conv*(kernel+1)+3*vh+vh*value)
	}
}
