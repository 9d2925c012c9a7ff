package files

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// kubernetes is plain objects of Kubernetes.
type kubernetes struct{ entrances }

// files are plain objects: a Deployment for each pool, or a LeaderWorkerSet where a worker needs several nodes, a router for each
// unit of several workers, and one Service as the entrance.
func (w kubernetes) files() ([]launch.File, error) {
	for i := range w.pools {
		if v := &w.pools[i]; v.Engine == launch.MindIE || v.Engine == launch.TRTLLM && v.Nodes > 1 {
			return nil, cannot(Kubernetes, "%s on %d nodes needs an operator that starts MPI; Dynamo's does", v.Engine, v.Nodes)
		}
	}
	documents, err := w.sharedObjects()
	if err != nil {
		return nil, err
	}
	for unit := range w.units() {
		for i := range w.pools {
			v := &w.pools[i]
			objects, err := w.workload(v, unit)
			if err != nil {
				return nil, err
			}
			documents = append(documents, objects...)
		}
		if w.fronted() {
			more, err := w.kubernetesRouter(unit)
			if err != nil {
				return nil, err
			}
			documents = append(documents, more...)
		}
	}
	documents = append(documents, w.entrance())
	data, err := encode(w.heading("Kubernetes")+w.selectorHint()+w.fabricHint()+w.volumeHint(), documents...)
	if err != nil {
		return nil, err
	}
	files := []launch.File{{Path: "kubernetes/deploy.yaml", Mode: plainFile, Data: data}}
	if scaler := w.autoscaler(); scaler != nil {
		heading := w.heading("Optional autoscaling") +
			"# The target is the predicted number of requests in flight on a worker, less the tenth that the autoscaler\n# tolerates; the metric comes from the engine through a metrics adapter, which may use another name.\n" +
			comment(monitorHint)
		data, err := encode(heading, w.monitor(), scaler)
		if err != nil {
			return nil, err
		}
		files = append(files, launch.File{Path: "kubernetes/hpa.yaml", Mode: plainFile, Data: data})
	}
	return files, nil
}

// objectName is a model's name as Kubernetes names objects and services (RFC 1035: lower
// case, digits and hyphens, 63 at most, a letter first). The longest that is made of it must fit too: the revision of the StatefulSet that
// a LeaderWorkerSet makes for each of its groups, which its pods have as a label: "NAME-0-prefill-0-" and a hash of 10.
func objectName(model string) string {
	const longest = 36
	model = model[strings.LastIndexByte(model, '/')+1:]
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, model)
	if name = strings.Trim(name, "-"); name == "" || name[0] <= '9' {
		name = "model-" + name
	}
	return strings.TrimRight(name[:min(len(name), longest)], "-")
}

// tokenSecret is the secret with HF_TOKEN.
const tokenSecret = "hf-token-secret"

// pods is the pods of engines, whoever makes them: their volumes, containers, commands and probes.
type pods struct{ fabric }

// cacheClaim is the claim of the volume with the weights. Each plan has its own: with one name for all, the API server refuses the second
// plan of a namespace if it needs less, because a claim cannot shrink.
func (w pods) cacheClaim() string { return w.name + "-cache" }

// volumeHint is about how the volume is filled.
func (w pods) volumeHint() string {
	return comment("All pods load from the volume %s, which must be one that many nodes write (ReadWriteMany). Fill it before: pods that start together download at the same time.", w.cacheClaim())
}

// cacheStorage is the size of this volume.
func (w pods) cacheStorage() string { return fmt.Sprintf("%dGi", w.cacheGiB()) }

// cacheGiB are the checkpoints and a quarter more for what lies beside weights (tokenizers, EAGLE-3 heads, parts of a download), in steps
// of 50 GiB.
func (w pods) cacheGiB() int {
	const room, step = 1.25, 50 * units.GiB
	var sum units.Bytes
	seen := map[string]bool{}
	for i := range w.pools {
		if v := &w.pools[i]; !seen[v.Model] {
			seen[v.Model] = true
			sum += v.Stored
		}
	}
	return int(math.Ceil(room*float64(sum)/float64(step))) * int(step/units.GiB)
}

// sharedObjects are the claim of the volume with the weights, shared by all nodes, and a ConfigMap with TensorRT-LLM's config files.
func (w pods) sharedObjects() ([]*mapping, error) {
	out := []*mapping{w.object("v1", "PersistentVolumeClaim", w.cacheClaim()).set("spec", fields(
		"accessModes", []string{"ReadWriteMany"}, "resources", fields("requests", fields("storage", w.cacheStorage()))))}
	if w.engine() != launch.TRTLLM {
		return out, nil
	}
	data := &mapping{}
	for i := range w.pools {
		text, err := encode("", engineYAML(&w.pools[i]))
		if err != nil {
			return nil, err
		}
		data.set(configFile(w.pools[i].Role), string(text))
	}
	return append(out, w.object("v1", "ConfigMap", w.configMapName()).set("data", data)), nil
}

