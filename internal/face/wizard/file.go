package wizard

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// Write writes answers as YAML that [Read] reads, in the order of the questions.
func Write(out io.Writer, a Answers) error {
	if _, err := fmt.Fprintln(out, "# Answers for \"plimsoll plan --answers\"."); err != nil {
		return err
	}
	for _, q := range Questions() {
		if x, ok := a[q.ID]; ok {
			if _, err := fmt.Fprintf(out, "%s: %s\n", q.ID, strconv.Quote(x.Value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Read reads answers from YAML or JSON: a mapping of questions to answers. Errors name their line. Values are checked
// when they are used.
func Read(data []byte, file string) (Answers, error) {
	ps := &strictyaml.Problems{File: file, Most: 10}
	root := ps.Document(data, strictyaml.Form{
		Holds: "set of answers", Kind: bound.Answers, Mapping: true, Aliases: "anchors and aliases are not supported",
	})
	if root == nil {
		return nil, ps.Err()
	}
	known := map[string]bool{}
	var names []string
	for _, q := range Questions() {
		known[string(q.ID)] = true
		names = append(names, string(q.ID))
	}
	out := Answers{}
	ps.Keys("", root, func(at string, key, value *yaml.Node) {
		if !known[key.Value] {
			hint := ""
			if near, ok := nearest.Match(key.Value, names); ok {
				hint = "; did you mean " + near + "?"
			}
			ps.Add(key.Line, at, "unknown question%s", hint)
			return
		}
		if text, ok := answer(ps, at, value); ok {
			out[ID(key.Value)] = Answer{text, Source{Saved, file}}
		}
	})
	return out, ps.Err()
}

// answer is a value as it would be typed: a word, or a list of words.
func answer(ps *strictyaml.Problems, at string, value *yaml.Node) (string, bool) {
	switch value.Kind {
	case yaml.ScalarNode:
		if value.ShortTag() != "!!null" {
			if value.ShortTag() == "!!bool" { // a yes without quotes
				return map[bool]string{true: Yes, false: No}[strings.EqualFold(value.Value, "true") || strings.EqualFold(value.Value, Yes)], true
			}
			return value.Value, true
		}
	case yaml.SequenceNode:
		var words []string
		for _, v := range value.Content {
			if v.Kind != yaml.ScalarNode {
				ps.Add(v.Line, at, "must be a list of words, got %s in it", ps.KindOf(v))
				return "", false
			}
			words = append(words, v.Value)
		}
		return strings.Join(words, " "), true
	default:
	}
	ps.Add(value.Line, at, "must be a word or a list of words, got %s", ps.KindOf(value))
	return "", false
}
