package files

import (
	"strconv"

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

// partName names all objects of a part. No part has the deployment's own name, which is that of its entrance: the controller of a
// LeaderWorkerSet makes a headless Service with the set's name, and could not if there was another.
func (w *writer) partName(p part) string { return w.unitName(p.unit) + "-" + p.component }

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
func (w *writer) labels(p part) *mapping {
	return fields(nameLabel, w.engine(), instanceLabel, w.unitName(p.unit), componentLabel, p.component, wholeLabel, w.name)
}

// selector is what tells the pods of a part from all others, and stays the same when a plan changes: a Deployment's cannot be changed.
func (w *writer) selector(p part) *mapping {
	return fields(instanceLabel, w.unitName(p.unit), componentLabel, p.component)
}

// serving selects the pods of a part that answer requests.
func (w *writer) serving(p part) *mapping { return fields(servesLabel, w.partName(p)) }

// object begins an object of the whole deployment.
func (w *writer) object(version, kind, name string) *mapping {
	return w.labelled(version, kind, name, fields(nameLabel, w.engine(), instanceLabel, w.name, wholeLabel, w.name))
}

// objectOf begins an object of a part.
func (w *writer) objectOf(p part, version, kind string) *mapping {
	return w.labelled(version, kind, w.partName(p), w.labels(p))
}

// labelled begins an object.
func (w *writer) labelled(version, kind, name string, labels *mapping) *mapping {
	meta := fields("name", name).setIf(w.Site.Namespace != "", "namespace", w.Site.Namespace).set("labels", labels)
	return fields("apiVersion", version, "kind", kind, "metadata", meta)
}

// address are the selector and the port of a Service.
func (w *writer) address(pods *mapping) *mapping {
	return fields("selector", pods, "ports", []*mapping{fields("name", "http", "port", w.Site.Port, "targetPort", "http")})
}

// entrance is the Service that requests of the whole deployment go to: to its routers, of all units, or to the workers if there are none.
func (w *writer) entrance() *mapping {
	pods := fields(wholeLabel, w.name, componentLabel, routerComponent)
	if !w.fronted() {
		pods = w.serving(poolPart(&w.pools[0], 0))
	}
	return w.object("v1", "Service", w.name).set("spec", w.address(pods))
}

// finder allows a part's pods to list those of their namespace.
func (w *writer) finder(p part) []*mapping {
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

// podField is a variable with a field of the pod itself.
func podField(name, path string) *mapping {
	return fields("name", name, "valueFrom", fields("fieldRef", fields("fieldPath", path)))
}

// fronted reports whether a router stands before the workers of a unit.
func (w *writer) fronted() bool { return w.disaggregated() }

// onNodes keeps the pods of a pool on nodes with its devices: another kind would take them and be slower or short of memory. Nodes of
// devices often have a taint that is named after the resource (kubernetes.io, "Taints and Tolerations", nodes with special hardware).
func (w *writer) onNodes(pod *mapping, v *launch.Values) *mapping {
	key, value := productLabel(v.Device)
	return pod.setIf(value != "", "nodeSelector", fields(key, value)).
		set("tolerations", []*mapping{fields("key", resource(v), "operator", "Exists", "effect", "NoSchedule")})
}

// discovery are the flags by which the routers of vLLM and SGLang find the pods of a unit, in the router's own namespace: without a
// namespace they ask for the pods of all.
func (w *writer) discovery(unit int) launch.Command {
	out := launch.Literals("--service-discovery", "--service-discovery-port", strconv.Itoa(w.Site.Port), "--service-discovery-namespace")
	out = append(out, launch.Expansion("${"+namespaceVariable+"}"))
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
