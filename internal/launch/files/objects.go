package files

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// part is what has objects of its own on Kubernetes: the workers of a role in a unit, or the router of a unit.
type part struct {
	unit      int
	component string
}

// The components that are no role of a disaggregated deployment.
const (
	workerComponent = "worker"
	routerComponent = "router"
)

// poolPart are the workers of a pool in a unit.
func poolPart(v *launch.Values, unit int) part {
	if v.Role == deployment.Both {
		return part{unit, workerComponent}
	}
	return part{unit, string(v.Role)}
}

// objects names and labels objects of Kubernetes.
type objects struct{ *writer }

// partName names all objects of a part. No part has the deployment's own name, which is that of its entrance: the controller of a
// LeaderWorkerSet makes a headless Service with the set's name, and could not if there was another.
func (w objects) partName(p part) string { return w.unitName(p.unit) + "-" + p.component }

// The recommended labels of Kubernetes that objects have here (kubernetes.io, "Recommended Labels").
const (
	nameLabel      = "app.kubernetes.io/name"
	instanceLabel  = "app.kubernetes.io/instance"
	componentLabel = "app.kubernetes.io/component"
	wholeLabel     = "app.kubernetes.io/part-of"
)

// servesLabel is on the pods of a part that answer requests: one of each worker, on its first node.
const servesLabel = "serves"

// labels are those of all objects of a part and its pods.
func (w objects) labels(p part) *mapping {
	return fields(nameLabel, w.engine(), instanceLabel, w.unitName(p.unit), componentLabel, p.component, wholeLabel, w.name)
}

// selector is what tells the pods of a part from all others, and stays the same when a plan changes: a Deployment's cannot be changed.
func (w objects) selector(p part) *mapping {
	return fields(instanceLabel, w.unitName(p.unit), componentLabel, p.component)
}

// serving selects the pods of a part that answer requests.
func (w objects) serving(p part) *mapping { return fields(servesLabel, w.partName(p)) }

// object begins an object of the whole deployment.
func (w objects) object(version, kind, name string) *mapping {
	return w.labelled(version, kind, name, fields(nameLabel, w.engine(), instanceLabel, w.name, wholeLabel, w.name))
}

// objectOf begins an object of a part.
func (w objects) objectOf(p part, version, kind string) *mapping {
	return w.labelled(version, kind, w.partName(p), w.labels(p))
}

// labelled begins an object.
func (w objects) labelled(version, kind, name string, labels *mapping) *mapping {
	meta := fields("name", name).setIf(w.Site.Namespace != "", "namespace", w.Site.Namespace).set("labels", labels)
	return fields("apiVersion", version, "kind", kind, "metadata", meta)
}

// podField is a variable with a field of the pod itself.
func podField(name, path string) *mapping {
	return fields("name", name, "valueFrom", fields("fieldRef", fields("fieldPath", path)))
}

// onNodes keeps the pods of a pool on nodes with its devices: another kind would take them and be slower or short of memory. Nodes of
// devices often have a taint that is named after the resource (kubernetes.io, "Taints and Tolerations", nodes with special hardware).
func (w objects) onNodes(pod *mapping, v *launch.Values) *mapping {
	key, value := productLabel(v.Device)
	return pod.setIf(value != "", "nodeSelector", fields(key, value)).
		set("tolerations", []*mapping{fields("key", resource(v), "operator", "Exists", "effect", "NoSchedule")})
}

// spread keeps the pods of a part on different nodes where it can.
func (w objects) spread(p part) []*mapping {
	return []*mapping{fields("maxSkew", 1, "topologyKey", "kubernetes.io/hostname", "whenUnsatisfiable", "ScheduleAnyway",
		"labelSelector", fields("matchLabels", w.selector(p)))}
}

// disruption lets one pod of a part be evicted at a time.
func (w objects) disruption(p part) *mapping {
	return w.objectOf(p, "policy/v1", "PodDisruptionBudget").set("spec",
		fields("maxUnavailable", 1, "selector", fields("matchLabels", w.selector(p))))
}

// of is a probe with this patience.
func (p patience) of(ask *mapping) *mapping {
	return ask.set("periodSeconds", p.period).set("timeoutSeconds", answer).set("failureThreshold", p.failures)
}

// get is a probe that asks a server for a page.
func get(path string) *mapping { return fields("httpGet", fields("path", path, "port", "http")) }

// stopAfter keeps a container as it is for some seconds after its pod was asked to end (Kubernetes 1.30 and later).
func stopAfter(seconds int) *mapping {
	return fields("preStop", fields("sleep", fields("seconds", seconds)))
}

// contained is the security context of what runs in an engine's image. Those images run as root, and those for AMD's devices need calls
// that the default filter refuses (ROCm's documentation of containers: seccomp=unconfined).
func contained(v *launch.Values) *mapping {
	return fields("allowPrivilegeEscalation", false).setIf(v.Device.Vendor == device.NVIDIA, "seccompProfile", fields("type", "RuntimeDefault"))
}

// engineContext is that of an engine: RDMA reads and writes memory that must not be moved.
func (w pods) engineContext(v *launch.Values) *mapping {
	network, _ := w.rdma(v)
	return contained(v).setIf(network != "", "capabilities", fields("add", []string{"IPC_LOCK"}))
}

// restricted and restrictedPod are the security contexts of a container and its pod that pass the Pod Security Standard "restricted".
func restricted() *mapping {
	return fields("allowPrivilegeEscalation", false, "capabilities", fields("drop", []string{"ALL"}))
}

func restrictedPod() *mapping {
	const nobody = 65534
	return fields("runAsNonRoot", true, "runAsUser", nobody, "runAsGroup", nobody, "fsGroup", nobody, "seccompProfile", fields("type", "RuntimeDefault"))
}
