package files_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// matrix are plans of each engine: one worker and several, prefill and decode workers, on one node and on several, in several units, on
// trays of a rack, and on devices of AMD; with and without a namespace and RDMA.
func matrix(t *testing.T) map[string]*launch.Plan {
	out := map[string]*launch.Plan{}
	const dense, moe = "Qwen/Qwen3-32B", "deepseek-ai/DeepSeek-V3"
	for _, e := range []string{"vllm", "sglang", "trtllm"} {
		v := versionOf(e)
		out[e+" alone"] = planned(t, e, v, dense, "h200_sxm", []int{32}, both(1, tp(2)))
		out[e+" several"] = planned(t, e, v, dense, "h200_sxm", []int{32}, both(3, tp(2)))
		out[e+" disaggregated"] = planned(t, e, v, dense, "h200_sxm", []int{1, 32}, prefill(2, tp(1)), decode(1, tp(4)))
		units := planned(t, e, v, dense, "h200_sxm", []int{1, 32}, prefill(2, tp(1)), decode(1, tp(4)))
		units.Copies, units.Site.Namespace = 3, "serving"
		out[e+" units"] = units
		if e == "trtllm" { // needs MPI on several nodes
			continue
		}
		out[e+" nodes"] = planned(t, e, v, moe, "h200_sxm", []int{32}, both(2, wide(16)))
		out[e+" disaggregated nodes"] = planned(t, e, v, moe, "h200_sxm", []int{1, 32}, prefill(1, wide(8)), decode(2, wide(16)))
		rdma := planned(t, e, v, moe, "h200_sxm", []int{1, 32}, prefill(2, wide(16)), decode(1, wide(16)))
		rdma.Copies, rdma.Site = 2, launch.Site{Namespace: "serving", RDMA: "rdma/ib", Topology: "example.com/rack", Port: 9000}
		out[e+" RDMA"] = rdma
		out[e+" rack"] = planned(t, e, v, moe, "gb200", []int{32}, both(2, wide(8)))
		out[e+" AMD"] = planned(t, e, v, dense, "mi300x", []int{32}, both(2, parallel.Layout{Devices: 2, TP: 2}))
	}
	return out
}

// rendered are the objects of a plan's plain manifests, without autoscaling.
type rendered struct {
	t       *testing.T
	name    string
	plan    *launch.Plan
	objects []map[string]any
}

// TestObjects: the objects of every plan keep the rules that a real control plane taught.
func TestObjects(t *testing.T) {
	all := matrix(t)
	routers, groups := 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out, _, err := files.Write(all[name], files.Kubernetes)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := &rendered{t, name, all[name], documents(t, out[0])}
		for _, rule := range []func(*rendered){
			namedServices, selectors, portsAreThere, routersMayLook, labelled, completePods, stopsInTime, rollsOut, groupsTogether,
		} {
			rule(r)
		}
		routers, groups = routers+len(r.of("Role")), groups+len(r.of("LeaderWorkerSet"))
	}
	if routers < 10 || groups < 8 {
		t.Errorf("only %d routers and %d groups", routers, groups)
	}
}

func (r *rendered) errorf(format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("%s: %s", r.name, fmt.Sprintf(format, args...))
}

// of are the objects of a kind.
func (r *rendered) of(kind string) []map[string]any {
	return slices.DeleteFunc(slices.Clone(r.objects), func(o map[string]any) bool { return o["kind"] != kind })
}

// under is what stands at a path of keys, nil where one is missing; of a list the first item.
func under(n any, path ...string) any {
	for _, key := range path {
		if list, ok := n.([]any); ok && len(list) > 0 {
			n = list[0]
		}
		m, ok := n.(map[string]any)
		if !ok {
			return nil
		}
		n = m[key]
	}
	return n
}

// renderedPod is a template of a pod.
type renderedPod struct {
	owner    map[string]any
	part     string // "template", "leaderTemplate" or "workerTemplate"
	template map[string]any
}

func (p *renderedPod) String() string {
	return fmt.Sprint(under(p.owner, "metadata", "name"), " ", p.part)
}
func (p *renderedPod) spec() any      { return under(p.template, "spec") }
func (p *renderedPod) container() any { return under(p.template, "spec", "containers") }
func (p *renderedPod) isEngine() bool { return under(p.container(), "name") == "engine" }

// labels are those of the pod.
func (p *renderedPod) labels() map[string]any {
	labels, _ := under(p.template, "metadata", "labels").(map[string]any)
	return labels
}

