package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
)

// UnknownError reports a name that no model has.
type UnknownError struct {
	Name    string
	Nearest []string // ids spelled like it, best first; none when no id is near
}

// Error names the nearest ids.
func (e *UnknownError) Error() string {
	s := fmt.Sprintf("model %s is not in the catalog", quoted(e.Name))
	if len(e.Nearest) == 0 {
		return s + ", nor is a similar name"
	}
	return s + "; nearest: " + strings.Join(e.Nearest, ", ")
}

// AmbiguousError reports a name that may mean several models.
type AmbiguousError struct {
	Name       string
	Candidates []string
}

// maxListed bounds the candidates that an error lists.
const maxListed = 8

// Error lists the candidates.
func (e *AmbiguousError) Error() string {
	shown, more := e.Candidates, ""
	if n := len(shown) - maxListed; n > 0 {
		shown, more = shown[:maxListed], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("model %s is ambiguous; candidates: %s%s", quoted(e.Name), strings.Join(shown, ", "), more)
}

// taken is what a name was resolved to.
type taken struct {
	row  row
	from string // the tool whose name it is, where the tool chose formats by device
	// rule says how the model is stored, nil for the id's own way.
	rule *quantRule
}

// load reads the model, with a note of what the name was resolved to.
func (t *taken) load(name string) (*Model, error) {
	m, err := t.row.load()
	if err != nil {
		return nil, err
	}
	note := name + ": resolved to " + m.ID
	switch {
	case t.rule != nil:
		note += " with " + m.formats()
		if t.rule.by != "" {
			note += " (the usual scheme of " + t.rule.by + ")"
		}
	case t.from != "":
		note += " in its own number formats (" + t.from + " chooses them by device)"
	}
	m.Asked = name
	m.Notes = append([]string{note + "."}, m.Notes...)
	return m, nil
}

// formats are the number formats a model is stored in.
func (m *Model) formats() string {
	p := m.Parameters()
	cache := m.Quant.KV
	s := storage(&m.Quant, &p, cache)
	var schemes []string
	parts := map[string][]string{}
	for _, part := range [][2]string{
		{"attention", s.Attention}, {"dense layers", s.Dense}, {"experts", s.Experts}, {"shared experts", s.Shared},
	} {
		if name, scheme := part[0], part[1]; scheme != "" {
			if parts[scheme] == nil {
				schemes = append(schemes, scheme)
			}
			parts[scheme] = append(parts[scheme], name)
		}
	}
	var out []string
	for _, scheme := range schemes {
		of := strings.Join(parts[scheme], ", ")
		if len(schemes) == 1 {
			of = "linear layers"
		}
		out = append(out, of+" in "+scheme)
	}
	if s.KV != "" {
		out = append(out, "KV cache in "+s.KV)
	}
	return strings.Join(out, "; ")
}

// asked is a name on its way to a model.
type asked struct {
	*nameRules

	org  string // "" for a bare name
	repo string // spelled
	// free says that the name does not tell the publisher: it has no organisation,
	// or one that copies from many.
	free bool
}

// maxName is more than any model's name has.
const maxName = 256

// understand finds what model of the catalog a name means that is not listed
// there: one whose publisher is called otherwise, or whose name is shortened, or
// that is stored in other formats.
func understand(name string) (*taken, error) {
	if len(name) > maxName {
		return nil, unknown(name)
	}
	rules := readNameRules()
	today := rules.renamed(name)
	if r, ok := find(today); ok && r.aliasOf == "" {
		return &taken{row: r}, nil
	}
	org, repo, ok := strings.Cut(today, "/")
	if !ok {
		org, repo = "", today
	}
	a := asked{nameRules: rules, org: org, repo: spelled(repo), free: !ok || containsFold(rules.copies, org)}
	for _, attempt := range []func() []taken{a.publishersOwn, a.spelledAlike, a.originalsOwn, a.anyones, a.lengthened} {
		switch found := attempt(); len(found) {
		case 0:
		case 1:
			return &found[0], nil
		default:
			return nil, ambiguous(name, found)
		}
	}
	if begun := a.ids(func(id string) bool { return strings.HasPrefix(id, a.repo+"-") }); len(begun) > 1 {
		return nil, ambiguous(name, begun)
	}
	return nil, unknown(name)
}

// ambiguous is the error for a name that fits several ids, the shortest first:
// variants of a model have longer names.
func ambiguous(name string, among []taken) error {
	e := &AmbiguousError{Name: name}
	for i := range among {
		e.Candidates = append(e.Candidates, among[i].row.id)
	}
	slices.SortFunc(e.Candidates, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	return e
}

// spelled is a name without its organisation, as far as spelling tells names
// apart: case does not, nor which of "-", "_" and "." separates words.
func spelled(repo string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '.' {
			return '-'
		}
		return r
	}, strings.ToLower(repo))
}

