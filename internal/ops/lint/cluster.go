package lint

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/objects"
)

// cluster reports what goes wrong with objects after a cluster took them, and with programs beside engines. What files lack is reported only
// where they start an engine: others are a part of something.
func (x *inspection) cluster() {
	x.ports()
	x.groups()
	x.routers()
	x.pickers()
	x.scalers()
	if len(x.found.Launches) > 0 {
		x.clients()
		x.composed()
		x.pods()
	}
}

// report adds a finding about a line of a file.
func (x *inspection) report(code string, at launch.Place, where, what, better string) {
	x.once(Finding{Code: code, Severity: RuleOf(code).Severity, File: at.File, Line: at.Line, Where: where, What: what, Better: better})
}

// begins is where a part of an object begins.
func begins(o *objects.Object, n *yaml.Node) launch.Place {
	at := launch.Place{File: o.File, Line: o.Line}
	if n != nil {
		at.Line += n.Line - o.Node.Line // an object may stand in a text of another
	}
	return at
}

// called is an object as people speak of it.
func called(o *objects.Object) string { return strings.TrimSpace(o.Kind + " " + o.Name) }

// all are the objects of some kinds.
func (x *inspection) all(kinds ...string) []*objects.Object {
	var out []*objects.Object
	for i := range x.found.Objects {
		if o := &x.found.Objects[i]; slices.Contains(kinds, o.Kind) {
			out = append(out, o)
		}
	}
	return out
}

// runner is what runs a command of a manifest.
func (x *inspection) runner(run *launch.Run) (o *objects.Object, p *objects.Pod, c *objects.Container) {
	if run.In == nil {
		return nil, nil, nil
	}
	for i := range x.found.Objects {
		o = &x.found.Objects[i]
		for j := range o.Pods {
			p = &o.Pods[j]
			for k := range p.Containers {
				if p.Containers[k].Node == run.In {
					return o, p, &p.Containers[k]
				}
			}
		}
	}
	return nil, nil, nil
}

// groups reports Services with the name of a LeaderWorkerSet. Its controller makes a headless Service of this name, which tells the addresses of
// pods before they are ready.
func (x *inspection) groups() {
	for _, g := range x.all(objects.Group) {
		for _, s := range x.all(objects.Service) {
			if s.Name == "" || s.Name != g.Name || s.Namespace != g.Namespace || strictyaml.Scalar(s.Node, "spec", "clusterIP") == "None" {
				continue
			}
			what := s.Name + " has the name that the controller of the LeaderWorkerSet gives its headless Service: the leader's address is not found until it is ready"
			x.report("PL050", begins(s, strictyaml.Child(s.Node, "metadata", "name")), called(s), what, fmt.Sprintf("another name for the Service, as %s-http", s.Name))
		}
	}
}

// pickers reports configurations that endpoint pickers refuse.
func (x *inspection) pickers() {
	// configloader.go of llm-d's router 0.9: the second is deprecated, and everything else refused.
	const now, before = "llm-d.ai/v1alpha1", "inference.networking.x-k8s.io/v1alpha1"
	for _, o := range x.all(objects.PickerConfig) {
		if o.APIVersion == now || o.APIVersion == before {
			continue
		}
		at := begins(o, strictyaml.Child(o.Node, "apiVersion"))
		x.report("PL055", at, "apiVersion", fmt.Sprintf("endpoint pickers up to 0.10 refuse a configuration of %q", o.APIVersion), now)
	}
}
