package launch

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// readConfig reads the settings in a file that begins at a place: TensorRT-LLM's, or flags of another engine without
// their dashes. Flags of the command count before those.
func (l *Launch) readConfig(text string, at Place, b *budget) ([]Problem, error) {
	all, err := strictyaml.Documents([]byte(text))
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if l.Engine == TRTLLM {
		return l.readMapping("", all[0], at, b), b.err
	}
	return l.readFlags(all[0], at, b), b.err
}

// readFlags reads a mapping of flags.
func (l *Launch) readFlags(n *yaml.Node, at Place, b *budget) (problems []Problem) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		flag, value := "--"+n.Content[i].Value, strictyaml.Resolved(n.Content[i+1])
		if key := keyOf(l.profile, flag); key != "" && l.given[key] {
			continue
		}
		var words []string
		switch {
		case value.Kind == yaml.MappingNode:
			var fields any
			if value.Decode(&fields) == nil {
				words = []string{compact(fields)}
			}
		case value.Kind == yaml.SequenceNode:
			words = list(value, b).words
		case value.ShortTag() == "!!bool":
			if value.Value == "false" {
				continue
			}
		default:
			words = []string{value.Value}
		}
		at := Place{at.File, at.Line + n.Content[i].Line - 1, flag, words}
		if p := l.flag(l.by, at); p != nil {
			p.File = at.File
			problems = append(problems, *p)
		}
	}
	return problems
}

// readMapping reads a mapping and those inside it.
func (l *Launch) readMapping(prefix string, n *yaml.Node, at Place, b *budget) (problems []Problem) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := prefix+n.Content[i].Value, strictyaml.Resolved(n.Content[i+1])
		l.keys = append(l.keys, name)
		l.places[name] = Place{File: at.File, Line: at.Line + n.Content[i].Line - 1, Flag: name}
		if value.Kind == yaml.ScalarNode {
			l.places[name] = Place{at.File, at.Line + n.Content[i].Line - 1, name, []string{value.Value}}
		}
		if value.Kind == yaml.MappingNode {
			problems = append(problems, l.readMapping(name+".", value, at, b)...)
			continue
		}
		if name == "cuda_graph_config" && value.ShortTag() == "!!null" {
			l.set.NoGraphs = true
			continue
		}
		if last := name[strings.LastIndexByte(name, '.')+1:]; last == "use_cuda_graph" { // before cuda_graph_config
			l.set.NoGraphs = value.Value == "false"
			continue
		}
		words := list(value, b).words
		if value.Kind == yaml.ScalarNode {
			words = []string{value.Value}
			l.values = append(l.values, name+"="+value.Value)
		}
		here := Place{at.File, at.Line + n.Content[i].Line - 1, name, words}
		l.places[name] = here
		key := configKey(l.profile, name)
		if key == "" {
			l.Other = append(l.Other, append([]string{name}, words...))
			continue
		}
		l.places[key] = here
		if p := l.problem(here, l.take(key, name, words, false)); p != nil {
			p.File = at.File
			problems = append(problems, *p)
		}
	}
	return problems
}

// configKey finds the setting of a path in the file.
func configKey(p *engine.Profile, name string) string {
	for key := range p.Options {
		if slices.Contains(p.OptionNames(key), name) {
			return key
		}
	}
	return ""
}

// unknownKeys reports the keys of the config file that no release of the engine has; it
// refuses to start with them. Keys below an unknown mapping are not reported again.
func (l *Launch) unknownKeys() []Problem {
	all := engine.Keys(l.Engine)
	if len(all) == 0 {
		return nil
	}
	var out []Problem
	var wrong []string
	for _, key := range l.keys {
		above, _ := CutLast(key)
		if hasKey(all, key) || slices.Contains(wrong, above) {
			if slices.Contains(wrong, above) {
				wrong = append(wrong, key)
			}
			continue
		}
		wrong = append(wrong, key)
		near, ok := nearest.Match(key, beside(all, above))
		at := l.places[key]
		out = append(out, Problem{Kind: UnknownKey, File: cmp.Or(at.File, l.config), Line: at.Line, Flag: key, Nearest: near, Text: "unknown key of " + l.Engine, Unsure: !ok})
	}
	return out
}

// hasKey reports whether a path is a key, or below one that takes anything.
func hasKey(all []engine.Named, key string) bool {
	for i := range all {
		name := all[i].Name
		if name == key {
			return true
		}
		if below, open := strings.CutSuffix(name, ".*"); open && strings.HasPrefix(key, below+".") {
			return true
		}
	}
	return false
}

// beside lists the keys of a mapping.
func beside(all []engine.Named, above string) []string {
	var out []string
	for i := range all {
		if a, last := CutLast(all[i].Name); a == above && last != "*" {
			out = append(out, all[i].Name)
		}
	}
	return out
}

// CutLast divides a path before its last part.
func CutLast(path string) (above, last string) {
	i := strings.LastIndex(path, ".")
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}
