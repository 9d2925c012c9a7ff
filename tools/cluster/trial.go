package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// lab runs trials in a control plane.
type lab struct {
	*plane
	kubelet    *kubelet
	program    string          // plimsoll
	prometheus *prometheus     // nil where KEDA does not run
	makers     map[string]bool // targets whose controllers run
	packages   string          // folder with the Python packages of routers, if they are to run
	say        func(format string, args ...any)
}

// result is what came of one target of a plan.
type result struct {
	target, plan string
	objects      int
	accepted     bool
	started      time.Duration // until all pods were ready; 0 if that was not tried
	tried        []string      // what else was tried
	problems     []string
}

func (r *result) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(r.problems, text) {
		r.problems = append(r.problems, text)
	}
}

// patience is how long a state may need that controllers reach by themselves; most need three seconds.
const patience = 45 * time.Second

// until waits until a condition holds. It says what was missing at the end.
func until(ctx context.Context, limit time.Duration, holds func() (missing string, err error)) (string, error) {
	end := time.Now().Add(limit)
	for {
		missing, err := holds()
		if err != nil || missing == "" || time.Now().After(end) {
			return missing, err
		}
		select {
		case <-ctx.Done():
			return missing, ctx.Err()
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// inNamespace runs f in a namespace of its own on nodes of its own, and removes both.
func (l *lab) inNamespace(ctx context.Context, ns string, nodes []node, f func() error) (err error) {
	space := object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": ns}}
	if _, err := l.apply(ctx, "", space); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.clean(ctx, space)) }()
	if err := l.kubelet.add(ctx, nodes); err != nil {
		return err
	}
	if err := f(); err != nil {
		return fmt.Errorf("%s: %w", ns, err)
	}
	return nil
}

// clean removes a namespace, then all nodes and volumes. It waits for the pods alone: other objects, which go later, take no devices.
func (l *lab) clean(ctx context.Context, space object) error {
	if err := l.remove(ctx, space); err != nil {
		return err
	}
	missing, err := until(ctx, 2*patience, func() (string, error) {
		pods, err := l.list(ctx, "v1", "Pod", name(space), "")
		if len(pods) > 0 {
			return "the pods of " + name(space) + " do not go", err
		}
		return "", err
	})
	if err == nil && missing != "" {
		err = errors.New(missing)
	}
	for _, kind := range []string{"Node", "PersistentVolume"} {
		all, e := l.list(ctx, "v1", kind, "", "")
		err = errors.Join(err, e)
		for _, o := range all {
			err = errors.Join(err, l.remove(ctx, o))
		}
	}
	return err
}

// applyAll sends objects as one file, by apply or try.
func (l *lab) applyAll(
	ctx context.Context, r *result, ns string, objects []object, send func(context.Context, string, object) ([]string, error),
) {
	r.accepted = true
	for _, o := range objects {
		r.objects++
		warnings, err := send(ctx, ns, o)
		if err != nil {
			r.accepted = false
			r.problem("%s %s refused: %v", text(o, "kind"), name(o), err)
		}
		for _, w := range warnings {
			r.problem("%s %s: %s", text(o, "kind"), name(o), w)
		}
	}
}

// kubernetes tries the plain objects of a plan.
func (l *lab) kubernetes(ctx context.Context, p *plan, dir string) ([]*result, error) {
	deploy := filepath.Join(dir, "deploy")
	objects, err := readObjects(filepath.Join(deploy, "kubernetes", "deploy.yaml"))
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	r := &result{target: "kubernetes", plan: p.name}
	results := []*result{r}
	objects, left := withoutDomains(objects)
	if left > 0 {
		r.tried = append(r.tried, "without its compute domains")
	}
	nodes := nodesFor(p.system, devices(objects, kinds[p.system].resource))
	err = l.inNamespace(ctx, p.name, nodes, func() error {
		begun := time.Now()
		l.applyAll(ctx, r, p.name, objects, l.apply)
		missing, err := until(ctx, patience, func() (string, error) { return l.unready(ctx, p.name) })
		if err != nil {
			return err
		}
		if missing == "" {
			r.started = time.Since(begun)
		} else {
			r.problem("not started: %s", missing)
		}
		if err := errors.Join(l.checkEvents(ctx, r, p.name), l.checkPlaces(ctx, r, p, p.name)); err != nil {
			return err
		}
		for _, also := range []string{"kubernetes/hpa.yaml", kedaFile, "k8s_bench.yaml", "planner/configmap.yaml"} {
			more, err := l.also(ctx, p.name, p, deploy, also)
			if err != nil {
				return err
			}
			results = append(results, more...)
		}
		if r.started == 0 {
			return nil // nothing to serve, scale or roll out
		}
		if err := errors.Join(l.checkServices(ctx, r, p.name), l.routers(ctx, r, p.name), l.scale(ctx, r, p.name), l.rollout(ctx, r, p.name)); err != nil {
			return err
		}
		return l.autoscale(ctx, p, results, dir)
	})
	if err != nil {
		return results, err
	}
	return results, l.quota(ctx, r, p, objects, nodes)
}

// controlled are the targets with controllers of their own, and their files.
var controlled = []struct{ target, file string }{{"dynamo", "k8s_deploy.yaml"}, {"kserve", "kserve/llminferenceservice.yaml"}}

// others tries the files of targets with controllers of their own: whether these make workloads that start, or, where they do not run, whether
// the API server takes the objects.
func (l *lab) others(ctx context.Context, p *plan, dir string) ([]*result, error) {
	var results []*result
	deploy := filepath.Join(dir, "deploy")
	for _, c := range controlled {
		var more []*result
		var err error
		if l.makers[c.target] {
			more, err = l.made(ctx, p, p.name+"-"+c.target, deploy, c.file)
		} else {
			more, err = l.also(ctx, "default", p, deploy, c.file)
		}
		results = append(results, more...)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// made applies a file whose controllers make the workloads. They must ask for the devices of the plan and start.
func (l *lab) made(ctx context.Context, p *plan, ns, deploy, file string) ([]*result, error) {
	objects, err := readObjects(filepath.Join(deploy, filepath.FromSlash(file)))
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	plain, err := readObjects(filepath.Join(deploy, "kubernetes", "deploy.yaml"))
	if err != nil {
		return nil, err
	}
	r := &result{target: file, plan: p.name}
	resource := kinds[p.system].resource
	planned := devices(plain, resource)
	return []*result{r}, l.inNamespace(ctx, ns, nodesFor(p.system, planned), func() error {
		begun := time.Now()
		l.applyAll(ctx, r, ns, objects, l.apply)
		missing, err := until(ctx, patience, func() (string, error) {
			workloads, err := l.workloads(ctx, ns)
			if n := devices(workloads, resource); err != nil || n != planned {
				return fmt.Sprintf("the workloads that its controller made have %d devices, the plan %d", n, planned), err
			}
			return l.unready(ctx, ns)
		})
		if err != nil {
			return err
		}
		if missing == "" {
			r.started = time.Since(begun)
		} else {
			r.problem("not started: %s", missing)
		}
		return errors.Join(l.checkEvents(ctx, r, ns), l.checkPlaces(ctx, r, p, ns))
	})
}

// also tries a file that belongs to the objects that run, without leaving it there: two autoscalers of the same workers stop each other.
func (l *lab) also(ctx context.Context, ns string, p *plan, deploy, file string) ([]*result, error) {
	objects, err := readObjects(filepath.Join(deploy, filepath.FromSlash(file)))
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	r := &result{target: file, plan: p.name}
	objects = slices.DeleteFunc(objects, func(o object) bool { // those of controllers that are not part of this run
		_, err := l.path(ctx, text(o, "apiVersion"), text(o, "kind"), "", "")
		return err != nil
	})
	if len(objects) == 0 {
		return nil, nil
	}
	l.applyAll(ctx, r, ns, objects, l.try)
	return []*result{r}, l.checkJobs(ctx, r, ns, objects)
}

// called are addresses in the script of a job; Dynamo's operator, which is not part of this, makes the Services of its frontends.
var called = regexp.MustCompile(`--url https?://([a-z0-9-]+)`)

// checkJobs reports jobs that call a Service which is not there.
func (l *lab) checkJobs(ctx context.Context, r *result, ns string, objects []object) error {
	for _, o := range objects {
		if text(o, "kind") != "Job" {
			continue
		}
		for _, c := range list(o, "spec", "template", "spec", "containers") {
			for _, found := range called.FindAllStringSubmatch(fmt.Sprint(c["command"], c["args"]), -1) {
				if strings.HasSuffix(found[1], "-frontend") {
					continue
				}
				_, err := l.get(ctx, "v1", "Service", ns, found[1])
				if r2 := (*refusal)(nil); errors.As(err, &r2) && r2.status == http.StatusNotFound {
					r.problem("it calls the Service %s, which does not exist", found[1])
				} else if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// workloads are the objects of a namespace that give pods.
func (l *lab) workloads(ctx context.Context, ns string) ([]object, error) {
	out, err := l.list(ctx, "apps/v1", "Deployment", ns, "")
	if err != nil {
		return nil, err
	}
	if sets, err := l.list(ctx, "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", ns, ""); err == nil {
		out = append(out, sets...)
	}
	return out, nil
}

// unready says which workloads of a namespace have not all replicas updated and ready, and what their pods wait for.
func (l *lab) unready(ctx context.Context, ns string) (string, error) {
	workloads, err := l.workloads(ctx, ns)
	if err != nil {
		return "", err
	}
	if len(workloads) == 0 {
		return "no workload", nil
	}
	var missing []string
	for _, o := range workloads {
		want := number(o, "spec", "replicas")
		ready, updated, all := number(o, "status", "readyReplicas"), number(o, "status", "updatedReplicas"), number(o, "status", "replicas")
		seen := text(o, "kind") == "LeaderWorkerSet" || number(o, "status", "observedGeneration") == number(o, "metadata", "generation")
		if !seen || ready != want || updated != want || all != want {
			missing = append(missing, fmt.Sprintf("%s has %d of %d", name(o), min(ready, updated), want))
		}
	}
	if len(missing) == 0 {
		return "", nil
	}
	reasons, err := l.reasons(ctx, ns)
	return strings.Join(append(shorten(missing), reasons...), "; "), err
}

// reasons are why pods of a namespace are not ready, each once.
func (l *lab) reasons(ctx context.Context, ns string) ([]string, error) {
	pods, err := l.list(ctx, "v1", "Pod", ns, "")
	if err != nil {
		return nil, err
	}
	var out []string
	add := func(why string) {
		if why != "" && !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	for _, pod := range pods {
		for _, c := range list(pod, "status", "conditions") {
			if text(c, "type") == "PodScheduled" && text(c, "status") == "False" {
				add(text(c, "message"))
			}
		}
	}
	for _, why := range l.kubelet.why(ns) {
		add(why)
	}
	slices.Sort(out)
	return shorten(out), nil
}

// shorten keeps the first few of a list.
func shorten(all []string) []string {
	const most = 3
	if len(all) <= most {
		return all
	}
	return append(slices.Clone(all[:most]), fmt.Sprintf("and %d more", len(all)-most))
}

// checkEvents reports warnings of controllers. That pods wait for nodes or volumes passes, and the end result shows whether it did; so does an
// address of a Service that the API server has not counted yet. The metrics of pods are served by an adapter that is not part of this.
func (l *lab) checkEvents(ctx context.Context, r *result, ns string) error {
	return l.events(ctx, r, ns, func(e object) bool {
		return !slices.Contains([]string{
			"FailedScheduling", "FailedBinding", "ProvisioningFailed", "FailedGetPodsMetric", "FailedComputeMetricsReplicas", "ClusterIPNotAllocated",
		}, text(e, "reason"))
	})
}

// events reports the warnings that are wanted.
func (l *lab) events(ctx context.Context, r *result, ns string, wanted func(object) bool) error {
	events, err := l.list(ctx, "v1", "Event", ns, "")
	for _, e := range events {
		if text(e, "type") == "Warning" && wanted(e) {
			r.problem("event %s of %s: %s", text(e, "reason"), text(e, "involvedObject", "kind"), text(e, "message"))
		}
	}
	return err
}

// checkPlaces reports pods with devices that landed on another product, or that only an admission plugin lets onto nodes with a taint.
func (l *lab) checkPlaces(ctx context.Context, r *result, p *plan, ns string) error {
	nodes, err := l.list(ctx, "v1", "Node", "", "")
	if err != nil {
		return err
	}
	product := map[string]string{}
	for _, n := range nodes {
		product[name(n)] = text(n, "metadata", "labels", "product")
	}
	pods, err := l.list(ctx, "v1", "Pod", ns, "")
	if err != nil {
		return err
	}
	wrong, all := 0, 0
	for _, pod := range pods {
		for _, c := range list(pod, "spec", "containers") {
			if on := product[text(pod, "spec", "nodeName")]; at(c, "resources", "limits", kinds[p.system].resource) != nil && on != "" {
				all++
				if on != p.system {
					wrong++
				}
			}
		}
	}
	workloads, err := l.workloads(ctx, ns)
	for _, o := range workloads {
		for _, t := range templates(o) {
			if devices([]object{o}, kinds[p.system].resource) > 0 && len(list(t.pod, "spec", "tolerations")) == 0 {
				r.problem("engine pods do not tolerate the taint that nodes with devices often have")
			}
		}
	}
	if wrong > 0 {
		r.problem("%d of %d engine pods are on another device", wrong, all)
	}
	return err
}

// checkServices reports Services without endpoints.
func (l *lab) checkServices(ctx context.Context, r *result, ns string) error {
	services, err := l.list(ctx, "v1", "Service", ns, "")
	if err != nil {
		return err
	}
	for _, s := range services {
		missing, err := until(ctx, 5*time.Second, func() (string, error) {
			ends, err := l.kubelet.endpoints(ctx, ns, name(s))
			if len(ends) == 0 {
				return "Service " + name(s) + " has no endpoint", err
			}
			return "", err
		})
		if err != nil {
			return err
		}
		if missing != "" {
			r.problem("%s", missing)
		}
	}
	return nil
}

// scale takes every workload of several replicas to one and back.
func (l *lab) scale(ctx context.Context, r *result, ns string) error {
	workloads, err := l.workloads(ctx, ns)
	if err != nil {
		return err
	}
	scaled := false
	for _, o := range workloads {
		want := number(o, "spec", "replicas")
		if want < 2 {
			continue
		}
		scaled = true
		for _, replicas := range []int{1, want} {
			if err := l.merge(ctx, o, "/scale", object{"spec": object{"replicas": replicas}}); err != nil {
				return err
			}
			missing, err := until(ctx, patience, func() (string, error) { return l.unready(ctx, ns) })
			if err != nil {
				return err
			}
			if missing != "" {
				r.problem("scaled to %d: %s", replicas, missing)
				return nil
			}
		}
	}
	if scaled {
		r.tried = append(r.tried, "scaled")
	}
	return nil
}

// rollout changes the pods of every workload, as kubectl rollout restart does, where no device is free.
func (l *lab) rollout(ctx context.Context, r *result, ns string) error {
	workloads, err := l.workloads(ctx, ns)
	if err != nil {
		return err
	}
	for _, o := range workloads {
		change := object{"metadata": object{"annotations": object{"kubectl.kubernetes.io/restartedAt": time.Now().UTC().Format(time.RFC3339)}}}
		spec := object{"template": change}
		if text(o, "kind") == "LeaderWorkerSet" {
			templates := object{"workerTemplate": change}
			if at(o, "spec", "leaderWorkerTemplate", "leaderTemplate") != nil {
				templates["leaderTemplate"] = change
			}
			spec = object{"leaderWorkerTemplate": templates}
		}
		if err := l.merge(ctx, o, "", object{"spec": spec}); err != nil {
			return err
		}
	}
	time.Sleep(time.Second) // until controllers have seen it; a LeaderWorkerSet has no observed generation
	missing, err := until(ctx, 2*patience, func() (string, error) { return l.unready(ctx, ns) })
	if err != nil {
		return err
	}
	if missing != "" {
		r.problem("rollout does not end: %s", missing)
	} else {
		r.tried = append(r.tried, "rolled out")
	}
	return nil
}

// quota applies the objects where a quota counts CPU and memory: pods without requests are refused.
func (l *lab) quota(ctx context.Context, r *result, p *plan, objects []object, nodes []node) error {
	ns := p.name + "-quota"
	return l.inNamespace(ctx, ns, nodes, func() error {
		if _, err := l.apply(ctx, ns, object{
			"apiVersion": "v1", "kind": "ResourceQuota", "metadata": object{"name": "quota"},
			"spec": object{"hard": object{"requests.cpu": "100k", "requests.memory": "1000Ti"}},
		}); err != nil {
			return err
		}
		time.Sleep(time.Second) // until the quota is counted
		for _, o := range objects {
			if _, err := l.apply(ctx, ns, o); err != nil {
				return nil //nolint:nilerr // reported by the first trial
			}
		}
		time.Sleep(3 * time.Second) // until every workload had its pods refused or made
		q := &result{}
		if err := l.checkEvents(ctx, q, ns); err != nil {
			return err
		}
		refused := slices.DeleteFunc(q.problems, func(s string) bool { return !strings.Contains(s, "failed quota") })
		if len(refused) > 0 {
			_, why, _ := strings.Cut(refused[0], "failed quota: ")
			r.problem("a quota refuses pods: %s", why)
		} else {
			r.tried = append(r.tried, "quota")
		}
		return nil
	})
}

// neighbours are two plans for the same nodes. The second has the smaller checkpoint.
var neighbours = []string{"sglang-units", "vllm-agg"}

// together applies two plans in one namespace: the second must neither change nor serve what belongs to the first.
func (l *lab) together(ctx context.Context, written map[string]string) (*result, error) {
	var each [][]object
	var all []object
	for _, name := range neighbours {
		if written[name] == "" {
			return nil, nil
		}
		objects, err := readObjects(filepath.Join(written[name], "deploy", "kubernetes", "deploy.yaml"))
		if err != nil {
			return nil, err
		}
		each, all = append(each, objects), append(all, objects...)
	}
	const ns, system = "together", "h200_sxm"
	r := &result{target: "kubernetes", plan: strings.Join(neighbours, " + ")}
	l.say("%s", r.plan)
	return r, l.inNamespace(ctx, ns, nodesFor(system, devices(all, kinds[system].resource)), func() error {
		begun := time.Now()
		accepted := true
		for _, objects := range each {
			l.applyAll(ctx, r, ns, objects, l.apply)
			accepted = accepted && r.accepted
			if _, err := until(ctx, patience, func() (string, error) { return l.unready(ctx, ns) }); err != nil {
				return err
			}
		}
		r.accepted = accepted
		missing, err := l.unready(ctx, ns)
		if err != nil {
			return err
		}
		if missing == "" {
			r.started = time.Since(begun)
		} else {
			r.problem("not started: %s", missing)
		}
		for i, objects := range each {
			for _, o := range objects {
				for _, other := range each[1-i] {
					if i == 0 && name(o) == name(other) && text(o, "kind") == text(other, "kind") && text(o, "kind") != "PersistentVolumeClaim" {
						r.problem("both have %s %s", text(o, "kind"), name(o))
					}
				}
			}
		}
		return errors.Join(l.checkEvents(ctx, r, ns), l.checkServices(ctx, r, ns))
	})
}
