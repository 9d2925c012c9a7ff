package objects

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// Object is a document, or an object inside one. Kind is "" for what Kubernetes does not know: a Compose file, values of a chart.
type Object struct {
	APIVersion, Kind, Name, Namespace string

	File string
	Line int
	Pods []Pod
	Node *yaml.Node
}

// Pod is what starts a pod: a template, or a service of Compose.
type Pod struct {
	// Part is the key that the pod stands under: "leaderTemplate", or the name of a service.
	Part       string
	Meta       *yaml.Node // its labels and annotations, nil without
	Spec       *yaml.Node
	Above      *yaml.Node // what contains it: a component of Dynamo has the resources of its pods
	Nodes      int        // that the pods of a worker stand on
	Containers []Container
}

// Container is one of a pod.
type Container struct {
	Name, Image string
	Init        bool // that ends before the others start
	Node        *yaml.Node
}

// The kinds of objects whose pods the rules of this program treat in a way of their own.
const (
	Deployment   = "Deployment"
	Group        = "LeaderWorkerSet"
	Service      = "Service"
	PickerConfig = "EndpointPickerConfig"
	List         = "List"
)

// Read are the objects of a document: itself or, of a list, its items, and configurations of endpoint pickers inside it.
func Read(file string, root *yaml.Node) []Object {
	if strictyaml.Scalar(root, "kind") == List {
		var out []Object
		for _, item := range strictyaml.Items(root, "items") {
			out = append(out, Read(file, strictyaml.Resolved(item))...)
		}
		return out
	}
	if root.Kind != yaml.MappingNode {
		return nil
	}
	o := object(file, root)
	out := []Object{o}
	if o.Kind != PickerConfig {
		out = append(out, configurations(file, root)...)
	}
	return out
}

// object is a mapping as an object.
func object(file string, n *yaml.Node) Object {
	o := Object{
		APIVersion: strictyaml.Scalar(n, "apiVersion"), Kind: strictyaml.Scalar(n, "kind"), File: file, Line: n.Line, Node: n,
		Name: strictyaml.Scalar(n, "metadata", "name"), Namespace: strictyaml.Scalar(n, "metadata", "namespace"),
	}
	if o.Kind == Service && strings.Contains(o.APIVersion, "/") { // of Knative, or of another group
		o.Kind = o.APIVersion + " " + o.Kind
	}
	f := finder{compose: o.Kind == "" && strictyaml.Child(n, "services") != nil}
	f.search(within{nodes: 1}, n)
	o.Pods = f.pods
	return o
}

// finder collects the pods of an object.
type finder struct {
	compose bool
	pods    []Pod
}

// within is where in an object something stands.
type within struct {
	key   string
	nodes int // of a worker
	above *yaml.Node
}

// search looks for pods.
func (f *finder) search(in within, n *yaml.Node) {
	switch {
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			f.search(in, strictyaml.Resolved(c))
		}
		return
	case n.Kind != yaml.MappingNode:
		return
	}
	in.nodes = max(in.nodes, nodes(n))
	if p, ok := f.pod(in, n); ok {
		f.pods = append(f.pods, p)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		inner := within{n.Content[i].Value, in.nodes, n}
		if inner.key == "spec" && in.key != "" {
			inner.key = in.key // the template is a leader's, not its spec
		}
		f.search(inner, strictyaml.Resolved(n.Content[i+1]))
	}
}

// nodes are those that the workers of a mapping stand on: a group of LeaderWorkerSet, a component of Dynamo, a service of KServe.
func nodes(n *yaml.Node) int {
	out := Count(n, 1, "multinode", "nodeCount")
	if strictyaml.Child(n, "workerTemplate") != nil || strictyaml.Child(n, "leaderTemplate") != nil {
		out = max(out, Count(n, 1, "size"))
	}
	if strictyaml.Child(n, "worker", "containers") != nil && strictyaml.Child(n, "template") != nil {
		out = max(out, 2)
	}
	return out
}

