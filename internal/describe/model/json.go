package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// strange is a string of JSON, cut off or not, or a literal that Python writes and JSON does not know.
var strange = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*\\?(?:"|\z)|-?(?:NaN|Infinity)`)

// plainJSON replaces the literals NaN, Infinity and -Infinity by null. Text inside
// strings stays as it is. The input is not changed; without such literals it is returned itself.
func plainJSON(b []byte) []byte {
	if !bytes.Contains(b, []byte("NaN")) && !bytes.Contains(b, []byte("Infinity")) {
		return b
	}
	return strange.ReplaceAllFunc(b, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return []byte("null")
	})
}

// frequency is a field written as one number or as a list with a number for
// every layer (moe_layer_freq).
type frequency struct {
	every int
	list  []int
}

// UnmarshalJSON takes either form; null leaves the zero value.
func (f *frequency) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, &f.list)
	}
	return json.Unmarshal(b, &f.every)
}

// at reports whether layer i is selected: its entry of the list, or every n-th.
func (f frequency) at(i int) bool {
	if f.list != nil {
		return i < len(f.list) && f.list[i] != 0
	}
	return f.every <= 1 || i%f.every == 0
}

// indices is a list of layer numbers, written as a list, as "3,4,5" or, where it has
// one entry, as that.
type indices []int

// UnmarshalJSON takes any of the forms.
func (x *indices) UnmarshalJSON(b []byte) error {
	if string(b) != "null" && b[0] != '[' {
		b = []byte("[" + strings.Trim(string(b), `"`) + "]")
	}
	return json.Unmarshal(b, (*[]int)(x))
}

// has reports whether layer i is listed.
func (x indices) has(i int) bool {
	return slices.Contains(x, i)
}

// listLength checks a per-layer list, which may also cover extra layers after
// the decoder's own (multi-token prediction).
func (r *reader) listLength(field string, got, layers, extra int) {
	if got == 0 || got == layers || (extra > 0 && got == layers+extra) {
		return
	}
	r.addf(field, "%d entries, want num_hidden_layers = %d", got, layers)
}

// layerKinds checks a list of layer types against those a family knows.
func (r *reader) layerKinds(field string, types []string, layers int, known ...string) {
	r.listLength(field, len(types), layers, 0)
	for i, t := range types {
		if !slices.Contains(known, t) {
			r.addf(field, "entry %d: %s is not one of %v", i, quoted(t), known)
			return
		}
	}
}

// addf records a problem of one field.
func (r *reader) addf(field, format string, args ...any) {
	if other := r.said[field]; other != "" {
		field = other
	}
	r.errs = append(r.errs, fmt.Errorf("config.json: %s%s: %s", r.path, field, fmt.Sprintf(format, args...)))
}
