package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// maxYAML bounds a file of bins; one of 35 bins has 3 KiB.
const maxYAML = 1 << 20

// binReader reads bins written by hand and collects problems.
type binReader struct{ *problems }

// placed is a bin and where it stands in the file.
type placed struct {
	Bin
	index, line int
}

func (p placed) field() string { return "bins[" + strconv.Itoa(p.index) + "]" }

// document decodes one YAML document; nil after a problem.
func (r *binReader) document(data []byte) *yaml.Node {
	return r.Document(data, strictyaml.Form{
		Holds:    "distribution",
		Largest:  maxYAML,
		TooLarge: fmt.Sprintf("the file is larger than %d MiB; give the lengths as CSV", maxYAML>>20),
		Aliases:  "anchors and aliases (& and *) are not allowed",
	})
}

// bins reads the file; its result is valid only without problems.
func (r *binReader) bins(data []byte) []Bin {
	root := r.document(data)
	if root == nil {
		return nil
	}
	items := r.mapping("", root, "bins")["bins"]
	if items == nil {
		return nil
	}
	if items.Kind != yaml.SequenceNode {
		r.Add(items.Line, "bins", "must be a list of bins, got %s", r.KindOf(items))
		return nil
	}
	if len(items.Content) == 0 {
		r.Add(items.Line, "bins", "must have at least one bin")
	}
	var bins []Bin
	var sound []placed
	sum := 0.0
	for i, n := range items.Content {
		p := placed{index: i, line: n.Line}
		if r.bin(&p, n) {
			sound = append(sound, p)
		}
		bins = append(bins, p.Bin)
		sum += p.Weight
	}
	if math.IsInf(sum, 0) {
		r.Add(items.Line, "bins", "the sum of the weights is too large")
	}
	r.overlaps(sound)
	return bins
}

// bin reads one bin and reports whether its range is sound.
func (r *binReader) bin(p *placed, n *yaml.Node) bool {
	field := p.field()
	values := r.mapping(field, n, "min_tokens", "max_tokens", "weight")
	low := r.tokens(field+".min_tokens", values["min_tokens"], &p.Min)
	high := r.tokens(field+".max_tokens", values["max_tokens"], &p.Max)
	if w := values["weight"]; w != nil {
		x, ok := r.number(field+".weight", w)
		switch {
		case ok && x <= 0:
			r.Add(w.Line, field+".weight", "must be positive, got %s", show(w.Value))
		case ok:
			p.Weight = x
		}
	}
	if low && high && p.Max <= p.Min {
		r.Add(values["max_tokens"].Line, field+".max_tokens", "must be above min_tokens (%d), got %d", p.Min, p.Max)
		return false
	}
	return low && high
}

// overlaps compares each bin with the one before it that reaches furthest.
func (r *binReader) overlaps(bins []placed) {
	slices.SortStableFunc(bins, func(a, b placed) int { return cmp.Compare(a.Min, b.Min) })
	for i := 1; i < len(bins); i++ {
		a, b := bins[i-1], bins[i]
		if b.Min < a.Max {
			first, second := a, b
			if second.index < first.index {
				first, second = b, a
			}
			r.Add(second.line, second.field(), "%d to %d overlaps %s on line %d, %d to %d",
				second.Min, second.Max, first.field(), first.line, first.Min, first.Max)
		}
		if b.Max < a.Max {
			bins[i] = a
		}
	}
}

// tokens reads a length; a nil n was missing and has its problem already.
func (r *binReader) tokens(field string, n *yaml.Node, dst *int) bool {
	if n == nil {
		return false
	}
	x, ok := r.number(field, n)
	switch {
	case !ok:
		return false
	case x < 0:
		r.Add(n.Line, field, "must be at least 0, got %s", show(n.Value))
	case x > maxTokens:
		r.Add(n.Line, field, "must be at most %d, got %s", maxTokens, show(n.Value))
	case x != math.Trunc(x):
		r.Add(n.Line, field, "must be a whole number, got %s", show(n.Value))
	default:
		*dst = int(x)
		return true
	}
	return false
}

// number reads a finite number.
func (r *binReader) number(field string, n *yaml.Node) (x float64, ok bool) {
	x, ok = r.Number(field, n)
	if !ok {
		return 0, false
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		r.Add(n.Line, field, "must be finite, got %s", show(n.Value))
		return 0, false
	}
	return x, true
}

// mapping returns the values of a mapping's keys, all of which are required.
func (r *binReader) mapping(field string, n *yaml.Node, keys ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		r.Add(n.Line, field, "must be a mapping with %s, got %s", strings.Join(keys, ", "), r.KindOf(n))
		return nil
	}
	values := map[string]*yaml.Node{}
	r.Keys(field, n, func(at string, key, value *yaml.Node) {
		if slices.Contains(keys, key.Value) {
			values[key.Value] = value
			return
		}
		r.Add(key.Line, at, "unknown key; %s", suggest(key.Value, keys))
	})
	for _, key := range keys {
		if values[key] == nil {
			r.Add(n.Line, strictyaml.Join(field, key), "missing")
		}
	}
	return values
}

func suggest(word string, keys []string) string {
	const longest = 64 // a longer one is not a misspelling
	if len(word) <= longest {
		if near, ok := nearest.Match(word, keys); ok {
			return "nearest: " + near
		}
	}
	return "keys here: " + strings.Join(keys, ", ")
}