// configMapName names the ConfigMap of config files.
func (w pods) configMapName() string { return w.name + "-engine" }

// configMount and configMapVolume give a container this ConfigMap.
func configMount() *mapping {
	return fields("name", "engine", "mountPath", configHome, "readOnly", true)
}

func (w pods) configMapVolume() *mapping {
	return fields("name", "engine", "configMap", fields("name", w.configMapName()))
}

// variables are the engine's own environment.
func (w pods) variables(at *slot) []*mapping { return named(w.environment(at)) }

// named are variables as a container has them.
func named(variables [][2]string) []*mapping {
	out := []*mapping{}
	for _, e := range variables {
		out = append(out, fields("name", e[0], "value", e[1]))
	}
	return out
}

// workload is what starts the pods of a pool, and how many of them may be taken away.
func (w pods) workload(v *launch.Values, unit int) ([]*mapping, error) {
	of := poolPart(v, unit)
	leader, err := w.pod(&slot{Values: v, unit: unit})
	if err != nil {
		return nil, err
	}
	if v.Nodes == 1 {
		spec := fields("replicas", w.workers(v), "strategy", fields("type", "RollingUpdate", "rollingUpdate", onFullDevices()),
			"progressDeadlineSeconds", loading+w.grace(), "selector", fields("matchLabels", w.selector(of)), "template", leader)
		return []*mapping{w.objectOf(of, "apps/v1", "Deployment").set("spec", spec), w.disruption(of)}, nil
	}
	follower, err := w.pod(&slot{Values: v, unit: unit, rank: 1})
	if err != nil {
		return nil, err
	}
	spec := fields("replicas", w.workers(v), "rolloutStrategy", fields("type", "RollingUpdate", "rollingUpdateConfiguration", onFullDevices()),
		"leaderWorkerTemplate", fields("size", v.Nodes, "restartPolicy", "RecreateGroupOnPodRestart",
			"leaderTemplate", leader, "workerTemplate", follower))
	out := []*mapping{w.objectOf(of, "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet").set("spec", spec), w.disruption(of)}
	if racked(v) {
		out = append(out, w.computeDomain(of))
	}
	return out, nil
}

// onFullDevices is a rollout where the devices are all taken: a new worker has none before an old one ends.
func onFullDevices() *mapping { return fields("maxSurge", 0, "maxUnavailable", 1) }

// pod is the template of a worker's pod on its first node or another.
func (w pods) pod(at *slot) (*mapping, error) {
	of := poolPart(at.Values, at.unit)
	container, err := w.engineContainer(at)
	if err != nil {
		return nil, err
	}
	volumes := []*mapping{
		fields("name", "cache", "persistentVolumeClaim", fields("claimName", w.cacheClaim())),
		fields("name", "shm", "emptyDir", fields("medium", "Memory", "sizeLimit", gibibytes(sharedMemory))),
	}
	if at.Engine == launch.TRTLLM {
		volumes = append(volumes, w.configMapVolume())
	}
	meta := fields("labels", w.labels(of).setIf(at.leads(), servesLabel, w.partName(of)))
	// SGLang's router finds the bootstrap port of the prefill worker by this annotation.
	meta.setIf(at.Engine == launch.SGLang && at.Role == deployment.Prefill, "annotations", fields("sglang.ai/bootstrap-port", strconv.Itoa(bootstrap(0))))
	spec := fields("automountServiceAccountToken", false, "terminationGracePeriodSeconds", w.grace(), "containers", []*mapping{container}, "volumes", volumes)
	// Workers of one size are spread over nodes. Those of several are not: small ones on every node would leave no room for a large one.
	spec.setIf(at.Role == deployment.Both && at.Nodes == 1 && w.workers(at.Values) > 1, "topologySpreadConstraints", w.spread(of))
	spec.setIf(at.Nodes > 1, "affinity", w.together(w.selector(of), at.Values))
	w.inDomain(of, at.Values, container, spec)
	return fields("metadata", meta, "spec", w.onNodes(spec, at.Values)), nil
}

