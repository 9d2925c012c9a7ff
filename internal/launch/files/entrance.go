package files

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// fronted reports whether a router stands before the workers of a unit.
func (w *writer) fronted() bool { return w.disaggregated() || w.hasRouter() && !w.alone() }

// entrances is what stands in front of workers on Kubernetes: Services and routers.
type entrances struct{ pods }

// entrance is the Service that requests of the whole deployment go to: to its routers, of all units, or to the workers if there are none.
func (w entrances) entrance() *mapping {
	pods := fields(wholeLabel, w.name, componentLabel, routerComponent)
	if !w.fronted() {
		pods = w.serving(poolPart(&w.pools[0], 0))
	}
	return w.object("v1", "Service", w.name).set("spec", w.address(pods))
}

// address are the selector and the port of a Service.
func (w objects) address(pods *mapping) *mapping {
	return fields("selector", pods, "ports", []*mapping{fields("name", "http", "port", w.Site.Port, "targetPort", "http")})
}

// Routers of Kubernetes' own: two of each, so that one of them may end at any time.
const routerReplicas = 2

// kubernetesRouter is the router of a unit. The routers of vLLM and SGLang find the pods by their labels and need permission to list
// them; trtllm-serve has a list of services.
func (w entrances) kubernetesRouter(unit int) ([]*mapping, error) {
	of := part{unit, routerComponent}
	pod, objects := w.findingRouter(unit), w.finder(of)
	if !w.hasRouter() {
		var err error
		if pod, objects, err = w.listedRouter(unit); err != nil {
			return nil, err
		}
	}
	pod.set("terminationGracePeriodSeconds", w.grace()).set("topologySpreadConstraints", w.spread(of))
	template := fields("metadata", fields("labels", w.labels(of)), "spec", pod)
	return append(objects, w.objectOf(of, "apps/v1", "Deployment").set("spec", fields("replicas", routerReplicas,
		"selector", fields("matchLabels", w.selector(of)), "template", template)), w.disruption(of)), nil
}

// findingRouter is the pod of a router that finds the workers itself. That of SGLang has an image; that of vLLM is only published for
// PyPI, and installed once for each pod.
func (w entrances) findingRouter(unit int) *mapping {
	command := append(w.routers().executable(), w.discovery(unit)...).Add(w.routers().ownFlags(w.Site.Port, 0)...).InManifest().Strings()
	environment := []*mapping{podField(namespaceVariable, "metadata.namespace")}
	image := sglangRouterImage
	var volumes, mounts, first []*mapping
	if w.engine() == launch.VLLM {
		image = routerImage
		volumes = []*mapping{fields("name", "router", "emptyDir", fields())}
		mounts = []*mapping{fields("name", "router", "mountPath", routerHome)}
		environment = append(environment, fields("name", "PYTHONPATH", "value", routerHome),
			fields("name", "PATH", "value", routerHome+"/bin:/usr/local/bin:/usr/bin:/bin"))
		first = []*mapping{fields("name", "install", "image", routerImage, "command", []string{"pip"},
			"args", []string{"install", "--no-cache-dir", "--only-binary=:all:", "--target=" + routerHome, routerPackage(w.engine())},
			"resources", routerResources(), "securityContext", restricted(), "volumeMounts", mounts)}
	}
	container := w.routerContainer(image, command).set("env", environment).
		set("readinessProbe", whileBusy().of(get("/readiness"))).set("livenessProbe", whileStuck().of(get("/liveness"))).
		set("securityContext", restricted()).setIf(mounts != nil, "volumeMounts", mounts)
	container.set("ports", append(w.serverPorts(), fields("name", "metrics", "containerPort", w.routers().metricsPort())))
	return fields("serviceAccountName", w.partName(part{unit, routerComponent}), "securityContext", restrictedPod()).
		setIf(first != nil, "initContainers", first).set("containers", []*mapping{container}).setIf(volumes != nil, "volumes", volumes)
}

// sglangRouterImage is the image of sglang-router 0.3.2 (docker/gateway.Dockerfile of SGLang).
const sglangRouterImage = "lmsysorg/sgl-model-gateway:v0.3.2"

