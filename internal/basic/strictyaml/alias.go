package strictyaml

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// expand writes out aliases, and the merge keys ("<<") that go with them; nil after a
// problem. Nested aliases can stand for more values than memory holds, so that they are counted.
func (ps *Problems) expand(root *yaml.Node, merges bool) *yaml.Node {
	e := expander{left: bound.YAMLValues, merges: merges}
	out := e.node(root, 1)
	if e.wrong != nil {
		ps.Add(e.wrong.Line, "", "<< must have a mapping or a list of mappings, got %s", ps.KindOf(e.wrong))
		return nil
	}
	if over, ok := errors.AsType[*bound.OverError](e.err()); ok {
		ps.Add(max(e.deep, root.Line), "", "%v", over)
		return nil
	}
	return out
}

// expander counts down what may still be written out.
type expander struct {
	left   int
	merges bool       // merge keys are replaced
	deep   int        // the line of a value that is too deep
	wrong  *yaml.Node // what is merged and no mapping
}

// err is why the copy is not whole.
func (e *expander) err() error {
	switch {
	case e.deep > 0:
		return fmt.Errorf("line %d: %w", e.deep, bound.Over(bound.YAMLDepth, "values inside each other"))
	case e.left < 0:
		return bound.Over(bound.YAMLValues, "values, with those that aliases stand for")
	case e.wrong != nil:
		return fmt.Errorf("line %d: << must have a mapping or a list of mappings", e.wrong.Line)
	}
	return nil
}

// node is a copy of a node without aliases. Once there are too many it is cut short.
func (e *expander) node(n *yaml.Node, depth int) *yaml.Node {
	if depth > bound.YAMLDepth && e.deep == 0 {
		e.deep = n.Line
	}
	if e.left--; e.left < 0 || e.deep > 0 {
		return n
	}
	if n.Kind == yaml.AliasNode {
		return e.node(n.Alias, depth+1)
	}
	out := *n
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		out.Content[i] = e.node(c, depth+1)
	}
	if n.Kind == yaml.MappingNode && e.merges && e.err() == nil {
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
	has := map[string]bool{}
	for i := 0; i < len(m.Content); i += 2 {
		has[m.Content[i].Value] = true
	}
	for _, f := range from {
		if f.Kind != yaml.MappingNode {
			e.wrong = f
			return
		}
		if e.left -= len(f.Content); e.left < 0 {
			return
		}
		for i := 0; i < len(f.Content); i += 2 {
			if key := f.Content[i].Value; !has[key] {
				has[key] = true
				m.Content = append(m.Content, f.Content[i], f.Content[i+1])
			}
		}
	}
}
