package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// definitions applies the CustomResourceDefinitions of a component, and waits until they are served.
func (l *lab) definitions(ctx context.Context, c *cache, component *component) error {
	files, err := filepath.Glob(filepath.Join(c.source(component), filepath.FromSlash(component.kinds)))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%v has no %s", component, component.kinds)
	}
	for _, file := range files {
		objects, err := readObjects(file)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if text(o, "kind") != "CustomResourceDefinition" {
				continue
			}
			if spec, ok := at(o, "spec").(object); ok { // a program that is not part of this converts between versions; none is needed to check one
				delete(spec, "conversion")
			}
			if _, err := l.apply(ctx, "", o); err != nil {
				return err
			}
			if err := l.served(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// served waits until the kinds of a definition are served.
func (l *lab) served(ctx context.Context, definition object) error {
	for _, v := range list(definition, "spec", "versions") {
		if at(v, "served") != true {
			continue
		}
		version := text(definition, "spec", "group") + "/" + text(v, "name")
		missing, err := until(ctx, patience, func() (string, error) {
			_, err := l.path(ctx, version, text(definition, "spec", "names", "kind"), "", "")
			if err != nil {
				return err.Error(), nil
			}
			return "", nil
		})
		if err != nil || missing != "" {
			return fmt.Errorf("%s: %s: %w", name(definition), missing, err)
		}
	}
	return nil
}

// webhooks applies the webhooks of a file, to be called on a port of loopback. Those for pods see only pods with the label.
func (l *lab) webhooks(ctx context.Context, file, port, podLabel string) error {
	objects, err := readObjects(file)
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(filepath.Join(l.dir, "ca.crt"))
	if err != nil {
		return err
	}
	for _, o := range objects {
		for _, hook := range list(o, "webhooks") {
			path := text(hook, "clientConfig", "service", "path")
			hook["clientConfig"] = object{"url": "https://127.0.0.1:" + port + path, "caBundle": base64.StdEncoding.EncodeToString(ca)}
			if strings.HasSuffix(path, "-v1-pod") {
				hook["objectSelector"] = object{"matchExpressions": []object{{"key": podLabel, "operator": "Exists"}}}
			}
		}
		if _, err := l.apply(ctx, "", o); err != nil {
			return err
		}
	}
	return nil
}

// startLWS starts the controller of LeaderWorkerSets and its webhooks.
func (l *lab) startLWS(ctx context.Context, c *cache) error {
	lws := find("lws")
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	certs := filepath.Join(l.dir, "lws")
	if err := os.MkdirAll(certs, 0o700); err != nil {
		return err
	}
	if _, err := l.authority.issue(filepath.Join("lws", "tls"), "lws"); err != nil {
		return err
	}
	config := filepath.Join(l.dir, "lws.yaml")
	if err := os.WriteFile(config, []byte(fmt.Sprintf(`apiVersion: config.lws.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
webhook: {port: %s, host: 127.0.0.1, certDir: %q}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "127.0.0.1:%s"}
`, ports[0], certs, ports[1])), 0o600); err != nil {
		return err
	}
	if err := l.run(nil, c.program(lws, "lws"), "--config="+config); err != nil {
		return err
	}
	if err := l.webhooks(ctx, filepath.Join(c.source(lws), "config", "webhook", "manifests.yaml"), ports[0], lwsName); err != nil {
		return err
	}
	if err := l.wait(ctx, "http://127.0.0.1:"+ports[1]+"/readyz"); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // it is ready before its webhooks are
	return nil
}

// find is the component of a name.
func find(name string) *component {
	for i := range components {
		if components[i].name == name {
			return &components[i]
		}
	}
	panic("no component " + name)
}
