package launch

import (
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// program is who starts an engine.
type program string

// The programs: the engine's own server, and Dynamo's worker.
const (
	ownServer    program = "server"
	dynamoWorker program = "dynamo"
)

// isSwitch reports whether a truth is told by giving a flag or not: those that
// vLLM also has a "--no-" flag of are always given (argparse.BooleanOptionalAction).
func isSwitch(name, key string) bool {
	return name != vllm || key != "chunked_prefill" && key != "prefix_caching"
}

// disables reports whether a flag says the opposite of its setting.
func disables(key, flag string) bool {
	return key == "prefix_caching" && strings.HasPrefix(flag, "--disable-")
}

// flags are a parameter on a command line.
func (n *named) flags(name string) []string {
	on, isBool := n.at.(*bool)
	switch {
	case !isBool:
		return append([]string{n.name}, n.words...)
	case !isSwitch(name, n.key) && !*on:
		return []string{"--no-" + strings.TrimPrefix(n.name, "--")}
	case *on != disables(n.key, n.name):
		return []string{n.name}
	}
	return nil
}

// arguments are what an engine with a command line is told, each flag with its
// values.
func (v *Values) arguments(by program, servedName string) [][]string {
	t, _ := v.tell()
	t.ServedName = servedName
	if by == dynamoWorker && v.Engine == vllm && v.Role != deployment.Both {
		// Dynamo sends requests both ways; the worker's own flag says what it is.
		t.Transfer = compact(transfer{"NixlConnector", "kv_both"})
	}
	var out [][]string
	for _, n := range v.spoken(&t) {
		// SGLang takes a DP and a PP of 1 for granted; vLLM too.
		if one, ok := n.at.(*int); ok && *one == 1 && strings.HasPrefix(n.key, "layout.") && n.key != "layout.tp" {
			continue
		}
		if f := n.flags(v.Engine); f != nil {
			out = append(out, f)
		}
	}
	if by == dynamoWorker && v.Engine == vllm && v.Role != deployment.Both {
		out = append(out, []string{"--disaggregation-mode", string(v.Role)})
	}
	return out
}

// command is the command line of one worker on one node, without what depends on
// the node.
func (v *Values) command(by program, servedName, engineFile string) []string {
	out := v.start(by)
	switch {
	case v.Engine == trtllm && by == dynamoWorker:
		out = append(out, "--model", v.Model, "--served-model-name", servedName, "--extra-engine-args", engineFile)
		if v.Role != deployment.Both {
			out = append(out, "--disaggregation-mode", string(v.Role))
		}
		return out
	case v.Engine == trtllm:
		return append(out, "--extra_llm_api_options", engineFile)
	}
	return append(out, slices.Concat(v.arguments(by, servedName)...)...)
}

// start is the program and the model it names without a flag.
func (v *Values) start(by program) []string {
	switch {
	case by == dynamoWorker && v.Engine == vllm:
		return []string{"python3", "-m", "dynamo.vllm", "--model", v.Model}
	case by == dynamoWorker:
		return []string{"python3", "-m", "dynamo." + v.Engine}
	case v.Engine == vllm:
		return []string{"vllm", "serve", v.Model}
	case v.Engine == sglang:
		return []string{"python3", "-m", "sglang.launch_server"}
	case v.Engine == trtllm:
		return []string{"trtllm-serve", v.Model}
	}
	return []string{"mindieservice_daemon"}
}

// listen are the flags of the engine's own server for its address. TensorRT-LLM's
// are the same.
func listen(port string) []string { return []string{"--host", "0.0.0.0", "--port", port} }

// spanning are the flags of a worker's process on one of several nodes: which it
// is, and where the first is.
func (v *Values) spanning(rank, address string) ([]string, error) {
	if v.Nodes == 1 {
		return nil, nil
	}
	flag := func(key string) string { return v.option(key) }
	switch {
	case v.Engine == sglang:
		return []string{flag("nodes.count"), itoa(v.Nodes), flag("nodes.rank"), rank, flag("nodes.address"), address + ":20000"}, nil
	case v.Engine == vllm && v.Layout.TP*v.Layout.PP <= v.PerNode && v.Layout.DP > 1 && flag("nodes.dp_local") != "":
		return v.spanningRanks(rank, address), nil
	case v.Engine == vllm && v.Layout.DP == 1 && flag("nodes.count") != "":
		return []string{flag("nodes.count"), itoa(v.Nodes), flag("nodes.rank"), rank, flag("nodes.address"), address}, nil
	}
	return nil, cannotSpan(v)
}

// cannotSpan says that a worker needs more than its engine's own commands.
func cannotSpan(v *Values) error {
	why := "needs MPI to start"
	if v.Engine == vllm {
		why = "is not something " + v.Engine + " " + v.Version + " has flags for"
	}
	return cannot(Plain, "a worker on %d nodes (TP %d, PP %d, DP %d) %s", v.Nodes, v.Layout.TP, v.Layout.PP, v.Layout.DP, why)
}

// spanningRanks are vLLM's flags for data-parallel ranks on several nodes: a node
// has so many, beginning with one.
func (v *Values) spanningRanks(rank, address string) []string {
	local := v.Layout.DP / v.Nodes
	start := "$((" + rank + " * " + itoa(local) + "))"
	if n, ok := number(rank); ok {
		start = itoa(n * local)
	}
	return []string{
		v.option("nodes.dp_local"), itoa(local), v.option("nodes.dp_start"), start,
		v.option("nodes.dp_address"), address, v.option("nodes.dp_port"), "13345",
	}
}
