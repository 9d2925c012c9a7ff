package workload

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document decodes one YAML document; nil after a problem.
func (r *binReader) document(data []byte) *yaml.Node {
	if !r.readable(data) {
		return nil
	}
	var doc, next yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		r.add(1, "", "the file is empty")
		return nil
	case err != nil:
		r.syntax(err, data)
		return nil
	}
	if err := decoder.Decode(&next); err == nil {
		r.add(next.Line, "", "a second document; a file holds one distribution")
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err, data)
		return nil
	}
	root := doc.Content[0]
	if !r.aliasFree(root) {
		return nil
	}
	return root
}

// readable refuses what is no text, with the line that YAML's own errors lack.
func (r *binReader) readable(data []byte) bool {
	if len(data) > maxYAML {
		r.add(1, "", "the file has more than %d MiB; give the lengths themselves as CSV", maxYAML>>20)
		return false
	}
	line := 1
	for rest := data; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		switch {
		case c == '\n':
			line++
		case c == utf8.RuneError && size == 1:
			r.add(line, "", "not valid UTF-8")
			return false
		case c < ' ' && c != '\t' && c != '\r', c >= 0x7f && c < 0xa0 && c != 0x85:
			r.add(line, "", "control character %q", c)
			return false
		}
		rest = rest[size:]
	}
	return true
}

// aliasFree refuses anchors and aliases: no list of bins needs them, and nested
// ones can stand for more text than memory holds.
func (r *binReader) aliasFree(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		r.add(n.Line, "", "anchors and aliases (& and *) are not allowed")
		return false
	}
	for _, c := range n.Content {
		if !r.aliasFree(c) {
			return false
		}
	}
	return true
}

// syntax reports an error of the YAML parser under its line.
func (r *binReader) syntax(err error, data []byte) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				line, text = n+parserOffset(message), message
			}
		}
	} else if _, name, ok := strings.Cut(text, "unknown anchor '"); ok {
		before, _, _ := bytes.Cut(data, []byte("*"+strings.TrimSuffix(name, "' referenced")))
		line += bytes.Count(before, []byte("\n"))
	}
	r.add(line, "", "not valid YAML: %s", strings.ReplaceAll(text, "\n", " "))
}

// parserOffset corrects the line of an error: yaml.v3 counts from 1 in errors of
// its scanner and from 0 in those of its parser, which are these.
func parserOffset(message string) int {
	switch strings.TrimPrefix(message, "did not find expected ") {
	case "<stream-start>", "<document start>", "node content", "key", "'-' indicator", "',' or ']'", "',' or '}'":
		return 1
	default:
		return 0
	}
}

// kindOf describes a node to someone who does not know YAML's words.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!null":
			return "nothing"
		case "!!str":
			return "the text " + show(n.Value)
		default:
			return show(n.Value)
		}
	default:
		return "something else"
	}
}
