package launch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Found is what files say.
type Found struct {
	// Deployment has what the engines are told as settings and leaves the rest open:
	// layouts are to be completed with the model.
	Deployment deployment.Deployment
	// Input, Output, Prefix and Copies are known of our own files; 0 otherwise.
	Input, Output, Prefix, Copies int
	Launches                      []Launch
	Problems                      []Problem
	// Missing are files of settings that a command names and that were not given.
	Missing []string
}

// ErrNoLaunch is part of errors about files that start no engine.
var ErrNoLaunch = errors.New("no command that starts an engine was found")

// Read reads the files of one target: scripts, Compose files, manifests, and the
// files of settings they name.
func Read(files ...File) (*Found, error) {
	r := newReader()
	for _, f := range files {
		if n := findNote(string(f.Data)); n != nil && r.note == nil {
			r.note = n
		}
	}
	for _, f := range files {
		if err := r.file(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return r.found()
}

// ReadCommand reads one command line, as typed in a shell.
func ReadCommand(line string) (*Found, error) {
	r := newReader()
	if err := r.script("", line, around{count: 1}); err != nil {
		return nil, err
	}
	return r.found()
}

// reader collects what files say.
type reader struct {
	note     *note
	launches []Launch
	configs  map[string]string // files of settings by name
	problems []Problem
	missing  []string
	profiles map[string]*engine.Profile // by engine
}

// newReader is a reader of nothing yet.
func newReader() *reader {
	return &reader{configs: map[string]string{}, profiles: map[string]*engine.Profile{}}
}

// launch begins a launch of an engine.
func (r *reader) launch(file, name string, count int) (*Launch, error) {
	if r.profiles[name] == nil {
		p, err := engine.LookupVersion(name, "")
		if err != nil {
			return nil, err
		}
		r.profiles[name] = p
	}
	return &Launch{File: file, Engine: name, Count: count, given: map[string]bool{}, extras: map[string]string{}, profile: r.profiles[name]}, nil
}

// file reads one file by what it looks like.
func (r *reader) file(f File) error {
	text := string(f.Data)
	switch {
	case strings.HasPrefix(text, "#!") || strings.HasSuffix(f.Path, ".sh"):
		return r.script(f.Path, text, around{count: 1})
	case isLLMD(text):
		return r.llmd(f)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(f.Data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(document.Content) == 0 {
			continue
		}
		root := document.Content[0]
		if child(root, "tensor_parallel_size") != nil || child(root, "max_num_tokens") != nil || child(root, "kv_cache_config") != nil {
			r.configs[path.Base(f.Path)] = text
			continue
		}
		if data := child(root, "data"); data != nil && scalar(root, "kind") == "ConfigMap" {
			for i := 0; i+1 < len(data.Content); i += 2 {
				r.configs[data.Content[i].Value] = data.Content[i+1].Value
			}
			continue
		}
		if err := r.walk(f.Path, root, around{count: 1}); err != nil {
			return err
		}
	}
}

// child is the value of a key in a mapping, nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// scalar is a child's text.
func scalar(n *yaml.Node, key string) string {
	if c := child(n, key); c != nil && c.Kind == yaml.ScalarNode {
		return c.Value
	}
	return ""
}

// list are the texts of a list, or of a text as a shell splits it.
func list(n *yaml.Node) []string {
	var out []string
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			out = append(out, c.Value)
		}
	case n.Kind == yaml.ScalarNode:
		for _, c := range split(n.Value) {
			out = append(out, c...)
		}
	}
	return out
}

// around is what the objects around a command say of it.
type around struct {
	count   int    // how often it is started: the nearest "replicas"
	nodes   int    // of a worker
	devices int    // on each node
	version string // of the engine in the image
}

// at is what is around the parts of a mapping.
func (a around) at(n *yaml.Node) around {
	if k, ok := number(scalar(n, "replicas")); ok {
		a.count = k
	}
	for _, nodes := range []string{scalar(child(n, "multinode"), "nodeCount"), scalar(n, "size")} {
		if k, ok := number(nodes); ok { // of Dynamo, and of a LeaderWorkerSet
			a.nodes = k
		}
	}
	a.version = cmp.Or(imageVersion(scalar(n, "image")), a.version)
	limits := child(child(n, "resources"), "limits")
	for _, resource := range []string{"gpu", "nvidia.com/gpu", "amd.com/gpu", "huawei.com/Ascend910"} {
		if k, ok := number(scalar(limits, resource)); ok {
			a.devices = k
		}
	}
	reserved := child(child(child(child(n, "deploy"), "resources"), "reservations"), "devices")
	if reserved != nil && len(reserved.Content) > 0 {
		a.devices = len(list(child(reserved.Content[0], "device_ids")))
		if k, ok := number(scalar(reserved.Content[0], "count")); ok {
			a.devices = k
		}
	}
	return a
}

// walk looks for commands in a document.
func (r *reader) walk(file string, n *yaml.Node, a around) error {
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			if err := r.walk(file, c, a); err != nil {
				return err
			}
		}
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	a = a.at(n)
	if err := r.command(file, container(n), a); err != nil {
		return err
	}
	if leader := child(n, "leaderTemplate"); leader != nil {
		return r.walk(file, leader, a) // the other pods only follow
	}
	for i := 1; i < len(n.Content); i += 2 {
		if err := r.walk(file, n.Content[i], a); err != nil {
			return err
		}
	}
	return nil
}

