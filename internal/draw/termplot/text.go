package termplot

import "unicode"

// fitted makes a text printable in a grid, in at most width cells.
func fitted(text string, width int) []rune { return cut(clean(text), width) }

// clean makes a text safe for a grid of cells: what moves the cursor, starts an escape sequence or takes no place is
// dropped.
func clean(text string) []rune {
	var out []rune
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			out = append(out, ' ')
		case unicode.IsControl(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Zl, unicode.Zp):
		default:
			out = append(out, r)
		}
	}
	return out
}

// cut shortens a text to width cells and says so by its last character.
func cut(text []rune, width int) []rune {
	if textWidth(text) <= width {
		return text
	}
	n, used := 0, 1
	for n < len(text) && used+runeWidth(text[n]) <= width {
		used += runeWidth(text[n])
		n++
	}
	return append(text[:n:n], '…')
}

// textWidth returns how many cells a clean text takes.
func textWidth(text []rune) (width int) {
	for _, r := range text {
		width += runeWidth(r)
	}
	return width
}

// runeWidth returns how many cells a character of a clean text takes: two for the scripts and symbols that Unicode Standard
// Annex 11 calls wide, one for all others.
func runeWidth(r rune) int {
	switch {
	case r < 0x1100:
		return 1
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Yi),
		r >= 0x3000 && r <= 0x33ff, // CJK symbols and squared words
		r >= 0xff01 && r <= 0xff60, // full-width forms
		r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff: // pictographs
		return 2
	}
	return 1
}
