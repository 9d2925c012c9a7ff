package memory_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// plain is a catalog model in bfloat16, without deviations, on one device.
func plain(t *testing.T, id string) *graph.Spec {
	t.Helper()
	m, err := model.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	disabled := graph.Actions{Linear: dtype.Disabled, Attention: dtype.Disabled}
	return &graph.Spec{
		Model: m, Layout: parallel.Layout{}.Complete(m), Policy: graph.Physical(), Vision: true, Compile: true,
		Quant: graph.Resolve(m, graph.Physical(), disabled).Rebase(dtype.BF16),
	}
}

func batch(requests, query, seq int) graph.Batch {
	return graph.Batch{Segments: []graph.Segment{{Requests: requests, Query: query, Seq: seq}}}
}

// TestWeightsAreTheParameters: on one device in bfloat16 the weights are two
// bytes for each parameter, and the rotary tables. The counts of package model
// agree with those the makers publish.
func TestWeightsAreTheParameters(t *testing.T) {
	for _, e := range model.IDs() {
		s := plain(t, e.ID)
		rope := 0
		for _, k := range s.Model.Kinds {
			rope = max(rope, k.Attention.RopeDim)
		}
		want := 2*float64(s.Model.Facts().Parameters) + 2*2*float64(s.Model.MaxPosition*rope)
		if got := float64(memory.New(s).Weights()); math.Abs(got-want) > 1 {
			t.Errorf("%s: want %.0f bytes, got %.0f (%+.4f %%)", e.ID, want, got, 100*(got/want-1))
		}
	}
}

// TestPredictionModules: a module in use adds its own weights, and under
// TensorCast another embedding and head.
func TestPredictionModules(t *testing.T) {
	s := plain(t, "deepseek-ai/DeepSeek-V3")
	m := s.Model
	without := memory.New(s).Weights()
	s.MTP = m.MTP.Layers
	got, want := float64(memory.New(s).Weights()-without), 2*float64(m.Facts().MTPParameters)
	if math.Abs(got/want-1) > 1e-5 { // the norm before the head is shared here
		t.Errorf("want %.0f bytes, got %.0f", want, got)
	}
	copies := *s
	copies.Policy.UnsharedWeights = true
	more := float64(memory.New(&copies).Weights() - memory.New(s).Weights())
	if want := 2 * 2 * float64(m.Vocab*m.Hidden); more != want {
		t.Errorf("copies: want %.0f bytes, got %.0f", want, more)
	}
}

// TestDraft: a draft model is as large as that many more of the last layer.
func TestDraft(t *testing.T) {
	s, longer := plain(t, "Qwen/Qwen3-8B"), plain(t, "Qwen/Qwen3-8B")
	s.Draft.Layers = 2
	last := longer.Model.Layers[len(longer.Model.Layers)-1]
	longer.Model.Layers = append(longer.Model.Layers, last, last)
	want, got := memory.New(longer), memory.New(s)
	if b := batch(3, 1, 1000); got.Weights() != want.Weights() || got.KV(b) != want.KV(b) {
		t.Errorf("want weights %v and KV %v, got %v and %v", want.Weights(), want.KV(b), got.Weights(), got.KV(b))
	}
	short := got.KV(batch(1, 1, 1))
	s.Draft.Block = 17 // its tokens need room in the cache
	if long := memory.New(s).KV(batch(1, 1, 1)); long != 2*short {
		t.Errorf("want a second block of %v, got %v", short, long)
	}
}

// TestCachePerToken: a token takes what package model says, and the cache of a
// long request grows by just that.
func TestCachePerToken(t *testing.T) {
	for _, e := range model.IDs() {
		s := plain(t, e.ID)
		var want units.Bytes // of layers whose cache grows without end
		for i, n := range s.Model.Counts() {
			if a := &s.Model.Kinds[i].Attention; a.Window == 0 {
				want += units.Bytes(n) * dtype.BF16.Bytes(a.KVElements())
				if ix := &a.Indexer; ix.TopK > 0 && !ix.Shared { // 8 bits and a scale instead of 16 bits
					want -= units.Bytes(n) * units.Bytes(ix.Dim-4) / units.Bytes(max(1, a.Compress))
				}
			}
		}
		mem := memory.New(s)
		kept := want
		if kept == 0 { // all layers have windows, or none attends: sequences up to the window keep every token
			kept = mem.BytesPerToken(1)
		}
		if got := mem.BytesPerToken(0); math.Abs(float64(got-kept)) > 1e-6 {
			t.Errorf("%s: want %v, got %v", e.ID, kept, got)
		}
		const long, more = 1 << 20, 128 * 128 // whole blocks, whole compressed entries, windows full
		grown := mem.KV(batch(3, 1, long+more)) - mem.KV(batch(3, 1, long))
		if math.Abs(float64(grown-3*more*want)) > 1 {
			t.Errorf("%s: %d tokens of three requests add %v, want %v", e.ID, more, grown, 3*more*want)
		}
	}
}