// publishersOwn are quantized uploads by an organisation with a rule of its own.
func (a *asked) publishersOwn() []taken { return a.quantized(func(string) string { return a.org }) }

// spelledAlike are ids spelled otherwise, or copied to another organisation.
func (a *asked) spelledAlike() []taken {
	if same := a.ids(func(id string) bool { return id == a.repo }); len(same) > 0 {
		return same
	}
	return a.ids(func(id string) bool { return a.trimmed(id) == a.trimmed(a.repo) })
}

// originalsOwn are quantized uploads by the model's own publisher, where the name
// leaves the publisher open.
func (a *asked) originalsOwn() []taken {
	if !a.free {
		return nil
	}
	return a.quantized(func(publisher string) string { return publisher })
}

// anyones are quantized uploads by the usual tools.
func (a *asked) anyones() []taken { return a.quantized(func(string) string { return "*" }) }

// lengthened are ids that the name leaves the last words of.
func (a *asked) lengthened() []taken {
	return a.ids(func(id string) bool { return a.shortened(id, a.repo) })
}

// ids are those the name may stand for by its organisation and whose spelling
// will do.
func (a *asked) ids(will func(id string) bool) []taken {
	var out []taken
	for _, r := range index() {
		if r.aliasOf == "" && (a.free || strings.EqualFold(r.org, a.org)) && will(r.repo) {
			out = append(out, taken{row: r})
		}
	}
	return out
}

// quantized are the models that the first fitting rule gives, of those of an organisation
// that follows from the model's publisher.
func (a *asked) quantized(of func(publisher string) string) []taken {
	for i := range a.quants {
		q := &a.quants[i]
		for _, suffix := range q.suffixes {
			stem, ok := strings.CutSuffix(a.repo, "-"+suffix)
			if !ok {
				continue
			}
			var out []taken
			for _, t := range a.originals(stem) {
				publisher, _, _ := strings.Cut(t.row.id, "/")
				if q.of(of(publisher)) && q.fits(t.row.family) {
					t.row.quant, t.rule = q.quant, q
					out = append(out, t)
				}
			}
			if len(out) > 0 {
				return out
			}
		}
	}
	return nil
}

// originals are the models whose ids have this spelling: those of the name's own
// organisation if there are any, otherwise those of all.
func (a *asked) originals(stem string) []taken {
	for _, free := range []bool{false, true} {
		of := asked{nameRules: a.nameRules, org: a.org, repo: stem, free: free}
		if found := of.spelledAlike(); len(found) > 0 {
			return found
		}
		if found := of.lengthened(); len(found) > 0 {
			return found
		}
	}
	return nil
}

// unknown is the error for a name that means no model. Who published a model is
// often misremembered: the names alone are compared.
func unknown(name string) error {
	const most = 3
	org, repo, ok := strings.Cut(name[:min(len(name), maxName)], "/")
	if !ok {
		org, repo = "", org
	}
	word := spelled(repo)
	type candidate struct {
		id  string
		far int
	}
	var near []candidate
	for _, p := range index() {
		if p.aliasOf != "" {
			continue
		}
		far, ok := apart(word, p.repo)
		if !ok {
			continue
		}
		if far *= 2; !strings.EqualFold(p.org, org) {
			far++
		}
		near = append(near, candidate{p.id, far})
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	e := &UnknownError{Name: name}
	for _, c := range near[:min(most, len(near))] {
		if c.far <= near[0].far+3 { // one edit more than the best, of any publisher
			e.Nearest = append(e.Nearest, c.id)
		}
	}
	return e
}

// apart is how far a misspelled name is from an id, and whether that is near
// enough to be worth a suggestion: a quarter of the letters may be wrong, words of
// the id be left out ("maverick", "llama3"), or words be added to it, up to as many
// letters as it has ("Qwen3-32B-GGUF").
func apart(word, id string) (far int, near bool) {
	if far = nearest.Distance(word, id); far*4 <= max(len(word), len(id)) {
		return far, true
	}
	const shortest, afterEdits = 4, 1 << 16
	whole := func(s, part string) bool { return strings.Contains("-"+s+"-", "-"+part+"-") }
	joined := func(s string) string { return strings.ReplaceAll(s, "-", "") }
	switch {
	case len(id) >= shortest && len(word) <= 2*len(id) && whole(word, id):
		return afterEdits - len(id), true
	case len(word) >= shortest && (whole(id, word) || strings.HasPrefix(joined(id), joined(word))):
		return afterEdits + len(id), true
	}
	return far, false
}
