// Package nearest finds the words of a list that a mistyped word most likely meant.
//
// In: a word and the words that would have been right. Out: the best of them, when one is near enough to be worth
// suggesting. It does not know what the words are, and prints nothing: a caller puts the answer into its error or hint.
// Start at [Match].
//
// Case and the separators "-", "_", "." , "/" and space count for nothing, since "Qwen3_32B" for "Qwen/Qwen3-32B" is a
// spelling and not another name.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// Match returns the one of among that word most likely meant, and whether any is near enough to suggest. It is the first of
// [Matches].
func Match(word string, among []string) (string, bool) {
	best := Matches(word, among)
	if len(best) == 0 {
		return "", false
	}
	return best[0], true
}

// Hint is how a message goes on that names the match, "" without one.
func Hint(word string, among []string) string {
	if near, ok := Match(word, among); ok {
		return "; nearest: " + near
	}
	return ""
}

// Matches returns those of among that are nearest to word: one, several that are equally near, or none that is near enough
// to suggest. Those that begin like word come first, since few slips are in the first letters; of equals the order of
// among is kept.
func Matches(word string, among []string) []string {
	type candidate struct {
		text  string
		alike int // letters at the beginning
	}
	folded := fold(word)
	letters := []rune(folded)
	var near []candidate
	least := 0
	for _, text := range among {
		other := fold(text)
		far, ok := score(folded, other, letters, []rune(other))
		if !ok || len(near) > 0 && far > least {
			continue
		}
		if far < least {
			near = near[:0]
		}
		least = far
		near = append(near, candidate{text, alike(letters, []rune(other))})
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(b.alike, a.alike) })
	var out []string
	for _, c := range near {
		out = append(out, c.text)
	}
	return out
}

// alike counts the letters two words share at their beginning.
func alike(a, b []rune) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// score says how far two folded words are apart and whether that is near enough to suggest one for the other.
// A third of the longer word may be wrong: "--devcie" finds "--device" (2 of 6), "tp" does not find "pp".
// A word that is a part of the other one is near as well ("llama" for "meta-llama/Llama-3.1-8B"), but comes after every
// misspelling.
func score(word, text string, letters, other []rune) (far int, ok bool) {
	const afterEdits, shortestPart = 1 << 16, 3
	shorter, longer := min(len(letters), len(other)), max(len(letters), len(other))
	if shorter == 0 {
		return 0, false
	}
	least := longer - shorter // letters to insert at least: the work of a distance grows with the product of the lengths
	if least*3 <= longer {
		if far = distance(letters, other); far*3 <= longer {
			return far, true
		}
	}
	if shorter >= shortestPart && (strings.Contains(word, text) || strings.Contains(text, word)) {
		return afterEdits + least, true
	}
	return 0, false
}

// fold drops what does not tell names apart.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', '.', '/', ' ':
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// Distance counts the letters to insert, delete, replace, or swap with their neighbour to turn a into b
// (the optimal string alignment distance: no letter is edited twice).
func Distance(a, b string) int { return distance([]rune(a), []rune(b)) }

func distance(s, t []rune) int {
	// Three rows of the table of distances between prefixes: a swap looks two rows back.
	before, above, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			wrong := 0
			if s[i-1] != t[j-1] {
				wrong = 1
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+wrong)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(t)]
}
