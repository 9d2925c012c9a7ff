package workload

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

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
		Holds:   "distribution",
		Kind:    bound.Bins,
		Aliases: "anchors and aliases (& and *) are not allowed",
	})
}

// bins reads the file; its result is valid only without problems.
func (r *binReader) bins(data []byte) []Bin {
	root := r.document(data)
	if root == nil {
		return nil
	}
	var items *yaml.Node
	r.Require("", root, r.Mapping("", root, strictyaml.Field{Key: "bins", Read: func(_ string, n *yaml.Node) { items = n }}), "bins")
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
	var low, high bool
	most := 0 // the line of the upper end
	tokens := strictyaml.Span{High: maxTokens}
	seen := r.Mapping(p.field(), n,
		strictyaml.Field{Key: "min_tokens", Read: func(path string, n *yaml.Node) { low = r.Whole(path, n, tokens, &p.Min) }},
		strictyaml.Field{Key: "max_tokens", Read: func(path string, n *yaml.Node) {
			high, most = r.Whole(path, n, tokens, &p.Max), n.Line
		}},
		strictyaml.Field{Key: "weight", Read: func(path string, n *yaml.Node) {
			p.Weight, _ = r.Within(path, n, strictyaml.Span{High: math.MaxFloat64, Open: true})
		}},
	)
	r.Require(p.field(), n, seen, "min_tokens", "max_tokens", "weight")
	if low && high && p.Max <= p.Min {
		r.Add(most, p.field()+".max_tokens", "must be above min_tokens (%d), got %d", p.Min, p.Max)
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
