package draft_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// TestCatalog: the embedded figures are read, every method has figures for any model and text, and every head is for models of
// the catalog, at the hidden size of its own.
func TestCatalog(t *testing.T) {
	other := &model.Model{ID: "nobody/nothing", Family: "none"}
	for _, by := range draft.Methods() {
		for _, text := range []draft.Text{draft.Real, draft.Random} {
			if by == draft.EAGLE3 && text == draft.Real {
				continue // a head has its own
			}
			if a := draft.Of(other, by, text); len(a.Kept) == 0 || a.Source == "" {
				t.Errorf("%s has no figures for %s text of other models", by, text)
			}
		}
	}
	for _, h := range draft.Known().Heads {
		for _, id := range h.Models {
			m, err := model.Lookup(id)
			if err != nil {
				t.Errorf("%s: %v", h.Name, err)
				continue
			}
			if draft.HeadOf(m) == nil || m.Hidden != h.Model().Hidden {
				t.Errorf("%s of hidden size %d drafts for %s of %d", h.Name, h.Model().Hidden, id, m.Hidden)
			}
		}
	}
}

// TestRates: a draft is kept at most as often as the one before it, and more drafts change nothing for the first.
func TestRates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := draft.Known().Acceptance
		a := all[rapid.IntRange(0, len(all)-1).Draw(t, "row")]
		n := rapid.IntRange(0, 9).Draw(t, "drafts")
		rates := a.Rates(n)
		if len(rates) != n || !slices.IsSortedFunc(rates, func(x, y float64) int { return int(math.Copysign(1, y-x)) }) && n > 1 {
			t.Fatalf("%d drafts: %v", n, rates)
		}
		if more := a.Rates(n + 1); !slices.Equal(more[:n], rates) || more[n] <= 0 {
			t.Fatalf("one more than %v: %v", rates, more)
		}
	})
}

// TestDeepSeek: positions beyond the published ones are kept as often as the last, given those before.
func TestDeepSeek(t *testing.T) {
	a := draft.Acceptance{Kept: []float64{0.8, 0.4}}
	if got := a.Rates(4); math.Abs(got[2]-0.2) > 1e-12 || math.Abs(got[3]-0.1) > 1e-12 {
		t.Errorf("got %v", got)
	}
}
