package files

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// kserve is KServe.
type kserve struct{ pods }

// files is an LLMInferenceService for each unit. KServe's own templates start vLLM, with TLS, its
// probes and the sidecar of disaggregated serving; they take the engine's other flags from
// VLLM_ADDITIONAL_ARGS, and on several nodes only data-parallel ranks. The gateway divides requests among units evenly.
func (w kserve) files() ([]launch.File, error) {
	if e := w.engine(); e != launch.VLLM {
		return nil, cannot(KServe, "its templates start vLLM, not %s", e)
	}
	model, err := w.hub(KServe)
	if err != nil {
		return nil, err
	}
	for i := range w.pools {
		if v := &w.pools[i]; v.Nodes > 1 && (v.Layout.TP*v.Layout.PP > v.PerNode || v.Layout.DP == 1) {
			return nil, cannot(KServe, "its templates divide data-parallel ranks over %d nodes, not TP %d and PP %d", v.Nodes, v.Layout.TP, v.Layout.PP)
		}
	}
	route := fields()
	if w.units() > 1 { // without a group one of the services with this name of the model would get all requests for it
		route.set("group", w.name).set("weight", 1)
	}
	var objects []*mapping
	for unit := range w.units() {
		spec := fields("model", fields("uri", "hf://"+model, "name", w.Site.ServedName))
		for i := range w.pools {
			v := &w.pools[i]
			if v.Role == deployment.Prefill {
				spec.set("prefill", w.workersOf(fields(), v, unit))
				continue
			}
			w.workersOf(spec, v, unit)
		}
		for i := range w.pools {
			if v := &w.pools[i]; racked(v) {
				objects = append(objects, w.computeDomain(poolPart(v, unit)))
			}
		}
		spec.set("router", fields("route", route, "gateway", fields(), "scheduler", fields()))
		objects = append(objects, w.object("serving.kserve.io/v1alpha2", "LLMInferenceService", w.unitName(unit)).set("spec", spec))
	}
	data, err := encode(w.heading("KServe")+w.selectorHint()+w.fabricHint(), objects...)
	return []launch.File{{Path: "kserve/llminferenceservice.yaml", Mode: plainFile, Data: data}}, err
}

// workersOf sets the workers of a pool: their number, layout and pods.
func (w kserve) workersOf(spec *mapping, v *launch.Values, unit int) *mapping {
	l := &v.Layout
	parallelism := fields("tensor", l.TP)
	own := []string{v.Option("layout.tp"), v.Option("served_name")} // flags that the templates set
	if v.Nodes > 1 {
		parallelism.set("data", l.DP).set("dataLocal", l.DP/v.Nodes).setIf(v.Experts && l.EP > 1, "expert", true)
		own = append(own, v.Option("layout.dp"), v.Option("layout.expert_switch"))
	}
	var args launch.Command
	for _, f := range v.Arguments(launch.OwnServer, w.Site.ServedName) {
		if !slices.Contains(own, f[0]) {
			args = args.Add(f...)
		}
	}
	at := &slot{Values: v, unit: unit}
	env := append(w.podEnvironment(at), fields("name", "VLLM_ADDITIONAL_ARGS", "value", args.InManifest().Line()))
	pod := func(leads bool) *mapping {
		container := fields("name", "main", "image", w.image(v), "env", env[2:], // the templates know where the weights are
			"resources", w.resources(at), "securityContext", fields("runAsNonRoot", false)) // the image's user is root
		container.setIf(leads, "startupProbe", fields("periodSeconds", whileLoading().period, "failureThreshold", whileLoading().failures)) // of the template, for longer
		out := fields("containers", []*mapping{container}, "initContainers", []*mapping{fields("name", "storage-initializer", "env", env[:1])},
			"terminationGracePeriodSeconds", w.grace(), // from which the templates derive how long vLLM still answers
			"volumes", []*mapping{fields("name", "dshm", "emptyDir", fields("medium", "Memory", "sizeLimit", gibibytes(sharedMemory)))})
		out.setIf(v.Nodes > 1, "affinity", w.together(fields(setLabel, kserveSet(w.unitName(unit), v.Role)), v))
		w.inDomain(poolPart(v, unit), v, container, out)
		return w.onNodes(out, v)
	}
	return spec.set("replicas", w.workers(v)).set("parallelism", parallelism).set("template", pod(true)).setIf(v.Nodes > 1, "worker", pod(false))
}

// kserveSet names the LeaderWorkerSet that KServe makes of the workers of a service (0.20, llmisvc/workload_multi_node.go).
func kserveSet(service string, r deployment.Role) string {
	if r == deployment.Prefill {
		return service + "-kserve-mn-prefill"
	}
	return service + "-kserve-mn"
}
