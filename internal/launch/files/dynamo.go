package files

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// dynamo is NVIDIA Dynamo.
type dynamo struct{ pods }

// files are the files for NVIDIA Dynamo: a script for each node, the engine's
// settings where they are a file, a DynamoGraphDeployment for each unit, and the
// values that everything was made of.
func (w dynamo) files() ([]launch.File, error) {
	if err := w.runs(); err != nil {
		return nil, err
	}
	inDynamo, err := w.inDynamo()
	if err != nil {
		return nil, err
	}
	w.writer = inDynamo
	one := w.scripted()
	files, err := one.scripts().configFiles("", nil)
	if err != nil {
		return nil, err
	}
	nodes := one.placed()
	for i := range nodes {
		s, err := dynamo{one.pods()}.script(nodes, i)
		if err != nil {
			return nil, err
		}
		files = append(files, s.file(fmt.Sprintf("node_%d_run.sh", i)))
	}
	graph, err := w.graphs()
	if err != nil {
		return nil, err
	}
	values, err := w.generatorConfig()
	if err != nil {
		return nil, err
	}
	return byPath(append(files, graph, values)), nil
}

// runs says why Dynamo cannot run the plan.
func (w dynamo) runs() error {
	for i := range w.pools {
		if v := &w.pools[i]; v.Device.Vendor != device.NVIDIA {
			return cannot(Dynamo, "it runs vllm, sglang and trtllm on NVIDIA's GPUs, not %s on %s", v.Engine, v.Device.Name)
		}
	}
	return nil
}

// unitNamespace keeps the workers of a unit to themselves.
func unitNamespace(unit int) string { return "unit" + strconv.Itoa(unit) }

// script starts the workers of a node, and on the first node of each unit its
// frontend. All nodes find each other through etcd and NATS on node 0.
func (w dynamo) script(nodes [][]slot, i int) (*script, error) {
	heading := w.heading(fmt.Sprintf("Dynamo, node %d of %d", i, len(nodes))) + "# Start etcd and NATS on node 0 first.\n"
	s := &script{}
	s.add(`export ETCD_ENDPOINTS="${ETCD_ENDPOINTS:-http://${NODE_0_IP}:2379}"`)
	s.add(`export NATS_SERVER="${NATS_SERVER:-nats://${NODE_0_IP}:4222}"`)
	for unit := range w.units() {
		if leaders(nodes, unit)[0].home == i {
			s.add("\n# Requests go to port %d.", w.Site.Port+unit)
			frontend := fmt.Sprintf("DYN_NAMESPACE=%s python3 -m dynamo.frontend", unitNamespace(unit))
			if engine.Has("dynamo.frontend", "--namespace", w.dynamoRelease()) {
				frontend += " --namespace " + unitNamespace(unit)
			}
			for _, e := range w.divisions().frontendRouting() {
				frontend = e[0] + "=" + e[1] + " " + frontend
			}
			s.add("%s --http-port %d &", frontend, w.Site.Port+unit)
		}
	}
	for j := range nodes[i] {
		if err := w.scripts().process(s, &nodes[i][j], launch.DynamoWorker); err != nil {
			return nil, err
		}
	}
	return w.scripts().nodeScript(heading, len(nodes), s), nil
}

// systemPort is the first port for the health and metrics of workers; Dynamo's
// examples count from it.
const systemPort = 8081