// routerHome is where the init container installs a router.
const routerHome = "/router"

// listedRouter is the pod of trtllm-serve as a router, with the Services that its list names: each has the name of a Deployment.
func (w entrances) listedRouter(unit int) (pod *mapping, objects []*mapping, err error) {
	of := part{unit, routerComponent}
	urls := map[deployment.Role][]string{}
	for i := range w.pools {
		p := poolPart(&w.pools[i], unit)
		urls[w.pools[i].Role] = []string{fmt.Sprintf("%s:%d", w.partName(p), w.Site.Port)}
		objects = append(objects, w.objectOf(p, "v1", "Service").set("spec", w.address(w.serving(p))))
	}
	text, err := encode("", w.routers().routingYAML(w.Site.Port, urls[deployment.Prefill], urls[deployment.Decode]))
	if err != nil {
		return nil, nil, err
	}
	objects = append(objects, w.objectOf(of, "v1", "ConfigMap").set("data", fields("disagg_config.yaml", string(text))))
	container := w.routerContainer(w.image(&w.pools[0]), []string{"trtllm-serve", "disaggregated", "-c", configHome + "disagg_config.yaml"}).
		set("readinessProbe", whileBusy().of(get("/health"))).set("livenessProbe", whileStuck().of(get("/health"))).
		set("securityContext", contained(&w.pools[0])).set("volumeMounts", []*mapping{fields("name", "config", "mountPath", configHome)})
	return fields("automountServiceAccountToken", false, "containers", []*mapping{container},
		"volumes", []*mapping{fields("name", "config", "configMap", fields("name", w.partName(of)))}), objects, nil
}

// routerContainer begins the container of a router.
func (w entrances) routerContainer(image string, command []string) *mapping {
	return fields("name", "router", "image", image, "command", command[:1], "args", command[1:], "ports", w.serverPorts(),
		"lifecycle", stopAfter(withdrawal), "resources", routerResources())
}

// serverPorts are the ports of a container that answers requests.
func (w pods) serverPorts() []*mapping {
	return []*mapping{fields("name", "http", "containerPort", w.Site.Port)}
}

// routerResources are for a proxy in Rust and the prompts that it remembers to send equal ones to the same worker (--max-tree-size).
func routerResources() *mapping {
	return fields("requests", fields("cpu", 1, "memory", "1Gi"), "limits", fields("memory", "8Gi"))
}

// discovery are the flags by which the routers of vLLM and SGLang find the pods of a unit, in the router's own namespace: without a
// namespace they ask for the pods of all.
func (w entrances) discovery(unit int) launch.Command {
	out := launch.Literals("--service-discovery", "--service-discovery-port", strconv.Itoa(w.Site.Port), "--service-discovery-namespace")
	out = append(out, launch.Expansion("$("+namespaceVariable+")"))
	for i := range w.pools {
		v, flag := &w.pools[i], "--selector"
		if v.Role != deployment.Both {
			flag = "--" + string(v.Role) + "-selector"
		}
		out = out.Add(flag, servesLabel+"="+w.partName(poolPart(v, unit)))
	}
	return out
}

// namespaceVariable is the variable of a pod with its namespace.
const namespaceVariable = "POD_NAMESPACE"

// finder allows a part's pods to list those of their namespace.
func (w entrances) finder(p part) []*mapping {
	name := w.partName(p)
	subject := fields("kind", "ServiceAccount", "name", name).setIf(w.Site.Namespace != "", "namespace", w.Site.Namespace)
	return []*mapping{
		w.objectOf(p, "v1", "ServiceAccount"),
		w.objectOf(p, "rbac.authorization.k8s.io/v1", "Role").set("rules", []*mapping{
			fields("apiGroups", []string{""}, "resources", []string{"pods"}, "verbs", []string{"get", "list", "watch"}),
		}),
		w.objectOf(p, "rbac.authorization.k8s.io/v1", "RoleBinding").set("subjects", []*mapping{subject}).
			set("roleRef", fields("apiGroup", "rbac.authorization.k8s.io", "kind", "Role", "name", name)),
	}
}
