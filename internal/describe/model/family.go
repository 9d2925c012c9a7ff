package model

import (
	"errors"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
)

// lists reports whether a list of words has one.
func lists(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// findFamily finds the family of a config and the name it is known by: its first
// architecture, or its model_type when it states none.
func findFamily(h header) (*family, string) {
	all, name := families(), h.name()
	if name == h.ModelType {
		for i := range all {
			if lists(all[i].Types, h.ModelType) {
				first, _, _ := strings.Cut(all[i].Architectures, " ")
				return &all[i], first
			}
		}
		return nil, name
	}
	var found *family
	for i := range all {
		if !lists(all[i].Architectures, name) {
			continue
		}
		if lists(all[i].Types, h.ModelType) {
			return &all[i], name
		}
		if found == nil {
			found = &all[i]
		}
	}
	return found, name
}

// asFamily is the field of a request that names a family.
const asFamily = field.Name("as_family")

// familyNamed finds a family by its name.
func familyNamed(name string) (*family, error) {
	all := families()
	names := make([]string, len(all))
	for i := range all {
		if names[i] = all[i].Name; strings.EqualFold(names[i], name) {
			return &all[i], nil
		}
	}
	near := "the families are " + strings.Join(names, ", ")
	if some := nearest.Matches(name, names); len(some) > 0 {
		near = "nearest: " + strings.Join(some[:min(len(some), maxNear)], ", ")
	}
	return nil, field.Errorf("%s: %s is not a family; %s", asFamily, quoted(name), near)
}

// maxNear bounds the families that an error suggests.
const maxNear = 3

// unknownArchitecture says which families are spelled like an architecture that is
// not supported, and how it can be read as one of them.
func unknownArchitecture(name string) error {
	if name == "" {
		return errors.New("config.json: neither architectures nor model_type is given: not a language model's config")
	}
	stem := func(s string) string {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "ForCausalLM"), "ForConditionalGeneration")
		return s[:min(len(s), maxName)]
	}
	var words []string
	of := map[string]string{}
	for _, f := range slices.Backward(families()) { // newer generations come later
		for s := range strings.FieldsSeq(f.Architectures + " " + f.Types) {
			if w := stem(s); of[w] == "" {
				words, of[w] = append(words, w), f.Name
			}
		}
	}
	var near []string
	for _, w := range nearest.Matches(stem(name), words) {
		if f := of[w]; !slices.Contains(near, f) && len(near) < maxNear {
			near = append(near, f)
		}
	}
	return field.Errorf("config.json: architecture %s is not supported; %s reads it as another family: %s",
		quoted(name), asFamily, strings.Join(append(near, "generic (any decoder)"), ", "))
}
