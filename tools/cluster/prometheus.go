package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// prometheus is a running Prometheus with the configuration that its operator makes of the PodMonitors of all namespaces.
type prometheus struct {
	api    *api
	url    string
	config string // the file
	cmd    *exec.Cmd
}

// The Prometheus that the operator is asked for. It gets no pod: the one that runs beside the cluster takes its configuration.
const (
	prometheusName      = "k8s"
	prometheusNamespace = "monitoring"
)

// startPrometheus starts the operator of Prometheus, and Prometheus.
func (l *lab) startPrometheus(ctx context.Context, c *cache) error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(l.dir, name) }
	if err := l.run(nil, c.program(find("prometheus-operator"), "prometheus-operator"), "--apiserver="+l.url, "--ca-file="+in("ca.crt"),
		"--cert-file="+in("admin.crt"), "--key-file="+in("admin.key"), "--web.listen-address=127.0.0.1:"+ports[0], "--kubelet-endpoints=false"); err != nil {
		return err
	}
	for _, o := range []object{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": prometheusNamespace}},
		{
			"apiVersion": "monitoring.coreos.com/v1", "kind": "Prometheus", "metadata": object{"name": prometheusName, "namespace": prometheusNamespace},
			"spec": object{
				"replicas": 0, "podMonitorSelector": object{}, "podMonitorNamespaceSelector": object{},
				"apiserverConfig": object{
					"host":      l.url,
					"tlsConfig": object{"caFile": in("ca.crt"), "certFile": in("admin.crt"), "keyFile": in("admin.key")},
				},
			},
		},
	} {
		if _, err := l.apply(ctx, namespace(o), o); err != nil {
			return err
		}
	}
	l.prometheus = &prometheus{api: l.api, url: "http://127.0.0.1:" + ports[1], config: in("prometheus.yaml")}
	missing, err := until(ctx, patience, func() (string, error) { return l.prometheus.configure(ctx) })
	if err != nil || missing != "" {
		return fmt.Errorf("configuration of Prometheus: %s: %w", missing, err)
	}
	if err := l.run(nil, c.program(find("prometheus"), "prometheus"), "--config.file="+l.prometheus.config, "--storage.tsdb.path="+in("tsdb"),
		"--web.listen-address=127.0.0.1:"+ports[1], "--web.enable-lifecycle"); err != nil {
		return err
	}
	l.prometheus.cmd = l.running[len(l.running)-1]
	return l.wait(ctx, l.prometheus.url+"/-/ready")
}

// configure takes what the operator has written and sets what it leaves to the environment of its pods, as the reloader in them does.
func (p *prometheus) configure(ctx context.Context) (missing string, err error) {
	secret, err := p.api.get(ctx, "v1", "Secret", prometheusNamespace, "prometheus-"+prometheusName)
	if r := (*refusal)(nil); errors.As(err, &r) && r.status == http.StatusNotFound {
		return "its operator has written none", nil
	}
	if err != nil {
		return "", err
	}
	packed, err := base64.StdEncoding.DecodeString(text(secret, "data", "prometheus.yaml.gz"))
	if err != nil {
		return "", err
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	config, err := io.ReadAll(reader)
	if err != nil {
		return "", err
	}
	config = []byte(strings.NewReplacer("$(SHARD)", "0", "$(POD_NAME)", "prometheus-"+prometheusName+"-0").Replace(string(config)))
	if old, err := os.ReadFile(p.config); err == nil && bytes.Equal(old, config) {
		return "", nil
	}
	if err := os.WriteFile(p.config, config, 0o600); err != nil || p.cmd == nil {
		return "", err
	}
	return "", p.call(ctx, http.MethodPost, "/-/reload", nil)
}

// call sends a request and decodes the answer, if one is wanted.
func (p *prometheus) call(ctx context.Context, method, path string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, nil)
	if err != nil {
		return err
	}
	resp, err := p.api.http.Do(req)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, tail(data))
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(data, answer)
}

// reads says why Prometheus does not read the metrics of just so many pods of a namespace.
func (p *prometheus) reads(ctx context.Context, ns string, pods int) (missing string, err error) {
	if missing, err := p.configure(ctx); missing != "" || err != nil {
		return missing, err
	}
	var answer object
	if err := p.call(ctx, http.MethodGet, "/api/v1/targets?state=active", &answer); err != nil {
		return "", err
	}
	up, all, why := 0, 0, ""
	for _, target := range list(answer, "data", "activeTargets") {
		if text(target, "labels", "namespace") != ns {
			continue
		}
		all++
		if text(target, "health") == "up" {
			up++
		} else if e := text(target, "lastError"); e != "" {
			why = ": " + e
		}
	}
	if up != pods || all != pods {
		return fmt.Sprintf("Prometheus reads %d of %d targets, %d workers are there%s", up, all, pods, why), nil
	}
	return "", nil
}

// pause lets Prometheus answer nothing; resume ends that.
func (p *prometheus) pause() error  { return p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *prometheus) resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
