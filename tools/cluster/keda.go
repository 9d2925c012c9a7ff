package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// startKEDA starts KEDA's operator, and its adapter as the API server of external metrics.
func (l *lab) startKEDA(ctx context.Context, c *cache) error {
	keda := find("keda")
	ports, err := freePorts(5)
	if err != nil {
		return err
	}
	on := func(i int) string { return "127.0.0.1:" + ports[i] }
	certs := filepath.Join(l.dir, "keda")
	if err := os.MkdirAll(certs, 0o700); err != nil {
		return err
	}
	if _, err := l.authority.issue(filepath.Join("keda", "tls"), "keda"); err != nil {
		return err
	}
	ca, err := os.ReadFile(filepath.Join(l.dir, "ca.crt"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(certs, "ca.crt"), ca, 0o600); err != nil {
		return err
	}
	port, err := strconv.Atoi(ports[1])
	if err != nil {
		return err
	}
	for _, o := range []object{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "keda"}},
		// The API server of the cluster calls the adapter by a Service, which cannot have an endpoint on loopback, but another name.
		{
			"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "keda-metrics-apiserver", "namespace": "keda"},
			"spec": object{"type": "ExternalName", "externalName": "localhost", "ports": []object{{"name": "https", "port": port, "protocol": "TCP"}}},
		},
		{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": object{"name": "v1beta1.external.metrics.k8s.io"},
			"spec": object{
				"group": "external.metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": true,
				"service": object{"namespace": "keda", "name": "keda-metrics-apiserver", "port": port},
			},
		},
	} {
		if _, err := l.apply(ctx, namespace(o), o); err != nil {
			return err
		}
	}
	config := filepath.Join(l.dir, "kubeconfig")
	env := []string{"POD_NAMESPACE=keda", "KEDA_CLUSTER_OBJECT_NAMESPACE=keda", "WATCH_NAMESPACE="}
	if err := l.run(env, c.program(keda, "keda-operator"), "--cert-dir="+certs, "--metrics-bind-address=0", "--health-probe-bind-address="+on(0),
		"--metrics-service-bind-address="+on(2), "--enable-webhook-patching=false", "--enable-apiservice-patching=false"); err != nil {
		return err
	}
	if err := l.wait(ctx, "http://"+on(0)+"/readyz"); err != nil {
		return err
	}
	if err := l.run(env, c.program(keda, "keda-adapter"), "--secure-port="+ports[1], "--bind-address=127.0.0.1", "--port="+ports[3],
		"--metrics-service-address="+on(2), "--client-ca-file="+filepath.Join(certs, "ca.crt"), "--tls-cert-file="+filepath.Join(certs, "tls.crt"),
		"--tls-private-key-file="+filepath.Join(certs, "tls.key"), "--cert-dir="+certs, "--authentication-kubeconfig="+config,
		"--authorization-kubeconfig="+config, "--lister-kubeconfig="+config); err != nil {
		return err
	}
	if err := l.wait(ctx, l.url+groupPath("external.metrics.k8s.io/v1beta1")); err != nil {
		return err
	}
	return nil
}

// phase is a state of the load, and the workers that KEDA must come to.
type phase struct {
	what     string
	inFlight int  // requests in flight, as many as so many workers carry
	cache    int  // use of the KV cache, likewise
	silent   bool // engines have no metrics
	paused   bool // Prometheus does not answer
	then     int
}

// phases are those of a ScaledObject with these limits and triggers. After each it finds as few workers as possible, so that what follows
// shows an effect of its own.
func phases(least, most, fallback int, triggers []string) []phase {
	idle, some := phase{what: "nothing to do", then: least}, (least+most+1)/2
	out := []phase{idle, {what: fmt.Sprintf("requests for %d workers", some), inFlight: some, then: some}}
	if some < most {
		out = append(out, phase{what: fmt.Sprintf("requests for %d workers", most), inFlight: most, then: most})
	}
	if slices.Contains(triggers, "kv-cache") {
		out = append(out, idle, phase{what: "full caches", cache: most, then: most})
	}
	return append(out, idle, phase{what: "no metrics", silent: true, then: fallback}, idle, phase{what: "no Prometheus", paused: true, then: fallback})
}

// thresholds are what a worker carries by each trigger.
func thresholds(scaled object) (map[string]float64, error) {
	out := map[string]float64{}
	for _, t := range list(scaled, "spec", "triggers") {
		threshold, err := strconv.ParseFloat(text(t, "metadata", "threshold"), 64)
		if err != nil {
			return nil, fmt.Errorf("threshold of %s: %w", text(t, "name"), err)
		}
		out[text(t, "name")] = threshold
	}
	return out, nil
}

