package deploy

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"plimsoll/internal/engine"
)

// readConfig takes over TensorRT-LLM's settings from a file.
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
		if value.Kind == yaml.MappingNode {
			if err := l.readMapping(name+".", value); err != nil {
				return err
			}
			continue
		}
		if name == "cuda_graph_config" && value.ShortTag() == "!!null" {
			l.told.NoGraphs = true
			continue
		}
		key := configKey(l.profile, name)
		if key == "" {
			l.Other = append(l.Other, append([]string{name}, list(value)...))
			continue
		}
		words := list(value)
		if value.Kind == yaml.ScalarNode {
			words = []string{value.Value}
		}
		if err := l.take(key, name, words, false); err != nil {
			return fmt.Errorf("line %d: %s %w", value.Line, name, err)
		}
	}
	return nil
}

// configKey finds what a path in the file tells.
func configKey(p *engine.Profile, name string) string {
	for key := range p.Options {
		if slices.Contains(p.OptionNames(key), name) {
			return key
		}
	}
	return ""
}