// graphs are the objects that Dynamo's operator makes pods of, and a Service for the frontends of several units.
func (w dynamo) graphs() (launch.File, error) {
	documents, err := w.sharedObjects()
	if err != nil {
		return launch.File{}, err
	}
	for unit := range w.units() {
		front := w.graphPart("Frontend", "frontend", w.frontendReplicas(), w.frontendPod())
		front.setPath([]string{"podTemplate", "metadata", "labels"}, w.frontends())
		components := []*mapping{front}
		for i := range w.pools {
			v := &w.pools[i]
			components = append(components, w.component(v, unit))
			if racked(v) {
				documents = append(documents, w.computeDomain(poolPart(v, unit)))
			}
		}
		documents = append(documents, w.object("nvidia.com/v1beta1", "DynamoGraphDeployment", w.unitName(unit)).set("spec",
			fields("backendFramework", w.pools[0].Engine, "components", components)))
	}
	if w.units() > 1 {
		documents = append(documents, w.object("v1", "Service", frontendService(w.name)).set("spec", fields("selector", w.frontends(),
			"ports", []*mapping{fields("name", "http", "port", frontendPort, "targetPort", "http")})))
	}
	heading := w.heading("Dynamo on Kubernetes, operator "+w.operator()+" or later") + comment("Requests go to %s.", w.entranceURL(Dynamo))
	if w.spans() {
		heading += comment("Workers on several nodes need Grove, by which the operator starts their pods together (dynamo-platform: global.grove.install, " +
			"or global.grove.enabled beside your own).")
	}
	data, err := encode(heading+w.selectorHint()+w.rdmaHint(), documents...)
	return launch.File{Path: "k8s_deploy.yaml", Mode: plainFile, Data: data}, err
}

// operator is the oldest operator for the graphs: of the release of their images, and of 1.2, which has this version of the objects.
func (w dynamo) operator() string {
	const oldest = "1.2.0"
	if release := w.dynamoRelease(); version.Compare(release, oldest) > 0 {
		return release
	}
	return oldest
}

// frontendPod answers all requests that it has before it ends; without the variable only those of the next 5 s (docs of Dynamo 1.4.1,
// "Graceful Shutdown"). It loads the tokenizer, for which it may need the token.
func (w dynamo) frontendPod() *mapping {
	env := append(named(w.divisions().frontendRouting()), fields("name", "DYN_HTTP_GRACEFUL_SHUTDOWN_TIMEOUT_SECS", "value", strconv.Itoa(w.drain())))
	container := fields("name", "main", "image", w.dynamoImage(), "env", env, "envFrom", tokenSource(), "resources", routerResources(),
		"securityContext", fields("allowPrivilegeEscalation", false))
	return fields("terminationGracePeriodSeconds", w.grace(), "containers", []*mapping{container})
}

// frontendReplicas are as many as of other routers where requests go around in turn. A frontend that chooses by load or prefix is alone:
// of two, each would know only what it has sent itself.
func (w dynamo) frontendReplicas() int {
	if len(w.divisions().frontendRouting()) > 0 {
		return 1
	}
	return routerReplicas
}

// tokenSource gives a container the variables of the secret with the token.
func tokenSource() []*mapping {
	return []*mapping{fields("secretRef", fields("name", tokenSecret, "optional", true))}
}

// frontends are the labels of the frontends of all units.
func (w dynamo) frontends() *mapping { return fields(servesLabel, frontendService(w.name)) }

// graphPart is a component of a graph. The operator has to know the release of Dynamo in an image
// that is not its own.
func (w dynamo) graphPart(name, kind string, replicas int, pod *mapping) *mapping {
	return fields("name", name, "type", kind, "replicas", replicas).setIf(w.Site.Image != "", "runtimeVersionOverride", w.dynamoRelease()).
		set("podTemplate", fields("spec", pod))
}

// frontendService is the service that Dynamo's operator makes for the frontend of a graph, and frontendPort its port
// (deploy/operator: the component's name in lower case after the graph's, and DynamoServicePort).
func frontendService(graph string) string { return graph + "-frontend" }

const frontendPort = 8000

// componentName is how Dynamo's examples name a worker's service. On several nodes it is short: the operator names pods by it twice and
// refuses more than 45 characters in all (deploy/operator 1.4.1, MaxCombinedGroveResourceNameLength).
func componentName(v *launch.Values) string {
	if v.Nodes > 1 {
		return roleName(v.Role)
	}
	name := map[string]string{launch.VLLM: "Vllm", launch.SGLang: "SGLang", launch.TRTLLM: "TRTLLM"}[v.Engine]
	switch v.Role {
	case deployment.Prefill:
		name += "Prefill"
	case deployment.Decode:
		name += "Decode"
	case deployment.Both:
	}
	return name + "Worker"
}

