package model

import (
	"slices"
	"strings"
)

// Conversions are the checkpoints of the catalog with the weights of a model in other number
// formats. A tool's own name (QWEN3_32B) says neither which release of the weights is meant
// nor whether they follow instructions: any of them counts.
func (m *Model) Conversions() []*Model {
	own, ok := find(m.ID)
	if !ok {
		return nil
	}
	rules, loose := readNameRules(), NamedBy(m.Asked) != ""
	var out []*Model
	for _, r := range index() {
		if r.shape == own.shape && r.family == own.family && rules.converts(r.repo, own.repo, loose) {
			if c, err := r.load(); err == nil { // a test loads every one
				out = append(out, c)
			}
		}
	}
	return out
}

// converts reports whether an id's spelling is another's and the name of a format. Loosely
// the words of tuned models and a date may stand between them.
func (n *nameRules) converts(id, original string, loose bool) bool {
	rest, ok := strings.CutPrefix(n.trimmed(id), n.trimmed(original)+"-")
	if !ok {
		return false
	}
	formatted := false
	for word := range strings.SplitSeq(rest, "-") {
		switch {
		case n.formatWord(word):
			formatted = true
		case loose && (slices.Contains(n.words, word) || isDate(word)):
		default:
			return false
		}
	}
	return formatted
}

// formatWord reports a word of the name of a format.
func (n *nameRules) formatWord(word string) bool {
	if slices.Contains(n.formats, word) {
		return true
	}
	for i := range n.quants {
		for _, suffix := range n.quants[i].suffixes {
			if slices.Contains(strings.Split(suffix, "-"), word) {
				return true
			}
		}
	}
	return false
}

// isDate reports a month and day, or a year and month, as ids have them: 0324, 2507.
func isDate(word string) bool { return len(word) == 4 && strings.Trim(word, "0123456789") == "" }
