package launch

import (
	"strconv"
	"strings"
)

// engineYAML is the file for TensorRT-LLM: its options are paths in it.
func (v *Values) engineYAML() *mapping {
	t, _ := v.tell()
	root := &mapping{}
	root.set("backend", "pytorch")
	for _, n := range v.spoken(&t) {
		root.setPath(strings.Split(n.name, "."), yamlValue(n.at, n.words))
		if n.key == "graph.sizes" {
			root.setPath([]string{"cuda_graph_config", "enable_padding"}, true)
		}
	}
	if t.NoGraphs {
		root.set("cuda_graph_config", nil)
	}
	return root
}

// yamlValue is a value of the type that the engine expects.
func yamlValue(at any, words []string) any {
	switch v := at.(type) {
	case *int:
		return *v
	case *float64:
		return *v
	case *bool:
		return *v
	case *[]int:
		return *v
	}
	if n, err := strconv.Atoi(words[0]); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(words[0], 64); err == nil {
		return x
	}
	if b, err := strconv.ParseBool(words[0]); err == nil {
		return b
	}
	return words[0]
}
