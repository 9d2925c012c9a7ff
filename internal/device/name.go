package device

import (
	"strings"

	"plimsoll/internal/nearest"
)

// normal is the form in which names are compared: case, "-", "_" and blanks make
// no difference.
func normal(name string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// validName reports whether s can name a device: a letter or digit first, then
// also ".", "_" and "-", 64 in all.
func validName(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20 // letters in lower case, digits as they are
		word := c >= 'a' && c <= 'z' || s[i] >= '0' && s[i] <= '9'
		if !word && (i == 0 || !strings.ContainsRune("._-", rune(s[i]))) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// closest returns the word with the fewest edits from s, the first of equals, or
// "" when each would need more edits than half its letters.
func closest(s string, words []string) string {
	const longest = 64 // a longer one is no misspelling
	if len(s) > longest {
		return ""
	}
	best, least := "", 0
	for _, w := range words {
		d := nearest.Edits(s, w)
		if 2*d <= max(len(s), len(w)) && (best == "" || d < least) {
			best, least = w, d
		}
	}
	return best
}