// container is the command of a container: the one it is given, or that of vLLM's
// image with the arguments it is given.
func container(n *yaml.Node) []string {
	start, rest := list(child(n, "command")), list(child(n, "args"))
	if entry := child(n, "entrypoint"); entry != nil {
		start = slices.Concat(list(entry), start)
	} else if child(n, "services") == nil && len(rest) == 0 && strings.Contains(scalar(n, "image"), vllmImage) && len(start) > 0 && start[0] != "vllm" {
		return append([]string{"vllm", "serve"}, start...) // Compose calls arguments a command
	}
	if len(start) == 0 && strings.Contains(scalar(n, "image"), vllmImage) {
		start = []string{"vllm", "serve"}
	}
	return slices.Concat(start, rest)
}

// script reads the commands of a shell script.
func (r *reader) script(file, text string, a around) error {
	for _, words := range split(text) {
		if err := r.command(file, words, a); err != nil {
			return err
		}
	}
	return nil
}

// command reads a command that may start an engine.
func (r *reader) command(file string, words []string, a around) error {
	if i := slices.Index(words, "-c"); i > 0 && i+1 < len(words) && strings.HasSuffix(words[i-1], "sh") {
		return r.script(file, words[i+1], a)
	}
	for i, w := range words { // "docker run", whose image starts the server
		a.version = cmp.Or(a.version, imageVersion(w))
		if strings.Contains(w, vllmImage) && i+1 < len(words) && strings.HasPrefix(words[i+1], "-") {
			words = slices.Concat([]string{vllm, "serve"}, words[i+1:])
			break
		}
	}
	name, by, rest := starts(words)
	if name == "" {
		return nil
	}
	l, err := r.launch(file, name, a.count)
	if err != nil {
		return err
	}
	r.problems = append(r.problems, l.parse(by, rest)...)
	l.Requested, l.Version = a.devices*cmp.Or(a.nodes, l.nodes()), a.version
	if !l.follows() {
		r.launches = append(r.launches, *l)
	}
	return nil
}

