package launch

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// readConfig reads TensorRT-LLM's settings from a file.
func (l *Launch) readConfig(text string) error {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return err
	}
	if len(document.Content) == 0 {
		return nil
	}
	return l.readMapping("", document.Content[0])
}

// readMapping reads a mapping and those inside it.
func (l *Launch) readMapping(prefix string, n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := prefix+n.Content[i].Value, n.Content[i+1]
		l.keys = append(l.keys, name)
		if value.Kind == yaml.MappingNode {
			if err := l.readMapping(name+".", value); err != nil {
				return err
			}
			continue
		}
		if name == "cuda_graph_config" && value.ShortTag() == "!!null" {
			l.set.NoGraphs = true
			continue
		}
		key := configKey(l.profile, name)
		if last := name[strings.LastIndexByte(name, '.')+1:]; last == "use_cuda_graph" { // before cuda_graph_config
			l.set.NoGraphs = value.Value == "false"
			continue
		}
		if key == "" {
			l.Other = append(l.Other, append([]string{name}, list(value)...))
			continue
		}
		words := list(value)
		if value.Kind == yaml.ScalarNode {
			words = []string{value.Value}
			l.values = append(l.values, name+"="+value.Value)
		}
		if err := l.take(key, name, words, false); err != nil {
			return fmt.Errorf("line %d: %s %w", value.Line, name, err)
		}
	}
	return nil
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
		above, _ := cutLast(key)
		if hasKey(all, key) || slices.Contains(wrong, above) {
			if slices.Contains(wrong, above) {
				wrong = append(wrong, key)
			}
			continue
		}
		wrong = append(wrong, key)
		near, ok := nearest.Match(key, beside(all, above))
		out = append(out, Problem{File: l.config, Flag: key, Nearest: near, Text: "unknown key of " + l.Engine, Unsure: !ok})
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
		if a, last := cutLast(all[i].Name); a == above && last != "*" {
			out = append(out, all[i].Name)
		}
	}
	return out
}

// cutLast divides a path before its last part.
func cutLast(path string) (above, last string) {
	i := strings.LastIndex(path, ".")
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}
