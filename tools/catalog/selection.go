package main

import (
	"fmt"
	"slices"
	"strings"
)

// selection is what shapes.txt says.
type selection struct {
	keep   []string // fields, at whatever depth
	shapes []shape
}

// shape is one file of the catalog.
type shape struct {
	name, source string
	byHand       bool
	drop         []string    // paths left out
	set          [][2]string // paths added, with their JSON
}

// parse reads shapes.txt: "keep FIELD …", "cut NAME SOURCE", "written NAME SOURCE", and below a cut, indented, "less PATH …" and
// "with PATH JSON".
func parse(text string) (*selection, error) {
	out := &selection{}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		var last *shape
		if n := len(out.shapes); n > 0 {
			last = &out.shapes[n-1]
		}
		switch first := words[0]; {
		case first == "keep":
			out.keep = append(out.keep, words[1:]...)
		case first == "from" && len(words) > 3: // what shapes were compared with
		case first == "cut" && len(words) == 3, first == "written" && len(words) == 4:
			out.shapes = append(out.shapes, shape{name: words[1], source: words[2], byHand: first == "written"})
		case first == "less" && last != nil && len(words) > 1:
			last.drop = append(last.drop, words[1:]...)
		case first == "with" && last != nil && len(words) > 2:
			_, value, _ := strings.Cut(strings.TrimSpace(line), words[1])
			last.set = append(last.set, [2]string{words[1], strings.TrimSpace(value)})
		default:
			return nil, fmt.Errorf("line %d: %q", i+1, line)
		}
	}
	return out, nil
}

// cut takes from a config the fields that are kept, in its own order.
func (s *selection) cut(sh *shape, config []byte) ([]byte, error) {
	whole, err := decode(config)
	if err != nil {
		return nil, err
	}
	kept, ok := s.kept(whole, "", sh).(*object)
	if !ok {
		return nil, fmt.Errorf("nothing of it is kept")
	}
	for _, set := range sh.set {
		value, err := decode([]byte(set[1]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", set[0], err)
		}
		path := strings.Split(set[0], ".")
		at := kept
		for _, name := range path[:len(path)-1] {
			inner, ok := at.get(name).(*object)
			if !ok {
				return nil, fmt.Errorf("%s: no such object", set[0])
			}
			at = inner
		}
		at.add(path[len(path)-1], value)
	}
	return append(encode(nil, kept, ""), '\n'), nil
}

// kept is what remains of a value, nil for nothing.
func (s *selection) kept(v any, path string, sh *shape) any {
	o, ok := v.(*object)
	if !ok {
		return v
	}
	out := &object{}
	for i, name := range o.names {
		at := strings.TrimPrefix(path+"."+name, ".")
		if o.values[i] == nil || !slices.Contains(s.keep, name) || slices.Contains(sh.drop, at) {
			continue
		}
		if inner := s.kept(o.values[i], at, sh); inner != nil {
			out.add(name, inner)
		}
	}
	if len(out.names) == 0 {
		return nil
	}
	return out
}
