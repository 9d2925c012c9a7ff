package chart

import (
	"math"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
)

// The constants are the font's own, in both weights.
func TestMetrics(t *testing.T) {
	f, err := newFonts()
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]lettering{"regular": f.sans(1), "bold": f.strong(1)} {
		em := fixed.Int26_6(l.font.UnitsPerEm())
		m, err := l.font.Metrics(nil, em, font.HintingNone)
		if err != nil {
			t.Fatal(err)
		}
		digit, err := l.font.GlyphIndex(nil, '1') // has no curve that reaches over a line
		if err != nil {
			t.Fatal(err)
		}
		bounds, _, err := l.font.GlyphBounds(nil, digit, em, font.HintingNone)
		if err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct{ want, got float64 }{
			"ascent":  {float64(m.Ascent) / float64(em), ascent},
			"descent": {float64(m.Descent) / float64(em), descent},
			"digits":  {float64(-bounds.Min.Y) / float64(em), digits},
			"blank":   {l.width(" "), blank},
		} {
			if math.Abs(c.want-c.got) > 0.005 {
				t.Errorf("%s, %s: want %g, got %g", name, what, c.want, c.got)
			}
		}
	}
}

func TestWidth(t *testing.T) {
	f, err := newFonts()
	if err != nil {
		t.Fatal(err)
	}
	l := f.sans(10)
	if got := l.width("AV") - l.width("A") - l.width("V"); got >= 0 {
		t.Errorf("AV: want the pair closer than its letters, got %g points farther", got)
	}
	if once, twice := l.width("n"), l.width("nn"); math.Abs(twice-2*once) > 1e-9 {
		t.Errorf("nn: want twice %g, got %g", once, twice)
	}
}
