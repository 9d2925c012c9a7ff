package launch

import (
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Program is what starts an engine.
type Program string

// The programs: the engine's own server, and Dynamo's worker.
const (
	OwnServer    Program = "server"
	DynamoWorker Program = "dynamo"
)

// isSwitch reports whether the presence of a flag sets a boolean. Booleans for which vLLM
// also has a "--no-" flag are always written (argparse.BooleanOptionalAction).
func isSwitch(name, key string) bool {
	return name != VLLM || key != "chunked_prefill" && key != "prefix_caching"
}

// disables reports whether a flag turns its setting off.
func disables(key, flag string) bool {
	return key == "prefix_caching" && strings.HasPrefix(flag, "--disable-")
}

// flags are a parameter on a command line.
func (n *Parameter) flags(name string) []string {
	on, isBool := n.Value.(*bool)
	switch {
	case !isBool:
		return append([]string{n.Name}, n.Words...)
	case !isSwitch(name, n.Key) && !*on:
		return []string{"--no-" + strings.TrimPrefix(n.Name, "--")}
	case *on != disables(n.Key, n.Name):
		return []string{n.Name}
	}
	return nil
}

// Arguments are the flags of an engine with a command line, each with its values.
func (v *Values) Arguments(by Program, servedName string) [][]string {
	t := v.written
	t.ServedName = servedName
	if by == DynamoWorker && v.Engine == VLLM && v.Role != deployment.Both {
		// Dynamo sends requests both ways; the worker's own flag sets its role.
		t.Transfer = compact(transfer{"NixlConnector", "kv_both"})
	}
	var out [][]string
	for _, n := range v.parameters(&t) {
		// A DP and a PP of 1 are the defaults of SGLang and vLLM.
		if one, ok := n.Value.(*int); ok && *one == 1 && strings.HasPrefix(n.Key, "layout.") && n.Key != "layout.tp" {
			continue
		}
		if f := n.flags(v.Engine); f != nil {
			out = append(out, f)
		}
	}
	switch {
	case by == DynamoWorker && v.Engine == VLLM && v.Role != deployment.Both:
		out = append(out, v.roleFlags())
	case by == OwnServer:
		out = append(out, v.serverFlags()...)
	}
	return out
}

// serverFlags are further flags of an engine's own server. vLLM always has metrics, SGLang only if asked; autoscalers and dashboards need
// them. SGLang's guide for NPUs sets --attention-backend ascend.
func (v *Values) serverFlags() [][]string {
	if v.Engine != SGLang {
		return nil
	}
	out := [][]string{{"--enable-metrics"}}
	if v.Device.Vendor == device.Ascend {
		out = append(out, []string{"--attention-backend", "ascend"})
	}
	return out
}

// Command is the command line of one worker on one node, without node-specific flags. engineFile is where TensorRT-LLM finds its settings.
func (v *Values) Command(by Program, servedName, engineFile string) []string {
	out := v.start(by)
	switch {
	case v.Engine == TRTLLM && by == DynamoWorker:
		out = append(out, "--model-path", v.Model, "--served-model-name", servedName, "--extra-engine-args", engineFile)
		if v.Role != deployment.Both {
			out = append(out, v.roleFlags()...)
		}
		return out
	case v.Engine == TRTLLM:
		if version.Compare(v.Version, "1.0.0") < 0 { // whose own choice is a TensorRT engine (release notes of 1.0)
			out = append(out, "--backend", "pytorch")
		}
		return append(out, "--extra_llm_api_options", engineFile)
	}
	return append(out, slices.Concat(v.Arguments(by, servedName)...)...)
}

// start is the program and the model it names without a flag.
func (v *Values) start(by Program) []string {
	switch {
	case by == DynamoWorker && v.Engine == VLLM:
		return []string{"python3", "-m", "dynamo.vllm", "--model", v.Model}
	case by == DynamoWorker:
		return []string{"python3", "-m", "dynamo." + v.Engine}
	case v.Engine == VLLM:
		return []string{"vllm", "serve", v.Model}
	case v.Engine == SGLang:
		return []string{"python3", "-m", "sglang.launch_server"}
	case v.Engine == TRTLLM:
		return []string{"trtllm-serve", v.Model}
	}
	return []string{"mindieservice_daemon"}
}
