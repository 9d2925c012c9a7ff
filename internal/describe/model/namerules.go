package model

import (
	_ "embed" // for the file below
	"slices"
	"strings"
)

// nameFile says how names that are not in the index are understood.
//
//go:embed catalog/names.txt
var nameFile string

// nameRules is the content of names.txt, lines of a kind in their order.
type nameRules struct {
	same     []rename
	copies   []string
	optional []string
	words    []string
	formats  []string
	quants   []quantRule
}

// rename is a line "same A = B".
type rename struct{ from, to string }

// quantRule is a line "quant …": what a suffix of an organisation's names says
// of how a model is stored.
type quantRule struct {
	orgs     []string
	suffixes []string
	quant    string   // "" = not quantized
	families []string // nil = all
	by       string   // the tool that stores it so, "" where there is none
}

// readNameRules takes names.txt apart. A test checks that every line is of a
// kind and names files that are there.
func readNameRules() *nameRules {
	n := &nameRules{}
	for line := range strings.Lines(nameFile) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "same":
			n.same = append(n.same, rename{f[1], f[3]})
		case "copies":
			n.copies = append(n.copies, f[1:]...)
		case "optional":
			n.optional = append(n.optional, f[1:]...)
		case "words":
			n.words = append(n.words, f[1:]...)
		case "formats":
			n.formats = append(n.formats, f[1:]...)
		case "quant":
			n.quants = append(n.quants, parseQuantRule(f[1:]))
		}
	}
	return n
}

func parseQuantRule(f []string) quantRule {
	list := func(s string) []string { return strings.Split(s, ",") }
	q := quantRule{orgs: list(f[0]), suffixes: list(f[1]), quant: f[2]}
	if q.quant == "none" {
		q.quant = ""
	}
	for i, word := range f[3:] {
		if names, ok := strings.CutPrefix(word, "family="); ok {
			q.families = list(names)
		}
		if word == "by" {
			q.by = strings.Join(f[3+i+1:], " ")
			break
		}
	}
	return q
}

// of reports whether the rule is one of an organisation's, "*" for everyone's.
func (q *quantRule) of(org string) bool { return containsFold(q.orgs, org) }

// fits reports whether the rule is meant for a family.
func (q *quantRule) fits(family string) bool {
	return q.families == nil || slices.Contains(q.families, family)
}

// apply gives a name that has the form of r.from that of r.to.
func (r *rename) apply(name string) string {
	head, tail, star := strings.Cut(r.from, "*")
	if !star {
		if strings.EqualFold(name, r.from) {
			return r.to
		}
		return name
	}
	n := len(name) - len(head) - len(tail)
	if n <= 0 || !strings.EqualFold(name[:len(head)], head) || !strings.EqualFold(name[len(head)+n:], tail) {
		return name
	}
	return strings.Replace(r.to, "*", name[len(head):len(head)+n], 1)
}

// renamed is the name by which a publisher goes today.
func (n *nameRules) renamed(name string) string {
	for i := range n.same {
		name = n.same[i].apply(name)
	}
	return name
}

// trimmed is a spelling without its optional ends.
func (n *nameRules) trimmed(spelled string) string {
	for _, o := range n.optional {
		if strings.HasSuffix(o, "-") {
			spelled = strings.TrimPrefix(spelled, o)
		} else {
			spelled = strings.TrimSuffix(spelled, o)
		}
	}
	return spelled
}

// shortened reports whether short is an id's spelling less words at its end.
func (n *nameRules) shortened(id, short string) bool {
	rest, ok := strings.CutPrefix(n.trimmed(id), n.trimmed(short)+"-")
	if !ok {
		return false
	}
	for word := range strings.SplitSeq(rest, "-") {
		if !slices.Contains(n.words, word) {
			return false
		}
	}
	return true
}

func containsFold(list []string, word string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, word) })
}
