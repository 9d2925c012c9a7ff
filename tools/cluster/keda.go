package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
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
	env := []string{"POD_NAMESPACE=keda", "WATCH_NAMESPACE=", "KEDA_HTTP_DEFAULT_TIMEOUT="}
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
	l.scales = true
	return nil
}

// prometheus stands in for Prometheus: the query of trigger i answers with as much as wanted workers have at its threshold, or with nothing.
type prometheus struct {
	wanted     atomic.Int64 // workers; nothing is known below 0
	thresholds []float64
}

func (p *prometheus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var trigger int
	if _, err := fmt.Sscanf(r.URL.Path, "/%d/", &trigger); err != nil || trigger >= len(p.thresholds) {
		http.NotFound(w, r)
		return
	}
	found := []object{}
	if wanted := p.wanted.Load(); wanted >= 0 {
		// Nine tenths: an autoscaler adds no worker for a little more than the threshold, but does for rounding.
		found = append(found, object{"metric": object{}, "value": []any{time.Now().Unix(), fmt.Sprint(0.9 * float64(wanted) * p.thresholds[trigger])}})
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(object{"status": "success", "data": object{"resultType": "vector", "result": found}}); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// keda lets a ScaledObject scale the workers that run: down while there is little to do, up again, and not at all on silence.
func (l *lab) keda(ctx context.Context, r *result, ns string, scaled object) error {
	p := &prometheus{}
	server := httptest.NewServer(p)
	defer server.Close()
	for i, t := range list(scaled, "spec", "triggers") {
		threshold, err := strconv.ParseFloat(text(t, "metadata", "threshold"), 64)
		if err != nil {
			return fmt.Errorf("threshold of trigger %d: %w", i, err)
		}
		p.thresholds = append(p.thresholds, threshold)
		if metadata, ok := at(t, "metadata").(object); ok {
			metadata["serverAddress"] = fmt.Sprintf("%s/%d/", server.URL, i)
		}
	}
	spec, ok := at(scaled, "spec").(object)
	if !ok {
		return errors.New("a ScaledObject without spec")
	}
	spec["pollingInterval"] = 2
	// The file's own patience would take as long as it says.
	if down, ok := at(scaled, "spec", "advanced", "horizontalPodAutoscalerConfig", "behavior", "scaleDown").(object); ok {
		down["stabilizationWindowSeconds"] = 10
		delete(down, "policies")
	}
	most, least := number(scaled, "spec", "maxReplicaCount"), max(1, number(scaled, "spec", "minReplicaCount"))
	target := text(scaled, "spec", "scaleTargetRef", "name")
	replicas := func() (int, error) {
		workloads, err := l.workloads(ctx, ns)
		for _, o := range workloads {
			if name(o) == target {
				return number(o, "spec", "replicas"), err
			}
		}
		return 0, errors.Join(err, fmt.Errorf("no workload %s", target))
	}
	p.wanted.Store(int64(most))
	if _, err := l.apply(ctx, ns, scaled); err != nil {
		r.problem("%v", err)
		return nil
	}
	for _, phase := range []struct {
		what   string
		wanted int // workers' worth of work; below 0 Prometheus knows nothing
		then   int // replicas
	}{
		{"little to do", 0, least}, {"much to do", most, most}, {"silence", -1, most},
	} {
		p.wanted.Store(int64(phase.wanted))
		if phase.wanted < 0 { // long enough for what would follow, were silence taken for nothing to do
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(40 * time.Second):
			}
		}
		n := 0
		if _, err := until(ctx, 2*patience, func() (missing string, err error) {
			if n, err = replicas(); n != phase.then {
				missing = "replicas"
			}
			return missing, err
		}); err != nil {
			return err
		}
		if n != phase.then {
			r.problem("with %s KEDA keeps %d workers, not %d", phase.what, n, phase.then)
			return l.events(ctx, r, ns, func(e object) bool {
				return text(e, "involvedObject", "kind") == "ScaledObject" || text(e, "involvedObject", "kind") == "HorizontalPodAutoscaler"
			})
		}
	}
	r.tried = append(r.tried, fmt.Sprintf("scaled %d→%d→%d, silence", most, least, most))
	return nil
}
