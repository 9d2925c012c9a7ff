package files

import (
	"bytes"
	"encoding/json"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// mapping is a YAML mapping whose keys keep their order. Its values are what yaml
// can encode, other mappings among them.
type mapping struct {
	keys   []string
	values map[string]any
}

// fields makes a mapping of pairs.
func fields(pairs ...any) *mapping {
	m := &mapping{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m.set(pairs[i].(string), pairs[i+1])
	}
	return m
}

// set adds or replaces a value.
func (m *mapping) set(key string, value any) *mapping {
	if m.values == nil {
		m.values = map[string]any{}
	}
	if _, ok := m.values[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.values[key] = value
	return m
}

// setIf adds a value that is wanted.
func (m *mapping) setIf(wanted bool, key string, value any) *mapping {
	if wanted {
		m.set(key, value)
	}
	return m
}

// setPath sets a value in mappings inside mappings, which it makes.
func (m *mapping) setPath(path []string, value any) {
	for _, key := range path[:len(path)-1] {
		inner, ok := m.values[key].(*mapping)
		if !ok {
			inner = &mapping{}
			m.set(key, inner)
		}
		m = inner
	}
	m.set(path[len(path)-1], value)
}

// MarshalYAML keeps the order. Lists of numbers are on one line.
func (m *mapping) MarshalYAML() (any, error) {
	out := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range m.keys {
		k, err := node(key)
		if err != nil {
			return nil, err
		}
		v, err := node(m.values[key])
		if err != nil {
			return nil, err
		}
		if _, ok := m.values[key].([]int); ok {
			v.Style = yaml.FlowStyle
		}
		out.Content = append(out.Content, k, v)
	}
	return out, nil
}

// MarshalJSON keeps the order.
func (m *mapping) MarshalJSON() ([]byte, error) {
	out := []byte("{")
	for i, key := range m.keys {
		if i > 0 {
			out = append(out, ',')
		}
		value, err := json.Marshal(m.values[key])
		if err != nil {
			return nil, err
		}
		out = append(append(strconv.AppendQuote(out, key), ':'), value...)
	}
	return append(out, '}'), nil
}

// node is a value as a node. Package yaml would write and read mappings once more for each that they are in.
func node(value any) (*yaml.Node, error) {
	out := new(yaml.Node)
	switch v := value.(type) {
	case *mapping:
		made, err := v.MarshalYAML()
		if err != nil {
			return nil, err
		}
		return made.(*yaml.Node), nil
	case []*mapping:
		if len(v) == 0 {
			break
		}
		out.Kind = yaml.SequenceNode
		for _, x := range v {
			item, err := node(x)
			if err != nil {
				return nil, err
			}
			out.Content = append(out.Content, item)
		}
		return out, nil
	}
	return out, out.Encode(value)
}

// encode writes documents under a heading of comments.
func encode(heading string, documents ...*mapping) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(heading)
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	for _, d := range documents {
		if err := e.Encode(d); err != nil {
			return nil, err
		}
	}
	err := e.Close()
	return out.Bytes(), err
}
