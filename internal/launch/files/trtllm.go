package files

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// configFile names the config file of a role, as AIConfigurator does.
func configFile(r deployment.Role) string { return roleName(r) + "_config.yaml" }

// configFiles are TensorRT-LLM's: the settings of each role, and with nodes the workers
// of each router. Other engines have none.
func (w scripts) configFiles(directory string, nodes [][]slot) ([]launch.File, error) {
	if w.engine() != launch.TRTLLM {
		return nil, nil
	}
	var files []launch.File
	add := func(name, heading string, m *mapping) error {
		data, err := encode(heading, m)
		files = append(files, launch.File{Path: directory + name, Mode: plainFile, Data: data})
		return err
	}
	for i := range w.pools {
		role := w.pools[i].Role
		if err := add(configFile(role), w.heading("Settings of "+roleName(role)+" workers"), engineYAML(&w.pools[i])); err != nil {
			return nil, err
		}
	}
	if nodes == nil || !w.disaggregated() {
		return files, nil
	}
	for unit := range w.units() {
		heading := w.heading("Workers that trtllm-serve divides requests between")
		if len(nodes) > 1 {
			heading += "# Replace node-0, node-1 … by the addresses of the nodes.\n"
		}
		if err := add(w.routingFile(unit), heading, w.workersOf(nodes, unit)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// engineYAML is the settings of a role: TensorRT-LLM's options are paths in it.
func engineYAML(v *launch.Values) *mapping {
	root := fields("backend", "pytorch")
	for _, p := range v.Parameters() {
		root.setPath(strings.Split(p.Name, "."), yamlValue(p.Value, p.Words))
	}
	graphs := len(v.Graphs) > 0 || v.OwnGraphs
	if name := known(v, "use_cuda_graph", "pytorch_backend_config.use_cuda_graph"); name != "" { // off by default
		root.setPath(strings.Split(name, "."), graphs)
	} else if !graphs {
		root.set("cuda_graph_config", nil)
	}
	if padding := known(v, "cuda_graph_config.enable_padding", "cuda_graph_config.padding_enabled", "cuda_graph_padding_enabled",
		"pytorch_backend_config.cuda_graph_padding_enabled"); len(v.Graphs) > 0 {
		root.setPath(strings.Split(padding, "."), true)
	}
	return root
}

// known is the first of the names of a key that the release has, "" if it has none.
func known(v *launch.Values, names ...string) string {
	i := slices.IndexFunc(names, func(name string) bool { return engine.Has(launch.TRTLLM+"-keys", name, v.Version) })
	if i < 0 {
		return ""
	}
	return names[i]
}

// yamlValue is a value of the type that the engine expects.
func yamlValue(at any, words []string) any {
	if _, isText := at.(*string); !isText {
		return reflect.ValueOf(at).Elem().Interface()
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

// routingFile is where trtllm-serve finds the workers of a unit.
func (w routers) routingFile(unit int) string {
	if w.units() == 1 {
		return "disagg_config.yaml"
	}
	return fmt.Sprintf("disagg_%d_config.yaml", unit)
}

// workersOf is the content of this file for workers on nodes, whose addresses only the user
// knows unless everything is on one.
func (w routers) workersOf(nodes [][]slot, unit int) *mapping {
	servers := map[deployment.Role][]string{}
	for _, at := range leaders(nodes, unit) {
		host := "127.0.0.1"
		if len(nodes) > 1 {
			host = fmt.Sprintf("node-%d", at.home)
		}
		servers[at.Role] = append(servers[at.Role], fmt.Sprintf("%s:%d", host, scripts{w}.workerPort(&at)))
	}
	return w.routingYAML(w.Site.Port+unit, servers[deployment.Prefill], servers[deployment.Decode])
}

// routingYAML is trtllm-serve's list of workers.
func (w routers) routingYAML(port int, prefill, decode []string) *mapping {
	servers := func(urls []string) *mapping {
		word := w.divisions().byTRTLLM().word
		return fields("num_instances", len(urls), "urls", urls).setIf(word != "", "router", fields("type", word))
	}
	return fields("hostname", "0.0.0.0", "port", port, "backend", "pytorch", "context_servers", servers(prefill), "generation_servers", servers(decode))
}