// TestCacheInBlocks works one cache out by hand: Qwen3-8B keeps 36 layers of 8
// heads of 2 × 128 elements, in blocks of TensorCast's 128 tokens, with room for the tokens
// the step predicts and the one it produces.
func TestCacheInBlocks(t *testing.T) {
	const perBlock = 128 * 36 * 8 * 2 * 128 * 2
	for _, c := range []struct {
		tp, dcp, pp, mtp, requests, seq int
		want                            float64
	}{
		{1, 1, 1, 0, 1, 127, 1 * perBlock},
		{1, 1, 1, 0, 1, 128, 2 * perBlock},
		{1, 1, 1, 0, 4, 31, 1 * perBlock}, // requests fill blocks together
		{1, 1, 1, 1, 1, 127, 2 * perBlock * 37. / 36},
		{2, 1, 1, 0, 1, 127, perBlock / 2.},
		{16, 1, 1, 0, 1, 255, 2 * perBlock / 8.},      // no less than one head
		{16, 2, 1, 0, 1, 255, 1 * perBlock / 8.},      // copies of a head share the context
		{1, 1, 5, 0, 1, 127, perBlock * 8. / 36},      // 8, 7, 7, 7, 7 layers
		{1, 1, 36, 0, 1, 127, perBlock / 36.},         // one layer each
		{2, 1, 2, 0, 2, 1000, 16 * perBlock / 4.},     // 2002 tokens
		{1, 1, 1, 0, 1, 0, 1 * perBlock},              // an empty request still produces
		{1, 1, 1, 3, 1, 124, 1 * perBlock * 37. / 36}, // 124 + 3 + 1; all drafts by one layer
	} {
		s := plain(t, "Qwen/Qwen3-8B")
		s.Layout = parallel.Layout{Devices: c.tp * c.pp, TP: c.tp, PP: c.pp, DCP: c.dcp}.Complete(s.Model)
		s.MTP, s.Policy.PageTokens = c.mtp, tensorcast.Policy().PageTokens
		if got := float64(memory.New(s).KV(batch(c.requests, 1, c.seq))); math.Abs(got-c.want) > 1 {
			t.Errorf("%+v: got %.0f", c, got)
		}
	}
	if got := float64(memory.New(plain(t, "Qwen/Qwen3-8B")).KV(batch(1, 1, 127))); got != perBlock {
		t.Errorf("eight blocks of 16 tokens: got %.0f, want %d", got, perBlock)
	}
	if got := float64(memory.New(plain(t, "Qwen/Qwen3-8B")).KV(batch(1, 1, 128))); got != perBlock*9./8 {
		t.Errorf("nine blocks of 16 tokens: got %.0f, want %d", got, perBlock*9/8)
	}
}

// TestWindowsAndStates: a window stops the cache from growing, a recurrent state
// never grows.
func TestWindowsAndStates(t *testing.T) {
	for _, id := range []string{"mistralai/Mistral-7B-v0.1", "nvidia/Nemotron-H-8B-Base-8K"} {
		s := plain(t, id)
		var bounded []model.Layer
		for _, k := range s.Model.Kinds {
			if k.Attention.KVElements() == 0 || k.Attention.Window > 0 {
				bounded = append(bounded, k)
			}
		}
		s.Model.Layers = make([]int, 4)
		s.Model.Kinds = bounded[:1]
		mem := memory.New(s)
		short, long := mem.KV(batch(2, 1, 50_000)), mem.KV(batch(2, 1, 100_000))
		if short != long || long <= 0 {
			t.Errorf("%s: %v at 50 000 tokens, %v at 100 000", id, short, long)
		}
	}
	s := plain(t, "nvidia/Nemotron-H-8B-Base-8K")
	states := float64(memory.New(s).KV(batch(8, 1, 127)) - memory.New(s).KV(batch(4, 1, 255))) // as many blocks
	if want := 4 * float64(s.Model.StateBytes()); math.Abs(states-want) > 1 {
		t.Errorf("state of four requests: want %.0f, got %.0f", want, states)
	}
}

