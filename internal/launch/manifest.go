package launch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// child is the value of a key in a mapping, nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// scalar is a child's text.
func scalar(n *yaml.Node, key string) string {
	if c := child(n, key); c != nil && c.Kind == yaml.ScalarNode {
		return c.Value
	}
	return ""
}

// list are the texts of a list, or the words of a text as a shell splits it; a text that is
// no shell command is split at its blanks.
func list(n *yaml.Node) []string {
	var out []string
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			out = append(out, c.Value)
		}
	case n.Kind == yaml.ScalarNode:
		all, err := commands(n.Value)
		if err != nil {
			return strings.Fields(n.Value)
		}
		out = slices.Concat(all...)
	}
	return out
}

// arguments are the words of a command in a manifest, in which "$$" is a "$".
func arguments(n *yaml.Node) []string {
	out := list(n)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "$$", "$")
	}
	return out
}

// around is the settings of the objects that contain a command.
type around struct {
	count   int    // number of processes: the innermost "replicas"
	nodes   int    // of a worker
	devices int    // on each node
	version string // of the engine in the image
	dynamo  string // of Dynamo in it
}

// at is the settings inside a mapping.
func (a around) at(n *yaml.Node) around {
	if k, ok := number(scalar(n, "replicas")); ok {
		a.count = k
	}
	for _, nodes := range []string{scalar(child(n, "multinode"), "nodeCount"), scalar(n, "size")} {
		if k, ok := number(nodes); ok { // of Dynamo, and of a LeaderWorkerSet
			a.nodes = k
		}
	}
	if release, dynamo := imageReleases(scalar(n, "image")); release != "" {
		a.version, a.dynamo = release, dynamo
	}
	limits := child(child(n, "resources"), "limits")
	for _, resource := range []string{"gpu", "nvidia.com/gpu", "amd.com/gpu", "huawei.com/Ascend910"} {
		if k, ok := number(scalar(limits, resource)); ok {
			a.devices = k
		}
	}
	reserved := child(child(child(child(n, "deploy"), "resources"), "reservations"), "devices")
	if reserved != nil && len(reserved.Content) > 0 {
		a.devices = len(list(child(reserved.Content[0], "device_ids")))
		if k, ok := number(scalar(reserved.Content[0], "count")); ok {
			a.devices = k
		}
	}
	return a
}

// walk looks for commands in a document.
func (r *reader) walk(file string, n *yaml.Node, a around) error {
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			if err := r.walk(file, c, a); err != nil {
				return err
			}
		}
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	a = a.at(n)
	if err := r.command(file, container(n), a); err != nil {
		return err
	}
	if leader := child(n, "leaderTemplate"); leader != nil {
		return r.walk(file, leader, a) // the other pods belong to the same worker
	}
	for i := 1; i < len(n.Content); i += 2 {
		if err := r.walk(file, n.Content[i], a); err != nil {
			return err
		}
	}
	return nil
}

// container is the command of a container: its own, or that of vLLM's image with its
// arguments.
func container(n *yaml.Node) []string {
	start, rest := arguments(child(n, "command")), arguments(child(n, "args"))
	if entry := child(n, "entrypoint"); entry != nil {
		start = slices.Concat(arguments(entry), start)
	} else if child(n, "services") == nil && len(rest) == 0 && strings.Contains(scalar(n, "image"), VLLMImage) && len(start) > 0 && start[0] != "vllm" {
		return append([]string{"vllm", "serve"}, start...) // Compose calls arguments a command
	}
	if len(start) == 0 && strings.Contains(scalar(n, "image"), VLLMImage) {
		start = []string{"vllm", "serve"}
	}
	return slices.Concat(start, rest)
}

// isLLMD reports whether a document is values of llm-d's chart.
func isLLMD(root *yaml.Node) bool {
	for _, side := range []string{"prefill", "decode"} {
		if c := child(child(root, side), "containers"); c != nil && len(c.Content) > 0 && scalar(c.Content[0], "modelCommand") == "vllmServe" {
			return true
		}
	}
	return false
}

// llmd reads the values of llm-d's chart, which starts vLLM itself.
func (r *reader) llmd(file string, root *yaml.Node) error {
	model := strings.TrimPrefix(scalar(child(root, "modelArtifacts"), "uri"), "hf://")
	for _, side := range []string{"prefill", "decode"} {
		pool := child(root, side)
		containers := child(pool, "containers")
		if containers == nil || len(containers.Content) == 0 {
			continue
		}
		count, _ := number(cmp.Or(scalar(pool, "replicas"), "1"))
		words := append([]string{"vllm", "serve", model}, arguments(child(containers.Content[0], "args"))...)
		for _, p := range [][2]string{{"tensor", "--tensor-parallel-size"}, {"data", "--data-parallel-size"}} {
			if n := scalar(child(pool, "parallelism"), p[0]); n != "" {
				words = append(words, p[1], n)
			}
		}
		if err := r.command(file, words, around{count: count}.at(containers.Content[0])); err != nil {
			return err
		}
	}
	return nil
}

// number reads a number; false if it is a variable.
func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil
}
