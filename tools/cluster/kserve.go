package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// startKServe starts the controller of LLMInferenceServices and its webhooks, and applies the templates of their pods and the gateway that routes
// refer to. There is no controller of gateways: routes are made and lead nowhere.
func (l *lab) startKServe(ctx context.Context, c *cache) error {
	kserve := find("kserve")
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	// The controller has no flag for its certificates, which are in the folder for temporary files.
	certs := filepath.Join(l.dir, "kserve", "k8s-webhook-server", "serving-certs")
	if err := os.MkdirAll(certs, 0o700); err != nil {
		return err
	}
	if _, err := l.authority.issue(filepath.Join("kserve", "k8s-webhook-server", "serving-certs", "tls"), "kserve"); err != nil {
		return err
	}
	in := func(path string) string { return filepath.Join(c.source(kserve), "config", filepath.FromSlash(path)) }
	if _, err := l.apply(ctx, "", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "kserve"}}); err != nil {
		return err
	}
	if err := l.applyFiles(ctx, "kserve", in("configmap/inferenceservice.yaml")); err != nil {
		return err
	}
	if err := l.run([]string{"TMPDIR=" + filepath.Join(l.dir, "kserve"), "POD_NAMESPACE=kserve"}, c.program(kserve, "llmisvc"), "--metrics-addr=0",
		"--metrics-secure=false", "--webhook-port="+ports[0], "--health-probe-addr=127.0.0.1:"+ports[1]); err != nil {
		return err
	}
	if err := l.wait(ctx, "http://127.0.0.1:"+ports[1]+"/readyz"); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // it is ready before its webhooks are
	if err := l.webhooks(ctx, in("webhook/llmisvc/manifests.yaml"), ports[0], "none"); err != nil {
		return err
	}
	const version = "gateway.networking.k8s.io/v1"
	for _, o := range []object{
		{"apiVersion": version, "kind": "GatewayClass", "metadata": object{"name": "none"}, "spec": object{"controllerName": "example.com/none"}},
		{
			"apiVersion": version, "kind": "Gateway", "metadata": object{"name": "kserve-ingress-gateway"},
			"spec": object{
				"gatewayClassName": "none",
				"listeners":        []object{{"name": "http", "protocol": "HTTP", "port": 80, "allowedRoutes": object{"namespaces": object{"from": "All"}}}},
			},
		},
	} {
		if _, err := l.apply(ctx, "kserve", o); err != nil {
			return err
		}
	}
	l.makers["kserve"] = true
	return l.applyFiles(ctx, "kserve", in("llmisvcconfig/config-*.yaml"))
}

// applyFiles applies the objects of the files of a pattern in a namespace.
func (l *lab) applyFiles(ctx context.Context, ns, pattern string) error {
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) == 0 {
		err = errors.New("no file " + pattern)
	}
	for _, file := range files {
		objects, e := readObjects(file)
		err = errors.Join(err, e)
		for _, o := range objects {
			_, e := l.apply(ctx, ns, o)
			err = errors.Join(err, e)
		}
	}
	return err
}