// hurry changes how long a ScaledObject and its PodMonitor wait, which takes a quarter of an hour as it stands, and where Prometheus is.
func hurry(o object, address string) {
	for _, e := range list(o, "spec", "podMetricsEndpoints") {
		e["interval"] = "3s"
	}
	for _, t := range list(o, "spec", "triggers") {
		if metadata, ok := at(t, "metadata").(object); ok {
			metadata["serverAddress"] = address
		}
	}
	if down, ok := at(o, "spec", "advanced", "horizontalPodAutoscalerConfig", "behavior", "scaleDown").(object); ok {
		down["stabilizationWindowSeconds"] = 5
		delete(down, "policies")
	}
}

// autoscale lets KEDA scale the workers of a plan by the metrics of stand-ins for its engines, which Prometheus reads by the plan's PodMonitor:
// by each trigger alone, and to the fallback where there are no metrics.
func (l *lab) autoscale(ctx context.Context, p *plan, results []*result, dir string) error {
	i := slices.IndexFunc(results, func(r *result) bool { return r.target == kedaFile })
	if i < 0 || l.prometheus == nil {
		return nil
	}
	r := results[i]
	objects, err := p.autoscaler(ctx, l.program, dir)
	if err != nil {
		return err
	}
	i = slices.IndexFunc(objects, func(o object) bool { return text(o, "kind") == "ScaledObject" })
	if i < 0 {
		return errors.New("no ScaledObject")
	}
	scaled := objects[i]
	carried, err := thresholds(scaled)
	if err != nil {
		return err
	}
	least, most := max(1, number(scaled, "spec", "minReplicaCount")), number(scaled, "spec", "maxReplicaCount")
	if most == least {
		return nil
	}
	for _, o := range objects {
		hurry(o, l.prometheus.url)
		if _, err := l.apply(ctx, p.name, o); err != nil {
			r.problem("%v", err)
			return nil
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	engines, ended := &meters{}, make(chan struct{})
	go func() {
		engines.follow(ctx, l.kubelet, p.name, func(err error) { l.say("stand-in engines: %v", err) })
		close(ended)
	}()
	defer func() { cancel(); <-ended }()
	workers := func() (int, error) { return l.replicas(ctx, p.name, text(scaled, "spec", "scaleTargetRef", "name")) }
	engines.carry(float64(most)*carried["in-flight"], 0, false)
	missing, err := until(ctx, patience, func() (string, error) {
		n, err := workers()
		if err != nil {
			return "", err
		}
		return l.prometheus.reads(ctx, p.name, n)
	})
	if err != nil || missing != "" {
		r.problem("%s", missing)
		return err
	}
	var seen []string
	for _, phase := range phases(least, most, number(scaled, "spec", "fallback", "replicas"), slices.Collect(maps.Keys(carried))) {
		// A little less than these workers carry, and by more than the autoscaler tolerates above what one fewer carries.
		const less = 0.05
		engines.carry(math.Floor(max(0, float64(phase.inFlight)-less)*carried["in-flight"]), max(0, float64(phase.cache)-less)*carried["kv-cache"], phase.silent)
		missing, err := l.phase(ctx, phase, least < phase.then && phase.then < most, workers)
		if err != nil {
			return err
		}
		if missing != "" {
			r.problem("%s: %s", phase.what, missing)
			return l.events(ctx, r, p.name, func(e object) bool {
				return slices.Contains([]string{"ScaledObject", "HorizontalPodAutoscaler"}, text(e, "involvedObject", "kind"))
			})
		}
		seen = append(seen, fmt.Sprintf("%s %d", phase.what, phase.then))
	}
	r.tried = append(r.tried, "workers: "+strings.Join(seen, ", "))
	return nil
}

// phase waits until as many workers as a phase says are there. With between, they must stay for longer than an autoscaler rests after it
// added some, which is 15 s.
func (l *lab) phase(ctx context.Context, p phase, between bool, workers func() (int, error)) (missing string, err error) {
	if p.paused {
		if err := l.prometheus.pause(); err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, l.prometheus.resume()) }()
	}
	as := func() (string, error) {
		n, err := workers()
		if n != p.then {
			return fmt.Sprintf("KEDA wants %d workers, not %d", n, p.then), err
		}
		return "", err
	}
	if missing, err := until(ctx, 2*patience, as); missing != "" || err != nil || !between {
		return missing, err
	}
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(18 * time.Second):
	}
	return as()
}

// replicas are those that a workload is to have.
func (l *lab) replicas(ctx context.Context, ns, workload string) (int, error) {
	workloads, err := l.workloads(ctx, ns)
	for _, o := range workloads {
		if name(o) == workload {
			return number(o, "spec", "replicas"), err
		}
	}
	return 0, errors.Join(err, fmt.Errorf("no workload %s", workload))
}