// component is a pool: so many workers, each with its devices on one node or
// several. The operator adds the flags that name the nodes.
func (w dynamo) component(v *launch.Values, unit int) *mapping {
	at := &slot{Values: v, unit: unit}
	command := launch.Literals(v.Command(launch.DynamoWorker, w.Site.ServedName, configHome+configFile(v.Role))...).
		Add(at.bootstrapFlag(0)...).InManifest().Strings()
	mounts := []*mapping{fields("name", "cache", "mountPath", cacheHome)}
	volumes := []*mapping{fields("name", "cache", "persistentVolumeClaim", fields("claimName", w.cacheClaim()))}
	if v.Engine == launch.TRTLLM {
		mounts, volumes = append(mounts, configMount()), append(volumes, w.configMapVolume())
	}
	own := []*mapping{
		fields("name", cacheVariable, "value", cacheHome),
		fields("name", "DYN_RUNTIME_GRACEFUL_SHUTDOWN_TIMEOUT_SECS", "value", strconv.Itoa(w.drain())),
	} // 900 s by default: more than the pod has
	container := fields("name", "main", "image", w.dynamoImage(), "command", command[:3], "args", command[3:],
		"env", slices.Concat(own, w.variables(at), named(w.fabricEnvironment(v))), "envFrom", tokenSource(),
		"resources", w.resources(at), "securityContext", w.engineContext(v), "volumeMounts", mounts)
	kind := "worker"
	if v.Role != deployment.Both {
		kind = string(v.Role)
	}
	pod := fields("terminationGracePeriodSeconds", w.grace(), "containers", []*mapping{container}, "volumes", volumes)
	w.inDomain(poolPart(v, unit), v, container, pod)
	return w.graphPart(componentName(v), kind, w.workers(v), w.onNodes(pod, v)).
		setIf(v.Nodes > 1, "multinode", fields("nodeCount", v.Nodes)).set("sharedMemorySize", gibibytes(sharedMemory))
}

// generatorConfig is what all files were made of, for people and their tools.
func (w dynamo) generatorConfig() (launch.File, error) {
	root := fields("model_name", w.Deployment.Model, "served_model_name", w.Site.ServedName,
		"system_name", w.pools[0].Device.Name, "decode_system_name", w.pools[len(w.pools)-1].Device.Name, "engine", w.pools[0].Engine, "engine_version", w.pools[0].Version,
		"dynamo_version", w.dynamoRelease(), "serving_mode", w.mode(),
		"total_gpus", w.devices(), "copies", w.Units(), "isl", w.Input, "osl", w.Output, "concurrency", w.Concurrency)
	if w.Prefix > 0 {
		root.set("prefix", w.Prefix)
	}
	if p := &w.Predicted; p.TTFT > 0 {
		root.set("predicted", fields("ttft_ms", rounded(p.TTFT.Ms()), "tpot_ms", rounded(p.TPOT.Ms()), "tokens_per_second", rounded(p.Throughput)))
	}
	for i := range w.pools {
		root.set(roleName(w.pools[i].Role)+"_worker_config", summary(&w.pools[i]))
	}
	data, err := encode(w.heading("Values"), root)
	return launch.File{Path: "generator_config.yaml", Mode: plainFile, Data: data}, err
}

// summary are the values of a pool.
func summary(v *launch.Values) *mapping {
	l := &v.Layout
	out := fields("workers", v.Workers, "gpus_per_worker", v.Devices, "nodes_per_worker", v.Nodes, "tp", l.TP, "pp", l.PP, "dp", l.DP)
	if v.Experts {
		out.set("moe_ep", l.EP).set("moe_tp", l.MoETP)
	}
	out.set("bs", v.Batch).set("token_budget", v.TokenBudget).set("max_model_len", v.MaxLength).
		set("memory_share", v.MemoryShare).set("kv_cache_dtype", v.KV).set("chunked_prefill", v.ChunkedPrefill).
		set("prefix_caching", v.PrefixCaching).setIf(!v.OwnGraphs, "cuda_graph_sizes", v.Graphs).set("nextn", v.MTP).
		setIf(v.Drafter != "", "drafter", string(v.Drafter)).setIf(v.Head != "", "draft_model", v.Head)
	return out.setIf(len(v.Extras) > 0, "settings", v.Extras)
}

// rounded keeps two decimals.
func rounded(x float64) float64 {
	const digits = 100
	return float64(int(x*digits+0.5)) / digits
}
