package files

import (
	"fmt"
	"slices"
)

// entranceURL is where clients in the cluster send requests that a target's files serve, at the Service that these make or whose name the
// controller takes from them. It is "" for targets without objects, and for KServe, where only the cluster knows the gateway.
func (w *writer) entranceURL(t Target) string {
	url := func(host string, port int) string { return fmt.Sprintf("http://%s:%d", host, port) }
	switch t {
	case Dynamo:
		return url(frontendService(w.name), frontendPort)
	case Kubernetes:
		return url(w.name, w.Site.Port)
	case LLMD:
		return url(pickerService(w.name), pickerPort)
	default:
		return ""
	}
}

// entranceTargets are the targets with an address in the cluster that run the plan: those that are written, or else all.
func (w *writer) entranceTargets() []Target {
	runs := func(t Target) bool {
		other := *w
		_, err := other.files(t)
		return err == nil
	}
	written := slices.DeleteFunc([]Target{Dynamo, Kubernetes, LLMD}, func(t Target) bool { return !slices.Contains(w.targets, t) || !runs(t) })
	if len(written) > 0 {
		return written
	}
	return slices.DeleteFunc([]Target{Kubernetes, Dynamo, LLMD}, func(t Target) bool { return !runs(t) })
}
