package strictyaml

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// mostNodes bounds a document whose aliases are written out: nested ones can stand for
// more than memory holds.
const mostNodes = 100_000

// expand writes out aliases, and the merge keys ("<<") that go with them; nil after a
// problem.
func (ps *Problems) expand(root *yaml.Node) *yaml.Node {
	e := expander{left: mostNodes}
	out := e.node(root)
	if e.left < 0 {
		ps.Add(root.Line, "", "aliases stand for more than %d values", mostNodes)
		return nil
	}
	if e.wrong != nil {
		ps.Add(e.wrong.Line, "", "<< must have a mapping or a list of mappings, got %s", ps.KindOf(e.wrong))
		return nil
	}
	return out
}

// expander counts down what may still be written out.
type expander struct {
	left  int
	wrong *yaml.Node // what is merged and no mapping
}

// node is a copy of a node without aliases. Once there are too many it is cut short.
func (e *expander) node(n *yaml.Node) *yaml.Node {
	if e.left--; e.left < 0 {
		return n
	}
	if n.Kind == yaml.AliasNode {
		return e.node(n.Alias)
	}
	out := *n
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		out.Content[i] = e.node(c)
	}
	if n.Kind == yaml.MappingNode && e.left >= 0 {
		e.merge(&out)
	}
	return &out
}

// merge replaces the merge key of a mapping by the keys that it adds: those which the
// mapping, and the mappings before in a list, do not have.
func (e *expander) merge(m *yaml.Node) {
	at := -1
	for i := 0; i < len(m.Content); i += 2 {
		if m.Content[i].ShortTag() == "!!merge" {
			at = i
		}
	}
	if at < 0 {
		return
	}
	from := []*yaml.Node{m.Content[at+1]}
	if from[0].Kind == yaml.SequenceNode {
		from = from[0].Content
	}
	m.Content = slices.Delete(m.Content, at, at+2)
	for _, f := range from {
		if f.Kind != yaml.MappingNode {
			e.wrong = f
			return
		}
		for i := 0; i < len(f.Content); i += 2 {
			if !hasKey(m, f.Content[i].Value) {
				m.Content = append(m.Content, f.Content[i], f.Content[i+1])
			}
		}
	}
}

func hasKey(m *yaml.Node, key string) bool {
	for i := 0; i < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return true
		}
	}
	return false
}
