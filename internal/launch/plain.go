package launch

import (
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// plain are the engine's own commands: a script for each node, and for several
// workers a router in front of them. TensorRT-LLM has a file of settings for each
// role beside.
func (w *writer) plain() ([]File, error) {
	if w.pools[0].Engine == mindie {
		return w.mindie()
	}
	nodes := w.placed()
	files, err := w.engineFiles("plain/")
	if err != nil {
		return nil, err
	}
	for i, node := range nodes {
		s := &script{}
		for j := range node {
			if err := w.plainWorker(s, &node[j]); err != nil {
				return nil, err
			}
		}
		for unit := range w.units() {
			if all := leaders(nodes, unit); all[0].home == i {
				w.router(s, unit, all)
			}
		}
		heading := w.heading(fmt.Sprintf("Node %d of %d", i, len(nodes)))
		files = append(files, w.nodeScript(heading, len(nodes), s).file(fmt.Sprintf("plain/node_%d.sh", i)))
	}
	if w.pools[0].Engine == trtllm && w.disaggregated() {
		more, err := w.trtllmRouting("plain/", nodes)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return byPath(files), nil
}

// nodeScript completes a script that starts the processes of a node.
func (w *writer) nodeScript(heading string, nodes int, body *script) *script {
	s := newScript(heading)
	s.supervise()
	s.WriteString(addresses(nodes, body.String()))
	if w.pools[0].Engine == trtllm {
		s.add(`cd "$(dirname "$0")"`)
	}
	s.WriteString(body.String())
	s.add("\nwait -n")
	return s
}

// engineFiles are TensorRT-LLM's settings of each role; other engines have none.
func (w *writer) engineFiles(directory string) ([]File, error) {
	var files []File
	for i := range w.pools {
		if w.pools[i].Engine != trtllm {
			return nil, nil
		}
		data, err := encode(w.heading("Settings of "+roleName(w.pools[i].Role)+" workers"), w.pools[i].engineYAML())
		if err != nil {
			return nil, err
		}
		files = append(files, File{directory + engineFile(w.pools[i].Role), plainFile, data})
	}
	return files, nil
}

// engineFile names the settings of a role, as AIConfigurator does.
func engineFile(r deployment.Role) string { return roleName(r) + "_config.yaml" }

// alone reports whether one worker is all there is: it needs no router.
func (w *writer) alone() bool { return !w.disaggregated() && w.pools[0].Workers == 1 }

// workerPort is where a worker's server listens: workers have ports of their own,
// above those of the routers.
func (w *writer) workerPort(s *slot) int {
	if w.alone() {
		return w.Site.Port
	}
	return w.Site.Port + 100 + s.serial
}

// plainWorker starts a worker's process on a node.
func (w *writer) plainWorker(s *script, at *slot) error {
	command := at.command(ownServer, w.Site.ServedName, engineFile(at.Role))
	launcher, err := w.across(at, &command)
	if err != nil {
		return err
	}
	s.add("")
	if launcher == nil && !at.leads() && at.Engine == trtllm {
		s.add("# %s uses devices %s of this node; its first node starts it.", at.title(), at.devicesOf())
		s.add("sleep infinity &")
		return nil
	}
	if at.leads() {
		command = append(command, listen(itoa(w.workerPort(at)))...)
		if at.Engine == sglang && at.Role == deployment.Prefill {
			command = append(command, "--disaggregation-bootstrap-port", itoa(bootstrap+at.serial))
		}
	}
	s.add("# %s: %s", at.title(), counted(at.PerNode))
	w.exports(s, at)
	s.add("%s &", lines(append(launcher, command...), "  "))
	return nil
}

// bootstrap is the first port at which SGLang's prefill workers meet the others; its
// own default.
const bootstrap = 8998

// exports writes the variables in front of a command.
func (w *writer) exports(s *script, at *slot) {
	s.add("%s=%s \\", at.visible(), at.devicesOf())
	for _, e := range w.environment(at) {
		s.add("%s=%s \\", e[0], e[1])
	}
	if at.Engine == vllm && at.Role != deployment.Both {
		s.add(`VLLM_NIXL_SIDE_CHANNEL_HOST="%s" \`, nodeIP(at.home+at.rank))
	}
}

// across adds to a command what a worker on several nodes needs: flags, or for
// TensorRT-LLM a launcher in front of it on the first node.
func (w *writer) across(at *slot, command *[]string) (launcher []string, err error) {
	if at.Nodes == 1 {
		return nil, nil
	}
	if at.Engine == trtllm {
		if !at.leads() {
			return nil, nil
		}
		var hosts []string
		for n := range at.Nodes {
			hosts = append(hosts, fmt.Sprintf("%s:%d", nodeIP(at.home+n), at.PerNode))
		}
		return []string{"mpirun", "--allow-run-as-root", "-np", itoa(at.Devices), "--host", strings.Join(hosts, ","), "trtllm-llmapi-launch"}, nil
	}
	flags, err := at.spanning(itoa(at.rank), nodeIP(at.home))
	if err != nil {
		return nil, err
	}
	*command = append(*command, flags...)
	if at.Engine == vllm && !at.leads() {
		*command = append(*command, at.option("nodes.follows"))
	}
	return nil, nil
}

// router starts what divides requests between the workers of a unit. Aggregated
// TensorRT-LLM has none: any HTTP load balancer will do.
func (w *writer) router(s *script, unit int, workers []slot) {
	if w.alone() {
		return
	}
	command := w.routerCommand(workers, unit, func(at *slot) string {
		return fmt.Sprintf("http://%s:%d", nodeIP(at.home), w.workerPort(at))
	})
	s.add("")
	if command == nil {
		s.add("# The workers listen on ports %d and up: put a load balancer in front of them.", w.Site.Port+100)
		return
	}
	s.add("# Requests go to port %d.", w.Site.Port+unit)
	s.add("%s &", lines(command, "  "))
}

// routerCommand is the engine project's router (sglang-router 0.3, vllm-router 0.1,
// trtllm-serve disaggregated).
func (w *writer) routerCommand(workers []slot, unit int, url func(*slot) string) []string {
	var out []string
	switch w.pools[0].Engine {
	case vllm:
		out = []string{"vllm-router"}
	case sglang:
		out = []string{"python3", "-m", "sglang_router.launch_router"}
	default:
		if !w.disaggregated() {
			return nil
		}
		return []string{"trtllm-serve", "disaggregated", "-c", routingFile(w, unit)}
	}
	if w.disaggregated() {
		out = append(out, map[string]string{vllm: "--vllm-pd-disaggregation", sglang: "--pd-disaggregation"}[w.pools[0].Engine])
	} else {
		out = append(out, "--worker-urls")
	}
	for i := range workers {
		at := &workers[i]
		if w.disaggregated() {
			out = append(out, "--"+string(at.Role))
		}
		out = append(out, url(at))
		if at.Engine == sglang && at.Role == deployment.Prefill {
			out = append(out, itoa(bootstrap+at.serial))
		}
	}
	return append(out, listen(itoa(w.Site.Port+unit))...)
}

// routingFile is where trtllm-serve finds the workers of a unit.
func routingFile(w *writer, unit int) string {
	if w.units() == 1 {
		return "disagg_config.yaml"
	}
	return fmt.Sprintf("disagg_%d_config.yaml", unit)
}

// trtllmRouting are these files. Their addresses are variables: the scripts cannot
// know them, so the user fills them in unless everything is on one node.
func (w *writer) trtllmRouting(directory string, nodes [][]slot) ([]File, error) {
	var files []File
	for unit := range w.units() {
		heading := w.heading("Workers that trtllm-serve divides requests between")
		if len(nodes) > 1 {
			heading += "# Replace node-0, node-1 … by the addresses of the nodes.\n"
		}
		servers := map[deployment.Role][]string{}
		for _, at := range leaders(nodes, unit) {
			host := "127.0.0.1"
			if len(nodes) > 1 {
				host = fmt.Sprintf("node-%d", at.home)
			}
			servers[at.Role] = append(servers[at.Role], fmt.Sprintf("%s:%d", host, w.workerPort(&at)))
		}
		side := func(r deployment.Role) *mapping {
			return fields("num_instances", len(servers[r]), "urls", servers[r])
		}
		data, err := encode(heading, fields("hostname", "0.0.0.0", "port", w.Site.Port+unit, "backend", "pytorch",
			"context_servers", side(deployment.Prefill), "generation_servers", side(deployment.Decode)))
		if err != nil {
			return nil, err
		}
		files = append(files, File{directory + routingFile(w, unit), plainFile, data})
	}
	return files, nil
}
