package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// component is a program, or several, of one Go module.
type component struct {
	name     string
	module   string
	version  string
	locals   string            // the release of modules that it replaces by folders beside its own
	programs map[string]string // name of a program: its package; none where only the schema is tried
	tags     string            // with which they are built
	kinds    string            // files of its CustomResourceDefinitions
	release  string            // what version stands for, where it does not say so
	needed   bool              // nothing runs without it; else its targets are left out
}

func (p *component) String() string {
	release := p.release
	if release == "" {
		release = strings.TrimPrefix(p.version, "v")
	}
	return p.name + " " + release
}

// components are built in this order. Releases are those that internal/launch/files writes for; etcd is the one that Kubernetes 1.36 requires.
var components = []component{
	{name: "etcd", module: "go.etcd.io/etcd/server/v3", version: "v3.6.8", locals: "v3.6.8", programs: map[string]string{"etcd": "."}, needed: true},
	{name: "kubernetes", module: "k8s.io/kubernetes", version: "v1.36.3", locals: "v0.36.3", programs: map[string]string{
		"kube-apiserver":          "./cmd/kube-apiserver",
		"kube-controller-manager": "./cmd/kube-controller-manager",
		"kube-scheduler":          "./cmd/kube-scheduler",
	}, needed: true},
	{name: "lws", module: "sigs.k8s.io/lws", version: "v0.10.0", programs: map[string]string{"lws": "./cmd"}, kinds: "config/crd/bases/*.yaml"},
	{name: "keda", module: "github.com/kedacore/keda/v2", version: "v2.20.2", kinds: "config/crd/bases/*.yaml", programs: map[string]string{
		"keda-operator": "./cmd/operator",
		"keda-adapter":  "./cmd/adapter",
	}},
	{
		name: "prometheus-operator", module: "github.com/prometheus-operator/prometheus-operator", version: "v0.93.0", locals: "v0.93.0",
		kinds: "example/prometheus-operator-crd/*.yaml", programs: map[string]string{"prometheus-operator": "./cmd/operator"},
	},
	{ // the release that this operator starts; of all ways to discover what to read, the API server's alone
		name: "prometheus", module: "github.com/prometheus/prometheus", version: "v0.313.1", release: "3.13.1",
		programs: map[string]string{"prometheus": "./cmd/prometheus"}, tags: "remove_all_sd,enable_kubernetes_sd",
	},
	// What KServe's controller makes, of the releases in its go.mod.
	{name: "gateway-api", module: "sigs.k8s.io/gateway-api", version: "v1.5.1", kinds: "config/crd/standard/*.yaml"},
	{
		name: "gateway-api-inference-extension", module: "sigs.k8s.io/gateway-api-inference-extension", version: "v1.5.0",
		kinds: "config/crd/bases/inference.networking.k8s.io_*.yaml",
	},
	{
		name: "kserve", module: "github.com/kserve/kserve", version: "v0.20.0", kinds: "config/crd/full/llmisvc/serving.kserve.io_*.yaml",
		programs: map[string]string{"llmisvc": "./cmd/llmisvc"},
	},
	{
		name: "dynamo", module: "github.com/ai-dynamo/dynamo/deploy/operator", version: "v0.0.0-20260822035645-2112d6ba74da", release: "1.4.1",
		kinds: "config/crd/bases/nvidia.com_*.yaml",
	},
}

// cache is the folder of sources and programs. A program is built once for each release.
type cache struct {
	dir     string
	sources map[string]string // component: a folder with its source, instead of the Go proxy
	have    map[string]bool   // components whose source is there
	runs    map[string]bool   // those whose programs are
	say     func(format string, args ...any)
}

func (c *cache) source(p *component) string { return filepath.Join(c.dir, p.name+"-"+p.version) }

func (c *cache) program(p *component, name string) string {
	return filepath.Join(c.dir, "bin", name+"-"+p.version)
}

// get brings the source of a component, if it is not there yet.
func (c *cache) get(p *component) error {
	dir := c.source(p)
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return nil
	}
	if err := c.copySource(p, dir); err != nil {
		return fmt.Errorf("source of %s %s: %w", p.module, p.version, err)
	}
	return nil
}

// build makes the programs of a component that are not there yet.
func (c *cache) build(p *component) error {
	for _, name := range slices.Sorted(maps.Keys(p.programs)) {
		if _, err := os.Stat(c.program(p, name)); err == nil {
			continue
		}
		c.say("building %s %s", name, p.version)
		// -p 1 and nice leave the machine to others; without debug information it takes five sixths of the time.
		build := goCommand(c.source(p), "build", "-mod=mod", "-p", "1", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w",
			"-tags="+p.tags, "-o", c.program(p, name), p.programs[name])
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build of %s: %w\n%s", name, err, tail(out))
		}
	}
	return nil
}

// copySource puts the source of a component into dir, with its go.mod such that it builds alone: modules of the same repository, which
// it replaces by folders that are not part of it, come from the proxy.
func (c *cache) copySource(p *component, dir string) error {
	from := c.sources[p.name]
	if from == "" {
		c.say("downloading %s %s", p.module, p.version)
		out, err := goCommand(".", "mod", "download", "-json", p.module+"@"+p.version).Output()
		var got struct{ Dir, Error string }
		if json.Unmarshal(out, &got) == nil && got.Error != "" {
			return errors.New(got.Error)
		}
		if err != nil {
			return err
		}
		from = got.Dir
	}
	part := dir + ".part"
	if err := errors.Join(os.RemoveAll(part), os.MkdirAll(part, 0o755)); err != nil {
		return err
	}
	if err := copyTree(part, from); err != nil {
		return err
	}
	if err := ownModules(part, p.locals); err != nil {
		return err
	}
	return os.Rename(part, dir)
}

// copyTree copies regular files; those of the module cache are read-only, and some builds write into their go.mod.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && (rel == "vendor" || rel == ".git"):
			return filepath.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !e.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
}

// ownModules replaces folders in the go.mod in dir by the release of their modules.
func ownModules(dir, version string) error {
	out, err := goCommand(dir, "mod", "edit", "-json").Output()
	if err != nil {
		return err
	}
	var mod struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return err
	}
	edit := []string{"mod", "edit"}
	for _, r := range mod.Replace {
		if !strings.HasPrefix(r.New.Path, ".") {
			continue
		}
		_, major, _ := module.SplitPathVersion(r.Old.Path)
		if module.CheckPathMajor(version, major) != nil { // a path that must not be used, such as go.etcd.io/etcd, which was v2
			edit = append(edit, "-dropreplace="+r.Old.Path)
			continue
		}
		edit = append(edit, "-replace="+r.Old.Path+"="+r.Old.Path+"@"+version)
	}
	if len(edit) == 2 {
		return nil
	}
	if out, err := goCommand(dir, edit...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// goCommand is the go command in a folder, for programs without C, after everyone else on the machine.
func goCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("nice", append([]string{"-n", "19", "go"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-buildvcs=false", "GOGC=400")
	return cmd
}

// tail is the end of what a command printed.
func tail(out []byte) string {
	const most = 3000
	if len(out) > most {
		out = out[len(out)-most:]
	}
	return strings.TrimSpace(string(out))
}
