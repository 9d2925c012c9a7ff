package files

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// hasRouter reports whether the engine's project has a router that needs no file
// of its own.
func (w *writer) hasRouter() bool { return w.engine() == launch.VLLM || w.engine() == launch.SGLang }

// routers is the routers of vLLM and SGLang, and trtllm-serve in their place.
type routers struct{ *writer }

// start starts the router of a unit. Aggregated TensorRT-LLM has none: any HTTP load
// balancer works.
func (w routers) start(s *script, unit int, workers []slot) {
	if w.routed(s) {
		s.add("# Requests go to port %d.", w.Site.Port+unit)
		s.add("%s &", w.routerCommand(workers, unit).Lines("  "))
	}
}

// routed reports whether a router follows in a script: several workers without one get a hint instead.
func (w routers) routed(s *script) bool {
	if w.alone() {
		return false
	}
	s.add("")
	if !w.hasRouter() && !w.disaggregated() {
		s.add("%s", w.balancerHint())
		return false
	}
	return true
}

// balancerHint is a comment about the load balancer that the user adds.
func (w routers) balancerHint() string {
	return fmt.Sprintf("# The workers listen on ports %d and up: put a load balancer in front of them.", w.Site.Port+launch.WorkerPorts)
}

// executable begins the command of the engine project's router (sglang-router 0.3,
// vllm-router 0.1).
func (w routers) executable() launch.Command {
	start, split := launch.Literals("vllm-router"), "--vllm-pd-disaggregation"
	if w.engine() == launch.SGLang {
		start, split = launch.Literals("python3", "-m", "sglang_router.launch_router"), "--pd-disaggregation"
	}
	if w.disaggregated() {
		start = start.Add(split)
	}
	return start
}

// routerCommand is the command of a router with a list of workers.
func (w routers) routerCommand(workers []slot, unit int) launch.Command {
	if !w.hasRouter() {
		return launch.Literals("trtllm-serve", "disaggregated", "-c", w.routingFile(unit))
	}
	out := w.executable()
	if !w.disaggregated() {
		out = out.Add("--worker-urls")
	}
	for i := range workers {
		at := &workers[i]
		if w.disaggregated() {
			out = out.Add("--" + string(at.Role))
		}
		out = append(out, launch.Expansion(fmt.Sprintf("http://%s:%d", scripts{w}.nodeAddress(at.home), scripts{w}.workerPort(at))))
		if at.Engine == launch.SGLang && at.Role == deployment.Prefill {
			out = out.Add(strconv.Itoa(bootstrap(at.serial)))
		}
	}
	return out.Add(w.ownFlags(w.Site.Port+unit, unit)...)
}

// ownFlags are the flags of the routers of vLLM and SGLang for where they listen, how they choose a worker, and how long they wait for all.
// Routers on the same host have ports for Prometheus of their own. By itself vllm-router gives up after 600 s and tells its metrics to its own
// host alone.
func (w routers) ownFlags(port, offset int) []string {
	return append(listen(port), "--policy", w.divisions().byRouter().word,
		"--prometheus-host", "0.0.0.0", "--prometheus-port", strconv.Itoa(w.metricsPort()+offset),
		"--worker-startup-timeout-secs", strconv.Itoa(loading), "--worker-startup-check-interval", "10")
}

// metricsPort is the port at which a router tells its metrics unless there are others on the host.
func (w routers) metricsPort() int {
	program := launch.VLLMRouter
	if w.engine() == launch.SGLang {
		program = launch.SGLangRouter
	}
	return launch.DefaultPort(program, launch.Metrics)
}

// routerImage is the image that routers run in: they come from PyPI, since not all of
// their projects publish an image.
const routerImage = "python:3.12-slim"

func routerPackage(name string) string {
	return map[string]string{launch.VLLM: "vllm-router==0.1.16", launch.SGLang: "sglang-router==0.3.2"}[name]
}

// routerShell installs and starts a router in a container.
func (w routers) routerShell(command launch.Command) []string {
	return []string{"bash", "-c", "pip install -q --only-binary=:all: " + routerPackage(w.engine()) + " && exec " + command.InManifest().Line()}
}