// arguments are the words of its command.
func (p *renderedPod) arguments() []string {
	var out []string
	for _, key := range []string{"command", "args"} {
		list, _ := under(p.container(), key).([]any)
		for _, w := range list {
			out = append(out, fmt.Sprint(w))
		}
	}
	return out
}

// pods are the templates of all pods.
func (r *rendered) pods() []renderedPod {
	var out []renderedPod
	for _, o := range r.objects {
		for _, path := range [][]string{{"spec", "template"}, {"spec", "leaderWorkerTemplate", "leaderTemplate"}, {"spec", "leaderWorkerTemplate", "workerTemplate"}} {
			if template, ok := under(o, path...).(map[string]any); ok {
				out = append(out, renderedPod{o, path[len(path)-1], template})
			}
		}
	}
	return out
}

// matches reports whether labels have all of a selector.
func matches(selector any, labels map[string]any) bool {
	all, ok := selector.(map[string]any)
	if !ok || len(all) == 0 {
		return false
	}
	for key, value := range all {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// namedServices: no Service has a name that a controller needs: that of a LeaderWorkerSet makes a headless one with the set's name
// (pkg/controllers/leaderworkerset_controller.go, reconcileHeadlessServices). One Service is the entrance, whatever is behind it.
func namedServices(r *rendered) {
	names := map[string]bool{}
	for _, s := range r.of("Service") {
		names[under(s, "metadata", "name").(string)] = true
	}
	for _, set := range r.of("LeaderWorkerSet") {
		if name := under(set, "metadata", "name").(string); names[name] {
			r.errorf("Service %s has the name of a LeaderWorkerSet", name)
		}
	}
	entrance := strings.ToLower(r.plan.Deployment.Model[strings.LastIndexByte(r.plan.Deployment.Model, '/')+1:])
	if !names[entrance] {
		r.errorf("no Service %s among %v", entrance, names)
	}
	seen := map[string]bool{}
	for _, o := range r.objects {
		id := fmt.Sprint(o["kind"], " ", under(o, "metadata", "name"))
		if seen[id] {
			r.errorf("%s is there twice", id)
		}
		seen[id] = true
	}
	for _, c := range r.of("PersistentVolumeClaim") {
		if name := under(c, "metadata", "name").(string); !strings.HasPrefix(name, entrance+"-") {
			r.errorf("another plan in the namespace has the claim %s too", name)
		}
	}
}

// selectors: every Service, workload and budget selects pods of these files, a workload its own only, and the entrance those of all units.
func selectors(r *rendered) {
	pods := r.pods()
	selected := func(selector any) (out []renderedPod) {
		for _, p := range pods {
			if matches(selector, p.labels()) {
				out = append(out, p)
			}
		}
		return out
	}
	for _, o := range r.objects {
		name := fmt.Sprint(o["kind"], " ", under(o, "metadata", "name"))
		switch o["kind"] {
		case "Service":
			found := selected(under(o, "spec", "selector"))
			if len(found) == 0 {
				r.errorf("%s selects no pods", name)
			}
			if under(o, "metadata", "labels", "app.kubernetes.io/component") == nil && r.plan.Copies > 1 && len(found) != r.plan.Copies {
				r.errorf("%s leads to %d routers of %d units", name, len(found), r.plan.Copies)
			}
			for _, p := range found {
				if p.part == "workerTemplate" {
					r.errorf("%s sends requests to %s", name, p.String())
				}
			}
		case "Deployment", "PodDisruptionBudget":
			selector := under(o, "spec", "selector", "matchLabels")
			found := selected(selector)
			if len(found) == 0 {
				r.errorf("%s selects no pods", name)
			}
			for _, p := range found {
				if under(p.owner, "metadata", "name") != under(o, "metadata", "name") {
					r.errorf("%s selects %s", name, p.String())
				}
			}
		}
	}
}

// portsAreThere: a port that a Service or a probe names is one of the container, and the router asks the engines at theirs.
func portsAreThere(r *rendered) {
	named := func(p *renderedPod) map[any]any {
		out := map[any]any{}
		list, _ := under(p.container(), "ports").([]any)
		for _, port := range list {
			out[under(port, "name")] = under(port, "containerPort")
		}
		return out
	}
	for _, p := range r.pods() {
		ports := named(&p)
		for _, probe := range found(p.template, "startupProbe", "readinessProbe", "livenessProbe") {
			if port := under(probe, "httpGet", "port"); port != nil && ports[port] == nil {
				r.errorf("%s: a probe asks port %v of %v", p.String(), port, ports)
			}
		}
		for _, s := range r.of("Service") {
			if target := under(s, "spec", "ports", "targetPort"); matches(under(s, "spec", "selector"), p.labels()) && ports[target] == nil {
				r.errorf("%s: Service %v asks port %v of %v", p.String(), under(s, "metadata", "name"), target, ports)
			}
		}
		args := p.arguments()
		if i := slices.Index(args, "--service-discovery-port"); i >= 0 {
			for _, e := range r.pods() {
				if e.labels()["serves"] != nil && fmt.Sprint(named(&e)["http"]) != args[i+1] {
					r.errorf("the router asks port %s of %v", args[i+1], named(&e))
				}
			}
		}
		if i := slices.Index(args, "--prometheus-port"); i >= 0 && fmt.Sprint(ports["metrics"]) != args[i+1] {
			r.errorf("%s: metrics are at port %s, not %v", p.String(), args[i+1], ports["metrics"])
		}
	}
}

// routersMayLook: a router that finds pods looks in its own namespace, by labels that workers have, with an account that may list them
// there.
func routersMayLook(r *rendered) {
	for _, p := range r.pods() {
		args := p.arguments()
		if !slices.Contains(args, "--service-discovery") {
			continue
		}
		i := slices.Index(args, "--service-discovery-namespace")
		if i < 0 || args[i+1] != "$(POD_NAMESPACE)" || under(p.container(), "env", "name") != "POD_NAMESPACE" ||
			under(p.container(), "env", "valueFrom", "fieldRef", "fieldPath") != "metadata.namespace" {
			r.errorf("%s does not look in its own namespace: %v", p.String(), args)
		}
		account := under(p.spec(), "serviceAccountName")
		allowed := slices.ContainsFunc(r.of("RoleBinding"), func(b map[string]any) bool {
			role := slices.IndexFunc(r.of("Role"), func(o map[string]any) bool { return under(o, "metadata", "name") == under(b, "roleRef", "name") })
			return role >= 0 && under(b, "subjects", "name") == account && slices.Equal(under(r.of("Role")[role], "rules", "verbs").([]any), []any{"get", "list", "watch"}) &&
				under(r.of("Role")[role], "rules", "resources").([]any)[0] == "pods" && under(b, "metadata", "namespace") == under(p.owner, "metadata", "namespace")
		})
		if !allowed || !slices.ContainsFunc(r.of("ServiceAccount"), func(o map[string]any) bool { return under(o, "metadata", "name") == account }) {
			r.errorf("%s: account %v may not list pods", p.String(), account)
		}
		for i, w := range args {
			if strings.HasSuffix(w, "selector") {
				key, value, _ := strings.Cut(args[i+1], "=")
				if !slices.ContainsFunc(r.pods(), func(e renderedPod) bool { return e.labels()[key] == value && e.part != "workerTemplate" }) {
					r.errorf("%s: no pod has the label %s", p.String(), args[i+1])
				}
			}
		}
	}
}

// labelled: every object has the recommended labels and the plan's namespace.
func labelled(r *rendered) {
	for _, o := range r.objects {
		for _, key := range []string{"name", "instance", "part-of"} {
			if under(o, "metadata", "labels", "app.kubernetes.io/"+key) == nil {
				r.errorf("%v %v has no label %s", o["kind"], under(o, "metadata", "name"), key)
			}
		}
		if space, _ := under(o, "metadata", "namespace").(string); space != r.plan.Site.Namespace {
			r.errorf("%v %v is in namespace %q", o["kind"], under(o, "metadata", "name"), space)
		}
	}
	for _, p := range r.pods() {
		if p.labels()["app.kubernetes.io/component"] == nil {
			r.errorf("%s has no component", p.String())
		}
	}
}

// completePods: every pod has requests for CPU and memory, probes, a security context and time to end; engines also a node with
// their devices and tolerations.
func completePods(r *rendered) {
	for _, p := range r.pods() {
		if under(p.container(), "resources", "requests", "cpu") == nil || under(p.container(), "resources", "requests", "memory") == nil {
			r.errorf("%s requests %v", p.String(), under(p.container(), "resources"))
		}
		if under(p.container(), "livenessProbe") == nil || p.part != "workerTemplate" && under(p.container(), "readinessProbe") == nil || p.isEngine() && under(p.container(), "startupProbe") == nil {
			r.errorf("%s has not all probes", p.String())
		}
		if under(p.container(), "securityContext", "allowPrivilegeEscalation") != false {
			r.errorf("%s may get more privileges", p.String())
		}
		sleep, _ := under(p.container(), "lifecycle", "preStop", "sleep", "seconds").(int)
		grace, _ := under(p.spec(), "terminationGracePeriodSeconds").(int)
		if sleep == 0 || grace <= sleep {
			r.errorf("%s ends after %d s, of which it sleeps %d", p.String(), grace, sleep)
		}
		if p.isEngine() && (under(p.spec(), "nodeSelector") == nil || under(p.spec(), "tolerations") == nil) {
			r.errorf("%s may be on any node", p.String())
		}
		if slices.Contains(p.arguments(), "pip") || strings.Contains(strings.Join(p.arguments(), " "), "pip install") {
			r.errorf("%s installs at each start: %v", p.String(), p.arguments())
		}
	}
}

// stopsInTime: vLLM answers its requests within the time that the pod has left after it was withdrawn, and a follower outlives its
// leader's requests.
func stopsInTime(r *rendered) {
	for _, p := range r.pods() {
		if !p.isEngine() || r.plan.Deployment.Engine.Name != "vllm" {
			continue
		}
		words, err := arguments(strings.Join(p.arguments(), " "))
		if err != nil {
			r.t.Fatal(err)
		}
		if p.part == "template" {
			words = p.arguments()
		}
		text := strings.Join(words, " ")
		_, after, ok := strings.Cut(text, "--shutdown-timeout ")
		var drain int
		if _, err := fmt.Sscan(after, &drain); !ok || err != nil {
			r.errorf("%s does not answer its requests before it ends: %s", p.String(), text)
			continue
		}
		sleep := under(p.container(), "lifecycle", "preStop", "sleep", "seconds").(int)
		grace := under(p.spec(), "terminationGracePeriodSeconds").(int)
		if p.part == "workerTemplate" && sleep < drain || p.part != "workerTemplate" && grace < sleep+drain {
			r.errorf("%s: %d s for requests, sleeps %d of %d", p.String(), drain, sleep, grace)
		}
	}
}

// rollsOut: a new worker waits for the devices of an old one, and the rollout is not given up before an engine may have loaded.
func rollsOut(r *rendered) {
	for _, p := range r.pods() {
		if !p.isEngine() {
			continue
		}
		rolling := under(p.owner, "spec", "strategy", "rollingUpdate")
		if p.part != "template" {
			rolling = under(p.owner, "spec", "rolloutStrategy", "rollingUpdateConfiguration")
		}
		if under(rolling, "maxSurge") != 0 || under(rolling, "maxUnavailable") != 1 {
			r.errorf("%s rolls out by %v", p.String(), rolling)
		}
		probe := under(p.container(), "startupProbe")
		loading := under(probe, "periodSeconds").(int) * under(probe, "failureThreshold").(int)
		if deadline, ok := under(p.owner, "spec", "progressDeadlineSeconds").(int); p.part == "template" && (!ok || deadline < loading) {
			r.errorf("%s may load for %d s, its rollout takes %d", p.String(), loading, deadline)
		}
	}
	budgets := map[any]bool{}
	for _, b := range r.of("PodDisruptionBudget") {
		budgets[under(b, "metadata", "name")] = true
	}
	for _, p := range r.pods() {
		if !budgets[under(p.owner, "metadata", "name")] {
			r.errorf("%s has no budget for disruptions", p.String())
		}
		if !p.isEngine() && under(p.owner, "spec", "replicas") != 2 {
			r.errorf("%s has %v replicas", p.String(), under(p.owner, "spec", "replicas"))
		}
	}
}

// groupsTogether: the pods of a worker on several nodes are placed by the group that they are of: always with the site's label or in a
// rack, whose memory they may map.
func groupsTogether(r *rendered) {
	for _, p := range r.pods() {
		if p.part == "template" {
			continue
		}
		term := under(p.spec(), "affinity", "podAffinity", "preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm")
		want := any("topology.kubernetes.io/zone")
		rack := r.plan.Deployment.System == "gb200"
		if r.plan.Site.Topology != "" || rack {
			list, _ := under(p.spec(), "affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution").([]any)
			if len(list) != 1 {
				r.errorf("%s need not be together", p.String())
				continue
			}
			term, want = list[0], r.plan.Site.Topology
		}
		if rack {
			want = "nvidia.com/gpu.clique"
		}
		by, _ := under(term, "matchLabelKeys").([]any)
		if under(term, "topologyKey") != want || !matches(under(term, "labelSelector", "matchLabels"), p.labels()) || len(by) != 1 || by[0] != "leaderworkerset.sigs.k8s.io/group-index" {
			r.errorf("%s is placed by %v", p.String(), term)
		}
		claim := under(p.spec(), "resourceClaims", "resourceClaimTemplateName")
		domain := slices.ContainsFunc(r.of("ComputeDomain"), func(o map[string]any) bool {
			return claim != nil && under(o, "spec", "channel", "resourceClaimTemplate", "name") == claim
		})
		if rack != domain || rack && under(p.container(), "resources", "claims", "name") != under(p.spec(), "resourceClaims", "name") {
			r.errorf("%s claims %v of %v", p.String(), claim, r.of("ComputeDomain"))
		}
	}
}

// TestRDMA: with a resource for RDMA the pods that exchange data take it, may lock memory and use it; without one the files say what is missing.
func TestRDMA(t *testing.T) {
	for resource, want := range map[string]struct {
		name  string
		count int
		ucx   bool
	}{"rdma/ib": {"rdma/ib", 1, true}, "vpc.amazonaws.com/efa=16": {"vpc.amazonaws.com/efa", 16, false}, "": {}} {
		p := planned(t, "vllm", "0.24.0", "deepseek-ai/DeepSeek-V3", "h200_sxm", []int{1, 32}, prefill(1, wide(8)), decode(1, wide(16)))
		p.Site.RDMA = resource
		all, _, err := files.Write(p, files.Kubernetes)
		if err != nil {
			t.Fatal(err)
		}
		if hint := strings.Contains(string(all[0].Data), "# Between nodes the prediction assumes 50 GB/s"); hint != (resource == "") {
			t.Errorf("%q: hint %t in\n%.800s", resource, hint, all[0].Data)
		}
		r := rendered{t, resource, p, documents(t, all[0])}
		for _, pod := range r.pods() {
			if !pod.isEngine() {
				continue
			}
			names := map[any]any{}
			env, _ := under(pod.container(), "env").([]any)
			for _, e := range env {
				names[under(e, "name")] = under(e, "value")
			}
			limits := under(pod.container(), "resources", "limits").(map[string]any)
			capabilities, _ := under(pod.container(), "securityContext", "capabilities", "add").([]any)
			if resource == "" {
				if names["NCCL_SOCKET_IFNAME"] != nil || capabilities != nil {
					t.Errorf("%s has settings for RDMA: %v", pod.String(), names)
				}
				continue
			}
			if limits[want.name] != want.count || !slices.Equal(capabilities, []any{"IPC_LOCK"}) || names["NCCL_SOCKET_IFNAME"] != "eth0" || (names["UCX_TLS"] != nil) != want.ucx {
				t.Errorf("%s, %s: %v, %v, %v", resource, pod.String(), limits, capabilities, names)
			}
		}
	}
}

// TestRequests: what an engine asks for grows with its devices, ranks and host cache.
func TestRequests(t *testing.T) {
	for name, c := range map[string]struct {
		pool          deployment.Pool
		host          float64
		cpu           int
		memory, limit string
	}{
		"one device":   {both(1, tp(1)), 0, 3, "6Gi", "132Gi"},
		"host cache":   {both(1, tp(4)), 200, 6, "224Gi", "350Gi"},
		"on two nodes": {both(1, tp(16)), 200, 10, "148Gi", "274Gi"},
	} {
		p := planned(t, "vllm", "0.24.0", "Qwen/Qwen3-32B", "h200_sxm", []int{32}, c.pool)
		p.Deployment.Host.GiB = c.host
		resolve(t, p)
		all, _, err := files.Write(p, files.Kubernetes)
		if err != nil {
			t.Fatal(err)
		}
		r := rendered{t, name, p, documents(t, all[0])}
		got := under(r.pods()[0].container(), "resources")
		if under(got, "requests", "cpu") != c.cpu || under(got, "requests", "memory") != c.memory || under(got, "limits", "memory") != c.limit {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestKServeUnitsAreOneEntrance: units with one name of the model are a group of routes, else KServe's controller warns that the gateway sends
// all requests for the model to one of them. The members have equal weights, and a group is never without one.
func TestKServeUnitsAreOneEntrance(t *testing.T) {
	for name, units := range map[string]int{"one": 1, "three": 3} {
		p := planned(t, "vllm", versionOf("vllm"), "Qwen/Qwen3-32B", "h200_sxm", []int{1, 32}, prefill(1, tp(1)), decode(1, tp(1)))
		p.Copies = units
		out, _, err := files.Write(p, files.KServe)
		if err != nil {
			t.Fatal(err)
		}
		services := documents(t, out[0])
		if len(services) != units {
			t.Errorf("%s: %d services", name, len(services))
		}
		for _, o := range services {
			group, weight := under(o, "spec", "router", "route", "group"), under(o, "spec", "router", "route", "weight")
			if several := units > 1; (group != nil) != several || (weight == 1) != several || several && group != under(services[0], "spec", "router", "route", "group") {
				t.Errorf("%s: group %v, weight %v", name, group, weight)
			}
		}
	}
}