// TestActivation works one peak out by hand: four hidden widths, eight rotary
// ones, gate and up, and twenty bytes of indices for each token.
func TestActivation(t *testing.T) {
	s := plain(t, "Qwen/Qwen3-8B")
	const tokens = 3 * 7
	want := float64(tokens * (2*(4*4096+8*128+2*12288) + 20))
	if got := float64(memory.New(s).Activation(batch(3, 7, 7))); got != want {
		t.Errorf("want %.0f, got %.0f", want, got)
	}
}

// TestTrial: the step an engine tries out takes what its tokens take, or what its
// logits do, whichever is more; and more of anything never takes less.
func TestTrial(t *testing.T) {
	for _, id := range []string{"Qwen/Qwen3-8B", "Qwen/Qwen3-30B-A3B", "deepseek-ai/DeepSeek-V3", "openai/gpt-oss-20b"} {
		s := plain(t, id)
		m := memory.New(s)
		rapid.Check(t, func(t *rapid.T) {
			tokens, sequences := rapid.IntRange(1, 1<<15).Draw(t, "tokens"), rapid.IntRange(0, 1<<11).Draw(t, "sequences")
			copies := rapid.Float64Range(0, 10).Draw(t, "copies")
			got := m.Trial(tokens, sequences, copies)
			if step := m.Activation(batch(1, tokens, tokens)); got < step {
				t.Fatalf("%v, and the step alone takes %v", got, step)
			}
			if logits := units.Bytes(copies * float64(4*sequences*s.Model.Vocab)); got < logits {
				t.Fatalf("%v, and the logits alone take %v", got, logits)
			}
			for _, more := range []units.Bytes{
				m.Trial(2*tokens, sequences, copies), m.Trial(tokens, sequences+1, copies), m.Trial(tokens, sequences, copies+1),
			} {
				if more < got {
					t.Fatalf("more takes %v, less than %v", more, got)
				}
			}
		})
	}
}

// TestTiles: experts in MXFP4 are padded to tiles of 128, as TensorRT-LLM loads
// gpt-oss-120b: 63.5 GiB.
func TestTiles(t *testing.T) {
	s := plain(t, "openai/gpt-oss-120b")
	s.Quant = graph.Resolve(s.Model, s.Policy, graph.Actions{})
	if got := memory.New(s).Weights().GiB(); math.Abs(got/63.5-1) > 0.005 {
		t.Errorf("want 63.5 GiB, got %.2f", got)
	}
}

// TestWindowShare: layers with a window add their share, between none and all.
func TestWindowShare(t *testing.T) {
	m := memory.New(plain(t, "openai/gpt-oss-120b"))
	const perLayer = 2 * 2 * 8 * 64 // keys and values of 8 heads of 64 in 2 bytes
	for share, layers := range map[float64]units.Bytes{0: 18, 0.5: 27, 1: 36} {
		if want, got := layers*perLayer, m.BytesPerToken(share); got != want {
			t.Errorf("%g: want %v, got %v", share, want, got)
		}
	}
}

// TestEagleHead works the head of Llama-3.1-8B out by hand, sharded over two: a layer whose queries, keys and values take the
// embedding and the hidden state, the projection of three hidden states, whole on each rank, and an output head of 32,000 words; its
// cache is that of one layer. Looking drafts up takes no memory but that of the tokens.
func TestEagleHead(t *testing.T) {
	s := plain(t, "meta-llama/Llama-3.1-8B-Instruct")
	s.Layout = parallel.Layout{Devices: 2, TP: 2}.Complete(s.Model)
	before := memory.New(s)
	s.MTP, s.Drafter = 3, graph.Drafter{Method: draft.EAGLE3, Head: draft.HeadOf(s.Model).Model()}
	with := memory.New(s)
	const h, inner, qkv = 4096, 14336, 4096 + 2*1024
	want := 2.0 * (2*h*qkv/2 + h*h/2 + 3*h*inner/2 + 3*h*h + h*32000/2 + 2*h)
	if got := float64(with.Weights() - before.Weights()); math.Abs(got-want) > 1e-3*want {
		t.Errorf("weights %.0f, want %.0f", got, want)
	}
	if got, want := with.BytesPerToken(1)/before.BytesPerToken(1), units.Bytes(33./32); math.Abs(float64(got-want)) > 1e-9 {
		t.Errorf("%v times the cache, want %v", got, want)
	}
	s.Drafter = graph.Drafter{Method: draft.NGram}
	if found := memory.New(s); found.Weights() != before.Weights() || found.BytesPerToken(1) != before.BytesPerToken(1) {
		t.Error("looking drafts up takes memory")
	}
}
