package device

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// reader turns YAML nodes into values and collects problems.
type reader struct{ strictyaml.Problems }

// field is a key of a mapping and what to do with its value.
type field struct {
	key  string
	read func(path string, n *yaml.Node)
}

// mapping reads a mapping's fields in the order of the file and returns the line
// of each key seen. Unknown and repeated keys are problems.
func (r *reader) mapping(path string, n *yaml.Node, fields []field) map[string]int {
	return r.Keys(path, n, func(at string, key, value *yaml.Node) { r.dispatch(at, key, value, fields) })
}

func (r *reader) dispatch(path string, key, value *yaml.Node, fields []field) {
	known := make([]string, len(fields))
	for i, f := range fields {
		if f.key == key.Value {
			f.read(path, value)
			return
		}
		known[i] = f.key
	}
	if near, ok := nearest.Match(key.Value, known); ok {
		r.Add(key.Line, path, "unknown key; nearest: %s", near)
		return
	}
	r.Add(key.Line, path, "unknown key; keys here: %s", strings.Join(known, ", "))
}

// require adds a problem for each key a mapping lacks. A nil seen was no mapping
// and has its problem already.
func (r *reader) require(path string, n *yaml.Node, seen map[string]int, keys ...string) {
	for _, k := range keys {
		if _, ok := seen[k]; !ok && seen != nil {
			r.Add(n.Line, strictyaml.Join(path, k), "missing")
		}
	}
}

// span is the range of a number.
type span struct {
	low, high float64
	open      bool // low itself is out
}

// The spans in use. The upper bounds are far beyond any device and catch wrong units.
func positive(high float64) span { return span{0, high, true} }
func atLeast0(high float64) span { return span{0, high, false} }
func share() span                { return span{0, 1, true} }

// refuse is why x is outside, or "".
func (s span) refuse(x float64) string {
	inside := x <= s.high && (x > s.low || x == s.low && !s.open)
	switch {
	case inside:
		return ""
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "must be finite"
	case s == share():
		return "must be above 0 and at most 1"
	case x > s.high:
		return "must be at most " + plain(s.high)
	case s.open:
		return "must be positive"
	default:
		return "must be at least " + plain(s.low)
	}
}

// plain writes a bound without an exponent.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// number reads a number within a span; ok is false after a problem.
func (r *reader) number(path string, n *yaml.Node, s span) (d decimal, ok bool) {
	x, ok := r.Number(path, n)
	if !ok {
		return decimal{}, false
	}
	if why := s.refuse(x); why != "" {
		r.Add(n.Line, path, "%s, got %s", why, show(n.Value))
		return decimal{}, false
	}
	return newDecimal(n.Value, x), true
}

// count reads a whole number.
func (r *reader) count(path string, n *yaml.Node, s span, dst *int) {
	d, ok := r.number(path, n, s)
	if ok && d.value != math.Trunc(d.value) {
		r.Add(n.Line, path, "must be a whole number, got %s", show(n.Value))
		return
	}
	if ok {
		*dst = int(d.value)
	}
}

// text reads a string.
func (r *reader) text(path string, n *yaml.Node) (s string, ok bool) {
	const longest = 500
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		r.Add(n.Line, path, "must be text, got %s", r.KindOf(n))
		return "", false
	}
	switch {
	case len([]rune(n.Value)) > longest:
		r.Add(n.Line, path, "must have at most %d characters", longest)
		return "", false
	case strings.ContainsFunc(n.Value, func(c rune) bool { return c < ' ' || c == 0x7f }):
		r.Add(n.Line, path, "must be one line of plain text")
		return "", false
	}
	return n.Value, true
}

// choice reads one of a few words.
func (r *reader) choice(path string, n *yaml.Node, words []string) (string, bool) {
	s, ok := r.text(path, n)
	if !ok {
		return "", false
	}
	if slices.Contains(words, s) {
		return s, true
	}
	r.Add(n.Line, path, "must be one of %s, got %s", strings.Join(words, ", "), show(s))
	return "", false
}
