package strictyaml

import (
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
)

// Field is a key of a mapping and what reads its value.
type Field struct {
	Key  string
	Read func(path string, n *yaml.Node)
}

// Mapping reads a mapping's fields in the order of the file and returns the line
// of each key seen. Unknown and repeated keys are problems.
func (ps *Problems) Mapping(path string, n *yaml.Node, fields ...Field) map[string]int {
	return ps.Keys(path, n, func(at string, key, value *yaml.Node) { ps.dispatch(at, key, value, fields) })
}

func (ps *Problems) dispatch(path string, key, value *yaml.Node, fields []Field) {
	known := make([]string, len(fields))
	for i, f := range fields {
		if f.Key == key.Value {
			f.Read(path, value)
			return
		}
		known[i] = f.Key
	}
	const longest = 64 // a longer word is not a misspelling
	if near, ok := nearest.Match(key.Value[:min(len(key.Value), longest)], known); ok {
		ps.Add(key.Line, path, "unknown key; nearest: %s", near)
		return
	}
	ps.Add(key.Line, path, "unknown key; keys here: %s", strings.Join(known, ", "))
}

// Require adds a problem for each key a mapping lacks. A nil seen was no mapping
// and has its problem already.
func (ps *Problems) Require(path string, n *yaml.Node, seen map[string]int, keys ...string) {
	for _, k := range keys {
		if _, ok := seen[k]; !ok && seen != nil {
			ps.Add(n.Line, Join(path, k), "missing")
		}
	}
}

// Span is the range of a number.
type Span struct {
	Low, High float64
	Open      bool // Low itself is out
}

// Share is the range of shares: above 0, at most 1.
func Share() Span { return Span{0, 1, true} }

// refuse is why x is outside, or "".
func (s Span) refuse(x float64) string {
	inside := x <= s.High && (x > s.Low || x == s.Low && !s.Open)
	plain := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) } // without an exponent
	switch {
	case inside:
		return ""
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "must be finite"
	case s == Share():
		return "must be above 0 and at most 1"
	case x > s.High:
		return "must be at most " + plain(s.High)
	case s.Open:
		return "must be positive"
	default:
		return "must be at least " + plain(s.Low)
	}
}

// Within reads a number in a span; ok is false after a problem.
func (ps *Problems) Within(path string, n *yaml.Node, s Span) (x float64, ok bool) {
	if x, ok = ps.Number(path, n); !ok {
		return 0, false
	}
	if why := s.refuse(x); why != "" {
		ps.Add(n.Line, path, "%s, got %s", why, Show(n.Value, ps.Quoted))
		return 0, false
	}
	return x, true
}

// Whole reads a whole number in a span, and reports whether it did.
func (ps *Problems) Whole(path string, n *yaml.Node, s Span, to *int) bool {
	x, ok := ps.Within(path, n, s)
	if ok && x != math.Trunc(x) {
		ps.Add(n.Line, path, "must be a whole number, got %s", Show(n.Value, ps.Quoted))
		return false
	}
	if ok {
		*to = int(x)
	}
	return ok
}
