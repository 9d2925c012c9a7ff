package chart

import (
	"fmt"
	"image/color"
	"sort"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// fonts are the two that charts are written in.
type fonts struct{ regular, bold *sfnt.Font }

func newFonts() (f fonts, err error) {
	if f.regular, err = sfnt.Parse(liberationsansregular.TTF); err != nil {
		return f, fmt.Errorf("reading the font: %w", err)
	}
	if f.bold, err = sfnt.Parse(liberationsansbold.TTF); err != nil {
		return f, fmt.Errorf("reading the bold font: %w", err)
	}
	return f, nil
}

// lettering is how a text is written.
type lettering struct {
	font *sfnt.Font
	bold bool
	size float64
	tint color.NRGBA
}

func (f fonts) sans(size float64) lettering {
	return lettering{font: f.regular, size: size, tint: black()}
}

func (f fonts) strong(size float64) lettering {
	return lettering{font: f.bold, bold: true, size: size, tint: black()}
}

// What the font says of its letters, in parts of their size: how far they reach above and below the baseline, how high digits
// are and how wide a blank is. The sum of the first two is a line's height.
const (
	ascent  = 0.905
	descent = 0.212
	digits  = 0.69
	blank   = 0.278
)

// height returns the height of a line.
func (l lettering) height() float64 { return (ascent + descent) * l.size }

// width returns the length of a text.
func (l lettering) width(text string) float64 {
	em := fixed.Int26_6(l.font.UnitsPerEm())
	end := l.each(text, em, func(sfnt.GlyphIndex, fixed.Int26_6) {})
	return float64(end) * l.size / float64(em)
}

// each visits the glyphs of a text with their places on the baseline and returns where the text ends, for letters of em dots
// to the size. What the font does not know is drawn as its sign for that.
func (l lettering) each(text string, em fixed.Int26_6, visit func(sfnt.GlyphIndex, fixed.Int26_6)) (end fixed.Int26_6) {
	var b sfnt.Buffer
	last := sfnt.GlyphIndex(0)
	for i, r := range text {
		glyph, err := l.font.GlyphIndex(&b, r)
		if err != nil {
			continue
		}
		if i > 0 {
			if kern, err := l.font.Kern(&b, last, glyph, em, font.HintingNone); err == nil {
				end += kern
			}
		}
		visit(glyph, end)
		if advance, err := l.font.GlyphAdvance(&b, glyph, em, font.HintingNone); err == nil {
			end += advance
		}
		last = glyph
	}
	return end
}

// fit makes a text printable on one line of a width, and says by its last character when it had to be cut.
func (l lettering) fit(text string, room float64) string {
	var clean []rune
	for _, r := range text {
		if !unicode.IsPrint(r) {
			r = ' ' // line breaks; and XML has no way to write control characters
		}
		clean = append(clean, r)
	}
	const end = "…"
	if l.width(string(clean)) <= room {
		return string(clean)
	}
	tooLong := func(n int) bool { return l.width(string(clean[:n+1])+end) > room }
	return string(clean[:sort.Search(len(clean)-1, tooLong)]) + end
}
