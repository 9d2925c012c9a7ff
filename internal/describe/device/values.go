package device

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// These return functions that read one value of a field into its place; a value
// with a problem leaves the place as it was.

// scaledTo reads a number given in units of ten to the exp.
func scaledTo[T ~float64](r *reader, dst *T, exp int, s span) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if x, ok := r.Within(path, n, s); ok {
			*dst = T(newDecimal(n.Value, x).scaled(exp))
		}
	}
}

// binaryTo reads a number given in a binary unit; the product is exact.
func binaryTo[T ~float64](r *reader, dst *T, unit units.Bytes, s span) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if x, ok := r.Within(path, n, s); ok {
			*dst = T(x * float64(unit))
		}
	}
}

// word reads one of the values of a string type.
func word[T ~string](r *reader, dst *T, values ...T) func(string, *yaml.Node) {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return func(path string, n *yaml.Node) {
		if s, ok := r.choice(path, n, words); ok {
			*dst = T(s)
		}
	}
}

// line reads a text of one line.
func (r *reader) line(dst *string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if s, ok := r.text(path, n); ok {
			*dst = s
		}
	}
}

// whole reads a whole number.
func (r *reader) whole(dst *int, s span) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) { r.Whole(path, n, s, dst) }
}

// index is the path of a list's item.
func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
