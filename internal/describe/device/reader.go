package device

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// reader turns YAML nodes into values and collects problems.
type reader struct{ strictyaml.Problems }

type span = strictyaml.Span

// field is a key of a mapping and what reads its value.
func field(key string, read func(path string, n *yaml.Node)) strictyaml.Field {
	return strictyaml.Field{Key: key, Read: read}
}

// The spans in use. The upper bounds are far beyond any device and catch wrong units.
func positive(high float64) span { return span{High: high, Open: true} }
func atLeast0(high float64) span { return span{High: high} }

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
