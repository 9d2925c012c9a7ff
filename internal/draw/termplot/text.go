package termplot

import "unicode"

// clean makes a text safe for a grid of cells: what moves the cursor, starts an escape sequence or takes no place is
// dropped. With ascii, characters of our labels that have a look-alike get it, and the rest a question mark.
func clean(text string, ascii bool) []rune {
	var out []rune
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			out = append(out, ' ')
		case unicode.IsControl(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Zl, unicode.Zp):
		case ascii && r > '~':
			out = append(out, plain(r)...)
		default:
			out = append(out, r)
		}
	}
	return out
}

// plain writes a character in ASCII.
func plain(r rune) []rune {
	switch r {
	case '·', '•':
		return []rune{'.'}
	case '×':
		return []rune{'x'}
	case '–', '—', '−':
		return []rune{'-'}
	case 'µ', 'μ':
		return []rune{'u'}
	case '≤':
		return []rune("<=")
	case '≥':
		return []rune(">=")
	case '→':
		return []rune("->")
	case '…':
		return []rune("...")
	case '\u00a0':
		return []rune{' '}
	}
	return []rune{'?'}
}

// cut shortens a text to width cells and says so by its last character.
func cut(text []rune, width int, ascii bool) []rune {
	if textWidth(text) <= width {
		return text
	}
	end := []rune("…")
	if ascii {
		end = []rune("...")
	}
	n, used := 0, len(end)
	for n < len(text) && used+runeWidth(text[n]) <= width {
		used += runeWidth(text[n])
		n++
	}
	return append(text[:n:n], end...)
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