// llmd reads the values of llm-d's chart, which starts vLLM itself.
func (r *reader) llmd(f File) error {
	var document yaml.Node
	if err := yaml.Unmarshal(f.Data, &document); err != nil {
		return err
	}
	root := document.Content[0]
	model := strings.TrimPrefix(scalar(child(root, "modelArtifacts"), "uri"), "hf://")
	for _, side := range []string{"prefill", "decode"} {
		pool := child(root, side)
		containers := child(pool, "containers")
		if containers == nil || len(containers.Content) == 0 {
			continue
		}
		count, _ := number(cmp.Or(scalar(pool, "replicas"), "1"))
		words := append([]string{"vllm", "serve", model}, list(child(containers.Content[0], "args"))...)
		for key, flag := range map[string]string{"tensor": "--tensor-parallel-size", "data": "--data-parallel-size"} {
			if n := scalar(child(pool, "parallelism"), key); n != "" {
				words = append(words, flag, n)
			}
		}
		if err := r.command(f.Path, words, around{count: count}.at(containers.Content[0])); err != nil {
			return err
		}
	}
	return nil
}

// found puts everything together.
func (r *reader) found() (*Found, error) {
	if err := r.readConfigs(); err != nil {
		return nil, err
	}
	if len(r.launches) == 0 {
		return nil, ErrNoLaunch
	}
	out := &Found{Launches: r.launches, Problems: r.problems, Missing: r.missing}
	d := &out.Deployment
	n := r.note
	if n == nil {
		n = &note{}
	}
	out.Input, out.Output, out.Prefix, out.Copies = n.Input, n.Output, n.Prefix, n.Copies
	d.System, d.AsFamily, d.Formats, d.LeastLoaded, d.Modelling = n.System, n.AsFamily, n.Formats, n.LeastLoaded, n.Modelling
	d.Engine = deployment.Engine{Name: r.launches[0].Engine, Version: cmp.Or(n.Version, r.launches[0].Version)}
	for i := range r.launches {
		l := &r.launches[i]
		if err := l.settle(); err != nil {
			return nil, err
		}
		if l.Engine != d.Engine.Name {
			return nil, fmt.Errorf("the files start both %s and %s", d.Engine.Name, l.Engine)
		}
		d.Model = cmp.Or(d.Model, l.told.Model)
		if r.note == nil {
			d.Formats.Checkpoint = cmp.Or(d.Formats.Checkpoint, l.told.Checkpoint)
		}
		at := slices.IndexFunc(d.Pools, func(p deployment.Pool) bool { return p.Role == l.Role })
		if at < 0 {
			pool := l.Pool()
			noted := n.pool(l.Role)
			pool.System, pool.Formats, pool.AcceptanceRates = noted.System, noted.Formats, noted.AcceptanceRates
			pool.Settings = append(pool.Settings, noted.Settings...)
			d.Pools = append(d.Pools, pool)
			at = len(d.Pools) - 1
		}
		d.Pools[at].Replicas += l.Count
	}
	for i := range d.Pools {
		d.Pools[i].Replicas /= max(1, n.Copies)
	}
	slices.SortFunc(d.Pools, func(a, b deployment.Pool) int { return -strings.Compare(string(a.Role), string(b.Role)) })
	return out, nil
}

// readConfigs reads the files of settings that commands name, or those that stand
// alone.
func (r *reader) readConfigs() error {
	if len(r.launches) == 0 {
		for _, name := range slices.Sorted(maps.Keys(r.configs)) {
			l, err := r.launch(name, trtllm, 1)
			if err != nil {
				return err
			}
			l.config = name
			r.launches = append(r.launches, *l)
		}
	}
	for i := range r.launches {
		l := &r.launches[i]
		text, ok := r.configs[path.Base(l.config)]
		if l.config == "" {
			continue
		}
		if !ok {
			r.problems = append(r.problems, Problem{File: l.File, Flag: l.config, Text: "this file of settings was not given", Unsure: true})
			if !slices.Contains(r.missing, l.config) {
				r.missing = append(r.missing, l.config)
			}
			continue
		}
		if err := l.readConfig(text); err != nil {
			return fmt.Errorf("%s: %w", l.config, err)
		}
		for _, p := range l.unknownKeys() {
			if !slices.Contains(r.problems, p) {
				r.problems = append(r.problems, p)
			}
		}
	}
	return nil
}
