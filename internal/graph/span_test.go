package graph

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/internal/model"
	"plimsoll/internal/op"
	"plimsoll/internal/units"
)

func anyAttention(t *rapid.T) model.Attention {
	maybe := func(name string, most int) int {
		return rapid.OneOf(rapid.Just(0), rapid.IntRange(1, most)).Draw(t, name)
	}
	a := model.Attention{Window: maybe("window", 300), Compress: maybe("compress", 20), Local: maybe("local", 100)}
	a.Indexer.TopK = maybe("top-k", 200)
	return a
}

// sees is what one query attends to that has n tokens before and with itself,
// counted entry by entry.
func sees(a *model.Attention, n int) int {
	entries := 0
	for i := range n {
		if i%max(1, a.Compress) == 0 {
			entries++
		}
	}
	for _, limit := range []int{a.Indexer.TopK, a.Window} {
		if limit > 0 {
			entries = min(entries, limit)
		}
	}
	return entries + min(n, a.Local)
}

func TestPairsCountEachQuery(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyAttention(t)
		q := rapid.IntRange(1, 60).Draw(t, "query")
		seq := q + rapid.IntRange(0, 400).Draw(t, "context")
		causal, full := 0, q*sees(&a, seq)
		for i := range q {
			causal += sees(&a, seq-i)
		}
		w := walk{g: &Graph{}}
		if got := w.pairs(&a, float64(q), float64(seq)); got != float64(causal) {
			t.Errorf("causal: want %d pairs, got %g", causal, got)
		}
		w.g.spec.Policy.FullAttention = true
		if got := w.pairs(&a, float64(q), float64(seq)); got != float64(full) {
			t.Errorf("full: want %d pairs, got %g", full, got)
		}
	})
}

// TestReach: a request reads at least what its last query attends to, and no
// more than the cache holds.
func TestReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyAttention(t)
		q := rapid.IntRange(1, 60).Draw(t, "query")
		seq := q + rapid.IntRange(0, 400).Draw(t, "context")
		got := reach(&a, float64(seq), float64(q), rapid.Bool().Draw(t, "decode"))
		if least := float64(sees(&a, seq)); got < least {
			t.Errorf("reads %g of the %g entries one query attends to", got, least)
		}
		most := math.Ceil(float64(seq)/grain(&a)) + float64(seq)*math.Min(1, float64(a.Local))
		if got > most {
			t.Errorf("reads %g of %g entries", got, most)
		}
	})
}

func TestSpansSumByPhase(t *testing.T) {
	w := walk{g: &Graph{spec: Spec{Policy: Physical()}}, segments: []Segment{
		{Requests: 3, Query: 5, Seq: 100, Decode: true},
		{Requests: 2, Query: 6, Seq: 10},
	}}
	prefill, decode := w.spans(&model.Attention{})
	if prefill.Requests != 2 || prefill.Tokens != 12 || prefill.Pairs != 2*(5+6+7+8+9+10) || prefill.Context != 20 {
		t.Errorf("prefill: got %+v", prefill)
	}
	if decode.Requests != 3 || decode.Tokens != 15 || decode.Pairs != 3*(96+97+98+99+100) || decode.Context != 300 {
		t.Errorf("decode: got %+v", decode)
	}
	w.requests = 5
	if padded, exact := w.blocks(); padded != 5*7 || exact != 3*7+2 {
		t.Errorf("blocks of 16 tokens: want 7 a request or 7 and 1, got %g and %g", padded, exact)
	}
	w.g.spec.Policy = TensorCast()
	if padded, exact := w.blocks(); padded != 5 || exact != 5 {
		t.Errorf("blocks of 128 tokens: want one a request, got %g and %g", padded, exact)
	}
}

// TestPhaseOfAQuery: kernels are chosen by what a query is for, so that eight
// tokens to verify are a decode and a prompt's last three tokens a prefill, unless
// latent attention would expand a long context for them; TensorCast goes by the
// length.
func TestPhaseOfAQuery(t *testing.T) {
	verify, tail := Segment{Requests: 1, Query: 8, Seq: 100, Decode: true}, Segment{Requests: 1, Query: 3, Seq: 100}
	for _, c := range []struct {
		policy Policy
		s      Segment
		decode bool
	}{
		{Physical(), verify, true},
		{Physical(), tail, false},
		{TensorCast(), verify, false},
		{TensorCast(), tail, true},
		{TensorCast(), Segment{Requests: 1, Query: 5, Seq: 9}, true},
		{TensorCast(), Segment{Requests: 1, Query: 6, Seq: 9}, false},
	} {
		w := walk{g: &Graph{spec: Spec{Policy: c.policy}}, segments: []Segment{c.s}}
		if prefill, decode := w.spans(&model.Attention{}); (decode.Requests == 1) != c.decode || prefill.Requests == decode.Requests {
			t.Errorf("%s, %+v: prefill %+v, decode %+v", c.policy.Name, c.s, prefill, decode)
		}
	}
	w := walk{g: &Graph{spec: Spec{Policy: Physical()}}}
	latent := model.Attention{Kind: model.MLA, KVRank: 512, RopeDim: 64, HeadDim: 192, ValueDim: 128}
	for _, c := range []struct {
		q, cached float64
		decode    bool
	}{{3, 30_000, true}, {170, 30_000, true}, {172, 30_000, false}, {3, 0, false}, {1, 0, false}} {
		if got := w.decodes(&latent, false, c.q, c.cached+c.q); got != c.decode {
			t.Errorf("a prompt's last %g tokens after %g: decode %t", c.q, c.cached, got)
		}
	}
}

// TestLessWork: latent attention does the less work of its two ways with a prompt.
func TestLessWork(t *testing.T) {
	w := walk{g: &Graph{spec: Spec{Policy: Physical()}}}
	rapid.Check(t, func(t *rapid.T) {
		size := func(name string, most int) int { return rapid.IntRange(1, most).Draw(t, name) }
		a := model.Attention{Kind: model.MLA, KVRank: size("rank", 600), RopeDim: size("rope", 64), ValueDim: size("value", 200)}
		a.HeadDim = a.RopeDim + size("head", 200)
		s := Segment{Requests: size("requests", 9), Query: size("query", 500)}
		s.Seq = s.Query + rapid.IntRange(0, 5000).Draw(t, "cached")
		work := func(decode bool) units.Ops {
			o := op.Op{Kind: op.Latent, Heads: 1, Rank: float64(a.KVRank), Rope: float64(a.RopeDim), HeadDim: float64(a.HeadDim), ValueDim: float64(a.ValueDim)}
			n, q, seq := float64(s.Requests), float64(s.Query), float64(s.Seq)
			span := op.Span{Requests: n, Tokens: n * q, Pairs: n * w.pairs(&a, q, seq), Context: n * seq}
			if decode {
				o.Decode = span
			} else {
				o.Prefill, o.Expanded = span, span.Context
			}
			return o.Work().Matrix
		}
		decode := w.decodes(&a, false, float64(s.Query), float64(s.Seq))
		if chosen, other := work(decode), work(!decode); chosen > other*(1+1e-9) {
			t.Errorf("%+v: %v chosen, the other way %v", s, chosen, other)
		}
	})
}
