package strictyaml

import "go.yaml.in/yaml/v3"

// Keys calls read with the keys of a mapping in the order of the file, each with
// its path and value, and returns the line of each. Repeated keys, and those that
// are no words, are problems, and so is what is no mapping: then it returns nil.
func (ps *Problems) Keys(path string, mapping *yaml.Node, read func(at string, key, value *yaml.Node)) map[string]int {
	if mapping.Kind != yaml.MappingNode {
		ps.Add(mapping.Line, path, "must be a mapping of keys to values, got %s", ps.KindOf(mapping))
		return nil
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			ps.Add(key.Line, path, "a key must be a word, got %s", ps.KindOf(key))
			continue
		}
		at := Join(path, Show(key.Value, ps.Quoted))
		if first, repeated := seen[key.Value]; repeated {
			ps.Add(key.Line, at, "given twice, first on line %d", first)
			continue
		}
		seen[key.Value] = key.Line
		read(at, key, value)
	}
	return seen
}

// Number reads a number, which may be infinite or NaN; ok is false after a
// problem.
func (ps *Problems) Number(path string, n *yaml.Node) (x float64, ok bool) {
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" || n.Decode(&x) != nil {
		ps.Add(n.Line, path, "must be a number, got %s", ps.KindOf(n))
		return 0, false
	}
	return x, true
}

// Join is the path of a key in a mapping: "memory.size_gib".
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// KindOf describes a node to someone who does not know YAML's words.
func (ps *Problems) KindOf(n *yaml.Node) string {
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
			return "the text " + Show(n.Value, ps.Quoted)
		default:
			return Show(n.Value, ps.Quoted)
		}
	default:
		return "something else"
	}
}
