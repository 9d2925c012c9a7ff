package strictyaml

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// Form is what a file must contain, and how a message puts it.
type Form struct {
	Holds   string // what a file holds one of: "profile"
	Kind    bound.Kind
	Aliases string // the message about anchors and aliases; "" writes them out
	Mapping bool   // the root must be a mapping
}

// Document decodes the one YAML document of a file; nil after a problem.
func (ps *Problems) Document(data []byte, f Form) *yaml.Node {
	if int64(len(data)) > f.Kind.Bytes() {
		ps.Add(1, "", "too large with %s; %s", bound.Size(int64(len(data))), f.Kind.Allowed())
		return nil
	}
	if !ps.readable(data) {
		return nil
	}
	var doc, next yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		ps.Add(1, "", "the file is empty")
		return nil
	case err != nil:
		ps.syntax(err, data)
		return nil
	}
	if err := decoder.Decode(&next); err == nil {
		ps.Add(next.Line, "", "a second document; a file holds one %s", f.Holds)
		return nil
	} else if !errors.Is(err, io.EOF) {
		ps.syntax(err, data)
		return nil
	}
	root := doc.Content[0]
	if f.Mapping && root.Kind != yaml.MappingNode {
		ps.Add(root.Line, "", "must be a mapping of keys to values, got %s", ps.KindOf(root))
		return nil
	}
	if f.Aliases != "" && !ps.aliasFree(root, f.Aliases) {
		return nil
	}
	return ps.expand(root, f.Aliases == "")
}

// Documents decodes the documents of a file that are not empty, with aliases written out. It takes what [Problems.Document]
// refuses to people who write a file for this program: a file of Kubernetes has many documents, and keys that only others know.
func Documents(data []byte) ([]*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	e := expander{left: bound.YAMLValues, merges: true}
	var out []*yaml.Node
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(document.Content) > 0 {
			out = append(out, e.node(document.Content[0], 1))
		} else {
			e.left--
		}
		if err := e.err(); err != nil {
			return nil, err
		}
	}
}

// readable refuses what is no text, with the line that YAML's own errors lack.
func (ps *Problems) readable(data []byte) bool {
	line := 1
	for rest := data; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		switch {
		case c == '\n':
			line++
		case c == utf8.RuneError && size == 1:
			ps.Add(line, "", "not valid UTF-8")
			return false
		case c < ' ' && c != '\t' && c != '\r', c >= 0x7f && c < 0xa0 && c != 0x85:
			ps.Add(line, "", "control character %q", c)
			return false
		}
		rest = rest[size:]
	}
	return true
}

// aliasFree refuses anchors and aliases: no file needs them, and nested ones can
// stand for more text than memory holds.
func (ps *Problems) aliasFree(n *yaml.Node, refusal string) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		ps.Add(n.Line, "", "%s", refusal)
		return false
	}
	for _, c := range n.Content {
		if !ps.aliasFree(c, refusal) {
			return false
		}
	}
	return true
}

// syntax reports an error of the YAML parser under its line.
func (ps *Problems) syntax(err error, data []byte) {
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
	ps.Add(line, "", "not valid YAML: %s", strings.ReplaceAll(text, "\n", " "))
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