// engineContainer is the engine on a worker's first node or another.
func (w pods) engineContainer(at *slot) (*mapping, error) {
	command, err := w.podCommand(at)
	if err != nil {
		return nil, err
	}
	mounts := []*mapping{fields("name", "cache", "mountPath", cacheHome), fields("name", "shm", "mountPath", "/dev/shm")}
	if at.Engine == launch.TRTLLM {
		mounts = append(mounts, configMount())
	}
	container := fields("name", "engine", "image", w.image(at.Values), "command", command[:1], "args", command[1:],
		"env", w.podEnvironment(at), "resources", w.resources(at), "securityContext", w.engineContext(at.Values), "volumeMounts", mounts)
	if !at.leads() {
		// A follower has no server. It is well as long as it reaches a leader that is, and stays until the leader has answered its requests.
		return container.set("startupProbe", whileLoading().of(w.leaderProbe())).set("livenessProbe", whileStuck().of(w.leaderProbe())).
			set("lifecycle", stopAfter(withdrawal+w.drain())), nil
	}
	return container.set("ports", w.serverPorts()).
		set("startupProbe", whileLoading().of(get("/health"))).set("readinessProbe", whileBusy().of(get("/health"))).set("livenessProbe", whileStuck().of(get("/health"))).
		set("lifecycle", stopAfter(withdrawal)), nil
}

// leaderProbe asks the first pod of a group for its health from another, with what every image has.
func (w pods) leaderProbe() *mapping {
	script := fmt.Sprintf("import os, urllib.request; urllib.request.urlopen('http://%%s:%d/health' %% os.environ['LWS_LEADER_ADDRESS'], timeout=%d)",
		w.Site.Port, answer-1)
	return fields("exec", fields("command", []string{"python3", "-c", script}))
}

// podCommand is a worker's command: in a shell where it needs the variables of a
// LeaderWorkerSet.
func (w pods) podCommand(at *slot) ([]string, error) {
	command := launch.Literals(at.Command(launch.OwnServer, w.Site.ServedName, configHome+configFile(at.Role))...)
	if at.Nodes > 1 {
		rank := 0
		if !at.leads() {
			rank = memberRank
		}
		flags, err := at.spanning(rank, "${LWS_LEADER_ADDRESS}")
		if err != nil {
			return nil, err
		}
		command = append(command, flags...)
	}
	switch {
	case at.leads():
		command = command.Add(listen(w.Site.Port)...).Add(at.bootstrapFlag(0)...)
	case at.Engine == launch.VLLM:
		command = command.Add(at.Option("nodes.follows"))
	}
	if at.Engine == launch.VLLM && engine.Has(at.Engine, drainFlag, at.Version) {
		command = command.Add(drainFlag, strconv.Itoa(w.drain()))
	}
	if at.Nodes == 1 {
		return command.InManifest().Strings(), nil
	}
	return []string{"/bin/bash", "-c", "exec " + command.InManifest().Lines("  ")}, nil
}

// drainFlag is how long vLLM answers requests after it was asked to end; SGLang and TensorRT-LLM answer them all.
const drainFlag = "--shutdown-timeout"

// tokenField is the variable with the token for Hugging Face, where the secret is.
func tokenField() *mapping {
	return fields("name", "HF_TOKEN", "valueFrom", fields("secretKeyRef", fields("name", tokenSecret, "key", "HF_TOKEN", "optional", true)))
}

// podEnvironment are the variables of a pod.
func (w pods) podEnvironment(at *slot) []*mapping {
	out := []*mapping{tokenField(), fields("name", cacheVariable, "value", cacheHome)}
	out = append(out, w.variables(at)...)
	for _, e := range w.fabricEnvironment(at.Values) {
		out = append(out, fields("name", e[0], "value", e[1]))
	}
	if at.exchanges() { // other pods reach it by its address
		out = append(out, podField(sideChannelHost, "status.podIP"))
	}
	return out
}

// autoscaler scales on the predicted number of requests per worker. Only aggregated workers
// can be scaled independently.
func (w kubernetes) autoscaler() *mapping {
	v := &w.pools[0]
	metrics, ok := loadMetrics(v)
	if !ok || w.disaggregated() || v.Nodes > 1 || w.Concurrency == 0 {
		return nil
	}
	return w.object("autoscaling/v2", "HorizontalPodAutoscaler", w.name).set("spec", fields(
		"scaleTargetRef", w.scaled(), "minReplicas", 1, "maxReplicas", v.Workers, "behavior", scaleBehavior(),
		"metrics", []*mapping{fields("type", "Pods", "pods", fields("metric", fields("name", metrics.running),
			"target", fields("type", "AverageValue", "averageValue", strconv.Itoa(max(1, w.carried())))))},
	))
}
