package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// kubelet stands in for the kubelets of all nodes and for a provisioner of volumes. A pod that is bound to a node runs at once. It becomes ready
// when what its program waits for has come: a worker of a group resolves its leader's name, a leader has its workers, a router finds its engines
// under the rights of its account. Why a pod is not ready is kept for the report.
type kubelet struct {
	*api
	mu      sync.Mutex
	waiting map[string]string // namespace/pod: what it waits for
	ips     map[string]string // uid: address
}

// Labels and names of LeaderWorkerSet 0.10 (api/leaderworkerset/v1/leaderworkerset_types.go).
const (
	lwsName   = "leaderworkerset.sigs.k8s.io/name"
	lwsGroup  = "leaderworkerset.sigs.k8s.io/group-index"
	lwsWorker = "leaderworkerset.sigs.k8s.io/worker-index"
	lwsSize   = "leaderworkerset.sigs.k8s.io/size"
	lwsLeader = "LWS_LEADER_ADDRESS"
)

// podNetwork has the addresses of pods.
const podNetwork = "10.244.0.0/16"

func newKubelet(a *api) *kubelet {
	return &kubelet{api: a, waiting: map[string]string{}, ips: map[string]string{}}
}

// serve looks at all pods and claims twice a second until ctx ends.
func (k *kubelet) serve(ctx context.Context, report func(error)) {
	for ctx.Err() == nil {
		if err := k.round(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (k *kubelet) round(ctx context.Context) error {
	if err := k.provision(ctx); err != nil {
		return err
	}
	pods, err := k.list(ctx, "v1", "Pod", "", "")
	if err != nil {
		return err
	}
	waiting := map[string]string{}
	var errs []error
	for _, pod := range pods {
		switch {
		case at(pod, "metadata", "deletionTimestamp") != nil:
			errs = append(errs, k.remove(ctx, pod))
		case text(pod, "spec", "nodeName") == "" || text(pod, "status", "phase") == "Succeeded":
		case text(pod, "status", "phase") != "Running":
			errs = append(errs, k.report(ctx, pod, false))
		case !ready(pod):
			why, err := k.waitsFor(ctx, pod, pods)
			errs = append(errs, err)
			if why == "" && err == nil {
				errs = append(errs, k.report(ctx, pod, true))
			} else {
				waiting[namespace(pod)+"/"+name(pod)] = why
			}
		}
	}
	k.mu.Lock()
	k.waiting = waiting
	k.mu.Unlock()
	for i, err := range errs {
		if r := (*refusal)(nil); errors.As(err, &r) && (r.status == http.StatusNotFound || r.status == http.StatusConflict) {
			errs[i] = nil // a controller was faster
		}
	}
	return errors.Join(errs...)
}

// why says what the pods of a namespace wait for.
func (k *kubelet) why(ns string) map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := map[string]string{}
	for pod, why := range k.waiting {
		if in, name, _ := strings.Cut(pod, "/"); in == ns {
			out[name] = why
		}
	}
	return out
}

// ready tells whether a pod counts as ready.
func ready(pod object) bool {
	return slices.ContainsFunc(list(pod, "status", "conditions"), func(c object) bool {
		return text(c, "type") == "Ready" && text(c, "status") == "True"
	})
}

// report writes the status of a pod whose containers run.
func (k *kubelet) report(ctx context.Context, pod object, ready bool) error {
	uid := text(pod, "metadata", "uid")
	ip, ok := k.ips[uid]
	if !ok {
		n := len(k.ips)
		ip = fmt.Sprintf("10.244.%d.%d", n/250, n%250+2)
		k.ips[uid] = ip
	}
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind string, is bool) object {
		status := map[bool]string{true: "True", false: "False"}[is]
		return object{"type": kind, "status": status, "lastTransitionTime": now}
	}
	statuses := func(field string, state object) []object {
		var out []object
		for _, c := range list(pod, "spec", field) {
			out = append(out, object{
				"name": text(c, "name"), "image": text(c, "image"), "imageID": "", "ready": ready || state["terminated"] != nil,
				"started": ready, "restartCount": 0, "state": state,
			})
		}
		return out
	}
	return k.merge(ctx, pod, "/status", object{"status": object{
		"phase": "Running", "podIP": ip, "podIPs": []object{{"ip": ip}}, "hostIP": "192.0.2.1", "startTime": now,
		"conditions": []object{
			condition("PodScheduled", true), condition("Initialized", true), condition("ContainersReady", ready), condition("Ready", ready),
		},
		"containerStatuses":     statuses("containers", object{"running": object{"startedAt": now}}),
		"initContainerStatuses": statuses("initContainers", object{"terminated": object{"exitCode": 0, "finishedAt": now, "startedAt": now}}),
	}})
}

// waitsFor says what the program of a running pod still waits for, nothing if it answers.
func (k *kubelet) waitsFor(ctx context.Context, pod object, pods []object) (string, error) {
	if index := text(pod, "metadata", "labels", lwsWorker); index != "" {
		if why, err := k.groupWaits(ctx, pod, pods, index == "0"); why != "" || err != nil {
			return why, err
		}
	}
	if f := finderOf(pod); f != nil {
		return k.routerWaits(ctx, pod, f)
	}
	return "", nil
}

// groupWaits is for a pod of a LeaderWorkerSet: workers connect to the leader by its name, and the leader answers once all are there.
func (k *kubelet) groupWaits(ctx context.Context, pod object, pods []object, leads bool) (string, error) {
	same := func(other object) bool {
		return namespace(other) == namespace(pod) && text(other, "metadata", "labels", lwsName) == text(pod, "metadata", "labels", lwsName) &&
			text(other, "metadata", "labels", lwsGroup) == text(pod, "metadata", "labels", lwsGroup)
	}
	if !leads {
		leader, ok := variable(pod, lwsLeader)
		if !ok {
			return "", nil
		}
		found, err := k.resolves(ctx, namespace(pod), leader)
		if err != nil || found {
			return "", err
		}
		return "the leader's name " + leader + " does not resolve", nil
	}
	there := 0
	for _, other := range pods {
		if same(other) && name(other) != name(pod) && ready(other) {
			there++
		}
	}
	size := 1
	if s := text(pod, "metadata", "annotations", lwsSize); s != "" {
		if _, err := fmt.Sscan(s, &size); err != nil {
			return "", fmt.Errorf("%s of %s: %w", lwsSize, name(pod), err)
		}
	}
	if there < size-1 {
		return fmt.Sprintf("%d of %d workers have connected", there, size-1), nil
	}
	return "", nil
}

// variable is the value of an environment variable of the first container.
func variable(pod object, key string) (string, bool) {
	for _, c := range list(pod, "spec", "containers") {
		for _, v := range list(c, "env") {
			if text(v, "name") == key {
				return text(v, "value"), true
			}
		}
	}
	return "", false
}

// resolves does what the DNS of the cluster does with the name of a pod, POD.SERVICE.NAMESPACE…: a headless Service SERVICE has an endpoint
// with that hostname, and it is ready or the Service publishes addresses that are not.
func (k *kubelet) resolves(ctx context.Context, ns, host string) (bool, error) {
	labels := strings.Split(host, ".")
	if len(labels) < 2 {
		return false, nil
	}
	if len(labels) > 2 {
		ns = labels[2]
	}
	service, err := k.get(ctx, "v1", "Service", ns, labels[1])
	if r := (*refusal)(nil); errors.As(err, &r) && r.status == http.StatusNotFound {
		return false, nil
	}
	if err != nil || text(service, "spec", "clusterIP") != "None" {
		return false, err
	}
	ends, err := k.endpoints(ctx, ns, labels[1])
	return slices.ContainsFunc(ends, func(e object) bool { return text(e, "hostname") == labels[0] }), err
}

// endpoints are the ready endpoints of a Service. Where it publishes addresses that are not ready, they count as ready.
func (k *kubelet) endpoints(ctx context.Context, ns, service string) ([]object, error) {
	slices, err := k.list(ctx, "discovery.k8s.io/v1", "EndpointSlice", ns, "kubernetes.io/service-name="+service)
	var out []object
	for _, s := range slices {
		for _, e := range list(s, "endpoints") {
			if at(e, "conditions", "ready") == true {
				out = append(out, e)
			}
		}
	}
	return out, err
}

// routerWaits does what a router does at its start: it lists pods with the rights of its account, by the selectors of its flags.
func (k *kubelet) routerWaits(ctx context.Context, pod object, f *finder) (string, error) {
	account := k.impersonate(namespace(pod), text(pod, "spec", "serviceAccountName"))
	ns, where := f.namespace, "of "+f.namespace
	if ns == "" {
		where = "of all namespaces"
	}
	for _, selector := range f.selectors {
		found, err := account.list(ctx, "v1", "Pod", ns, selector)
		if r := (*refusal)(nil); errors.As(err, &r) && r.status == http.StatusForbidden {
			return fmt.Sprintf("%s may not list the pods %s", text(pod, "spec", "serviceAccountName"), where), nil
		}
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(found, ready) {
			return fmt.Sprintf("no engine is ready with %s in the pods %s", selector, where), nil
		}
	}
	return "", nil
}

// provision makes a volume for each claim that waits for one.
func (k *kubelet) provision(ctx context.Context) error {
	claims, err := k.list(ctx, "v1", "PersistentVolumeClaim", "", "")
	if err != nil {
		return err
	}
	for _, claim := range claims {
		if text(claim, "status", "phase") != "Pending" {
			continue
		}
		if _, err := k.apply(ctx, "", object{
			"apiVersion": "v1", "kind": "PersistentVolume", "metadata": object{"name": namespace(claim) + "-" + name(claim)},
			"spec": object{
				"capacity": at(claim, "spec", "resources", "requests"), "accessModes": at(claim, "spec", "accessModes"),
				"storageClassName": text(claim, "spec", "storageClassName"), "persistentVolumeReclaimPolicy": "Delete",
				"claimRef": object{
					"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace(claim), "name": name(claim), "uid": text(claim, "metadata", "uid"),
				},
				"csi": object{"driver": "stand-in", "volumeHandle": text(claim, "metadata", "uid")},
			},
		}); err != nil {
			return err
		}
	}
	return nil
}

// node is a made node.
type node struct {
	name     string
	labels   map[string]string
	resource string // its devices
	devices  int
}

// add makes nodes. Devices are tainted as clouds do it, and pods that ask for them tolerate it (admission plugin ExtendedResourceToleration).
func (k *kubelet) add(ctx context.Context, nodes []node) error {
	now := time.Now().UTC().Format(time.RFC3339)
	for _, n := range nodes {
		labels := object{"kubernetes.io/hostname": n.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
		for key, value := range n.labels {
			labels[key] = value
		}
		spec := object{}
		capacity := object{"cpu": "192", "memory": "2000Gi", "pods": "110", "ephemeral-storage": "8000Gi"}
		if n.devices > 0 {
			capacity[n.resource] = fmt.Sprint(n.devices)
			spec["taints"] = []object{{"key": n.resource, "value": "present", "effect": "NoSchedule"}}
		}
		o := object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": n.name, "labels": labels}, "spec": spec}
		if _, err := k.apply(ctx, "", o); err != nil {
			return err
		}
		if err := k.merge(ctx, o, "/status", object{"status": object{
			"capacity": capacity, "allocatable": maps.Clone(capacity),
			"conditions": []object{{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now, "lastTransitionTime": now}},
		}}); err != nil {
			return err
		}
	}
	return nil
}
