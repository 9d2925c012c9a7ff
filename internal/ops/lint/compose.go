package lint

import (
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/launch/objects"
)

// composed reports variables of Compose files that are empty where nobody sets them: in what is started, and from where.
func (x *inspection) composed() {
	for i := range x.found.Objects {
		o := &x.found.Objects[i]
		if o.Kind != "" {
			continue
		}
		for j := range o.Pods {
			if n := o.Pods[j].Spec; n == o.Pods[j].Containers[0].Node {
				for _, key := range []string{"image", "command", "entrypoint", "ports", "extra_hosts"} {
					x.variables(o, strictyaml.Child(n, key))
				}
			}
		}
	}
}

// unsetVariable is one of Compose without a default or a message: "${NAME}" or "$NAME", which "$$" is not.
var unsetVariable = regexp.MustCompile(`(?:^|[^$])(?:\$\$)*\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))`)

// variables reports those in a text or a list.
func (x *inspection) variables(o *objects.Object, n *yaml.Node) {
	for text := range strictyaml.Scalars(n) {
		for _, m := range unsetVariable.FindAllStringSubmatch(text.Value, -1) {
			name := m[1] + m[2]
			x.report("PL056", begins(o, text), name, "Compose puts nothing in its place where it is not set, with a warning only", fmt.Sprintf("${%s:?}, or ${%s:-a value}", name, name))
		}
	}
}
