package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/objects"
)

// router is a router of vLLM's or SGLang's project that a command starts.
type router struct {
	run   *launch.Run
	words []string // its arguments
	// waits is for how many seconds it waits for the workers that it is given, without a flag.
	waits int
}

// routerOf is the router that a command starts, nil if it starts none.
func routerOf(run *launch.Run) *router {
	// Defaults of --worker-startup-timeout-secs in vllm-router 0.1.16 and sglang-router 0.3.2 (router_args.py of each).
	const ofVLLM, ofSGLang = 600, 1800
	switch program, arguments := launch.RouterOf(run.Words); program {
	case launch.VLLMRouter:
		return &router{run, arguments, ofVLLM}
	case launch.SGLangRouter:
		return &router{run, arguments, ofSGLang}
	}
	return nil
}

// flag is the value of a flag, and whether it is there.
func (r *router) flag(name string) (value string, given bool) {
	for i, w := range r.words {
		word, joined, ok := strings.Cut(w, "=")
		switch {
		case strings.ReplaceAll(word, "_", "-") != name:
		case ok:
			return joined, true
		case i+1 < len(r.words) && !strings.HasPrefix(r.words[i+1], "--"):
			return r.words[i+1], true
		default:
			return "", true
		}
	}
	return "", false
}

// routers reports routers that do not find their workers, or do not wait for them.
func (x *inspection) routers() {
	for i := range x.found.Runs {
		if r := routerOf(&x.found.Runs[i]); r != nil {
			x.discovers(r)
			x.waits(r)
		}
	}
}

// discovers reports a router that lists the pods of all namespaces and may list those of its own.
func (x *inspection) discovers(r *router) {
	const flag = "--service-discovery-namespace"
	kind, on := r.flag("--service-discovery") // of vLLM's production stack it takes a value
	_, limited := r.flag(flag)
	_, pod, _ := x.runner(r.run)
	if !on || kind != "" || limited || pod == nil {
		return
	}
	account := strictyaml.Scalar(pod.Spec, "serviceAccountName")
	if account == "" || !x.bound("RoleBinding", account) || x.bound("ClusterRoleBinding", account) {
		return
	}
	what := fmt.Sprintf("without %s it lists the pods of the whole cluster, and the Role of %s allows those of one namespace: it is refused and finds no worker", flag, account)
	x.report("PL051", launch.Place{File: r.run.File, Line: r.run.Line}, "--service-discovery", what, flag+" with the namespace of the pods")
}

// bound reports whether a binding of a kind has an account as its subject.
func (x *inspection) bound(kind, account string) bool {
	return slices.ContainsFunc(x.all(kind), func(o *objects.Object) bool {
		return slices.ContainsFunc(strictyaml.Items(o.Node, "subjects"), func(n *yaml.Node) bool { return strictyaml.Scalar(n, "name") == account })
	})
}

// waits reports a router that ends before the workers it is given have to be ready.
func (x *inspection) waits(r *router) {
	const flag = "--worker-startup-timeout-secs"
	given := slices.ContainsFunc([]string{"--worker-urls", "--prefill", "--decode"}, func(name string) bool {
		_, ok := r.flag(name)
		return ok
	})
	if !given {
		return
	}
	value, set := r.flag(flag)
	limit := r.waits
	if set {
		n, err := strconv.Atoi(value)
		if err != nil {
			return
		}
		limit = n
	}
	at := launch.Place{File: r.run.File, Line: r.run.Line}
	if allowed := x.startup(); allowed > limit {
		what := fmt.Sprintf("it waits %d s for its workers, and their startup probes allow %d s: it ends while they load", limit, allowed)
		x.report("PL053", at, flag, what, fmt.Sprintf("%s %d", flag, allowed))
	}
}

// startup is for how many seconds the startup probes of engines let them load, 0 if none is known.
func (x *inspection) startup() int {
	most := 0
	for i := range x.found.Objects {
		for j := range x.found.Objects[i].Pods {
			p := &x.found.Objects[i].Pods[j]
			if p.Accelerator() == "" {
				continue
			}
			for k := range p.Containers {
				if probe := strictyaml.Child(p.Containers[k].Node, "startupProbe"); probe != nil {
					const period, failures = 10, 3 // the defaults of Kubernetes
					most = max(most, objects.Count(probe, 0, "initialDelaySeconds")+objects.Count(probe, period, "periodSeconds")*objects.Count(probe, failures, "failureThreshold"))
				}
			}
		}
	}
	return most
}

// clients reports jobs that call a Service which is not there. Controllers make Services too, named after their objects.
func (x *inspection) clients() {
	if len(x.all(objects.Service)) == 0 {
		return
	}
	for _, job := range x.all("Job", "CronJob") {
		for i := range job.Pods {
			for _, c := range job.Pods[i].Containers {
				for _, key := range []string{"command", "args", "env"} {
					x.calls(job, strictyaml.Child(c.Node, key))
				}
			}
		}
	}
}

// calls reports the addresses in a text of a job that nothing answers at.
func (x *inspection) calls(job *objects.Object, n *yaml.Node) {
	for text := range strictyaml.Scalars(n) {
		for _, m := range address.FindAllStringSubmatch(text.Value, -1) {
			if host, _, _ := strings.Cut(m[1], "."); host != "localhost" && !x.answers(host) {
				x.report("PL054", begins(job, text), called(job), fmt.Sprintf("calls %s, and no Service of the files has this name", host), "the name of a Service")
			}
		}
	}
}

// answers reports whether a Service has a name, or may get it from the controller of an object.
func (x *inspection) answers(host string) bool {
	return slices.ContainsFunc(x.found.Objects, func(o objects.Object) bool {
		group, _, _ := strings.Cut(o.APIVersion, "/")
		custom := strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") || strings.HasSuffix(group, ".x-k8s.io")
		return o.Name != "" && (o.Kind == objects.Service && o.Name == host || custom && strings.HasPrefix(host, o.Name))
	})
}

// address is the URL of a Service: its name alone, or with its namespace.
var address = regexp.MustCompile(`https?://([a-z][a-z0-9-]*(?:\.[a-z0-9-]+\.svc[a-z0-9.-]*)?)(?::\d+)?(?:[/"' ]|$)`)
