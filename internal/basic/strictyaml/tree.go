package strictyaml

import (
	"iter"

	"go.yaml.in/yaml/v3"
)

// Child is the value at the end of some keys, nil if there is none.
func Child(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		n = value(n, key)
	}
	return n
}

// value is the value of a key in a mapping.
func value(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return Resolved(n.Content[i+1])
		}
	}
	return nil
}

// Scalar is the text at the end of some keys, "" if there is none.
func Scalar(n *yaml.Node, keys ...string) string {
	if c := Child(n, keys...); c != nil && c.Kind == yaml.ScalarNode {
		return c.Value
	}
	return ""
}

// Items are the elements of the list at the end of some keys.
func Items(n *yaml.Node, keys ...string) []*yaml.Node {
	if c := Child(n, keys...); c != nil && c.Kind == yaml.SequenceNode {
		return c.Content
	}
	return nil
}

// Scalars are the scalars in a node, its keys too, in the order of the file; nil has none.
func Scalars(n *yaml.Node) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) { scalars(n, yield) }
}

// scalars yields them until no more are wanted.
func scalars(n *yaml.Node, yield func(*yaml.Node) bool) bool {
	switch {
	case n == nil:
		return true
	case n.Kind == yaml.ScalarNode:
		return yield(n)
	}
	for _, c := range n.Content {
		if !scalars(c, yield) {
			return false
		}
	}
	return true
}

// Resolved follows an alias.
func Resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// TextLine is the line on which the text of a node begins.
func TextLine(n *yaml.Node) int {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Line + 1
	}
	return n.Line
}