// pod is a mapping that starts a pod: with containers, with the main container of a component of Dynamo, or a service of Compose.
func (f *finder) pod(in within, n *yaml.Node) (Pod, bool) {
	p := Pod{Part: in.key, Spec: n, Nodes: in.nodes, Above: in.above}
	if in.above != nil && strictyaml.Child(in.above, "spec") == n {
		p.Meta = strictyaml.Child(in.above, "metadata")
	}
	p.add(false, strictyaml.Items(n, "containers")...)
	if main := strictyaml.Child(n, "mainContainer"); main != nil {
		p.add(false, main)
	}
	if f.compose && len(p.Containers) == 0 && strictyaml.Scalar(n, "image") != "" {
		p.add(false, n)
		p.Containers[0].Name = in.key
	}
	if len(p.Containers) == 0 {
		return Pod{}, false
	}
	p.add(true, strictyaml.Items(n, "initContainers")...)
	return p, true
}

// add adds containers.
func (p *Pod) add(first bool, all ...*yaml.Node) {
	for _, c := range all {
		if c = strictyaml.Resolved(c); c.Kind == yaml.MappingNode {
			p.Containers = append(p.Containers, Container{Name: strictyaml.Scalar(c, "name"), Image: strictyaml.Scalar(c, "image"), Init: first, Node: c})
		}
	}
}

// configurations are those of endpoint pickers inside an object: a mapping, or a text, as of a ConfigMap.
func configurations(file string, n *yaml.Node) []Object {
	var out []Object
	switch {
	case n.Kind == yaml.MappingNode && strictyaml.Scalar(n, "kind") == PickerConfig:
		return []Object{object(file, n)}
	case n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "kind: "+PickerConfig):
		all, err := strictyaml.Documents([]byte(n.Value))
		if err != nil { // no YAML, or a template of it: nothing that can be judged
			return nil
		}
		for _, d := range all {
			if strictyaml.Scalar(d, "kind") == PickerConfig {
				o := object(file, d)
				o.Line += strictyaml.TextLine(n) - 1
				out = append(out, o)
			}
		}
		return out
	}
	for _, c := range n.Content {
		out = append(out, configurations(file, strictyaml.Resolved(c))...)
	}
	return out
}

// Label is a label of an object itself.
func (o *Object) Label(name string) string {
	return strictyaml.Scalar(o.Node, "metadata", "labels", name)
}

// Annotation is an annotation of an object itself.
func (o *Object) Annotation(name string) string {
	return strictyaml.Scalar(o.Node, "metadata", "annotations", name)
}

// Accelerators are the resources of accelerators that a mapping with "resources" asks for, with their number.
func Accelerators(n *yaml.Node) (resource string, devices int) {
	for _, of := range []string{"limits", "requests"} {
		all := strictyaml.Child(n, "resources", of)
		if all == nil || all.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(all.Content); i += 2 {
			name := all.Content[i].Value
			if k := Count(all, 0, name); isAccelerator(name) && k > 0 {
				return name, k
			}
		}
	}
	return "", 0
}

// isAccelerator reports the resource of a vendor's device plugin: "nvidia.com/gpu", a share of one as "nvidia.com/mig-1g.10gb", "amd.com/gpu",
// "huawei.com/Ascend910"; and "gpu", as Dynamo calls it.
func isAccelerator(resource string) bool {
	return resource == "gpu" || strings.HasSuffix(resource, "/gpu") || strings.HasPrefix(resource, "nvidia.com/mig-") || strings.HasPrefix(resource, Ascend)
}

// Ascend begins the resources of Huawei's device plugin.
const Ascend = "huawei.com/Ascend"

// Accelerator is the resource of accelerators that a pod asks for, "" if it does not.
func (p *Pod) Accelerator() string {
	for i := range p.Containers {
		if name, n := Accelerators(p.Containers[i].Node); n > 0 {
			return name
		}
	}
	name, _ := Accelerators(p.Above)
	return name
}
