package graph

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/model"
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
		w := groups{policy: &Policy{}}
		if got := w.pairs(&a, float64(q), float64(seq)); got != float64(causal) {
			t.Errorf("causal: want %d pairs, got %g", causal, got)
		}
		w.policy.FullAttention = true
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
	w := groups{policy: new(Physical()), segments: []Segment{
		{Requests: 3, Query: 5, Seq: 100, Decode: true},
		{Requests: 2, Query: 6, Seq: 10},
	}}
	prefill, decode := w.Spans(&model.Attention{})
	if prefill.Requests != 2 || prefill.Tokens != 12 || prefill.Pairs != 2*(5+6+7+8+9+10) || prefill.Context != 20 {
		t.Errorf("prefill: got %+v", prefill)
	}
	if decode.Requests != 3 || decode.Tokens != 15 || decode.Pairs != 3*(96+97+98+99+100) || decode.Context != 300 {
		t.Errorf("decode: got %+v", decode)
	}
	w.Requests = 5
	if padded, exact := w.Blocks(); padded != 5*7 || exact != 3*7+2 {
		t.Errorf("blocks of 16 tokens: want 7 a request or 7 and 1, got %g and %g", padded, exact)
	}
	w.policy.PageTokens = 128
	if padded, exact := w.Blocks(); padded != 5 || exact != 5 {
		t.Errorf("blocks of 128 tokens: want one a request, got %g and %g", padded, exact)
	}
}

// TestPhaseOfAQuery: eight tokens to verify are a decode, as a prompt's last three
// are, unless the length alone decides.
func TestPhaseOfAQuery(t *testing.T) {
	byLength := Policy{Name: "by length", Choices: Choices{VerifyAsPrefill: true}}
	for _, c := range []struct {
		policy Policy
		query  int
		verify bool
		decode bool
	}{
		{Physical(), 8, true, true},
		{Physical(), 6, false, false},
		{Physical(), 5, false, true},
		{byLength, 8, true, false},
		{byLength, 6, true, false},
		{byLength, 5, true, true},
		{byLength, 6, false, false},
		{byLength, 5, false, true},
	} {
		s := Segment{Requests: 1, Query: c.query, Seq: 100, Decode: c.verify}
		w := groups{policy: &c.policy, segments: []Segment{s}}
		if prefill, decode := w.Spans(&model.Attention{}); (decode.Requests == 1) != c.decode || prefill.Requests == decode.Requests {
			t.Errorf("%s, %+v: prefill %+v, decode %+v", c.policy.Name, s, prefill, decode)
		}
	}
}
