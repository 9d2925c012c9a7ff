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

// Found is the content of launch files.
type Found struct {
	// Deployment has only the settings in the files; layouts are to be completed with the
	// model.
	Deployment deployment.Deployment
	// Input, Output, Prefix and Copies are known for files of this program; 0 otherwise.
	Input, Output, Prefix, Copies int
	Launches                      []Launch
	Problems                      []Problem
	// Missing are referenced config files that are missing.
	Missing []string
}

// ErrNoLaunch is part of errors about files that start no engine.
var ErrNoLaunch = errors.New("no command that starts an engine was found")

// Read reads the files of one target: scripts, Compose files, manifests, and the
// config files they refer to.
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

// reader collects the launches of files.
type reader struct {
	note     *note
	launches []Launch
	configs  map[string]string // config files by name
	problems []Problem
	missing  []string
	profiles map[string]*engine.Profile // by engine
}

// newReader is an empty reader.
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

// file reads one file, a script or YAML documents, by its content.
func (r *reader) file(f File) error {
	text := string(f.Data)
	if strings.HasPrefix(text, "#!") || strings.HasSuffix(f.Path, ".sh") {
		return r.script(f.Path, text, around{count: 1})
	}
	decoder := yaml.NewDecoder(bytes.NewReader(f.Data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		switch {
		case err != nil && strings.HasSuffix(f.Path, "ml"):
			return err
		case err != nil || len(document.Content) > 0 && document.Content[0].Kind == yaml.ScalarNode:
			return r.script(f.Path, text, around{count: 1}) // a script without a shell suffix
		case len(document.Content) > 0:
			if err := r.document(f, document.Content[0]); err != nil {
				return err
			}
		}
	}
}

// document reads a YAML document: settings of TensorRT-LLM, a ConfigMap with such, values
// of llm-d's chart, or anything with containers.
func (r *reader) document(f File, root *yaml.Node) error {
	if child(root, "tensor_parallel_size") != nil || child(root, "max_num_tokens") != nil || child(root, "kv_cache_config") != nil {
		r.configs[path.Base(f.Path)] = string(f.Data)
		return nil
	}
	if data := child(root, "data"); data != nil && scalar(root, "kind") == "ConfigMap" {
		for i := 0; i+1 < len(data.Content); i += 2 {
			r.configs[data.Content[i].Value] = data.Content[i+1].Value
		}
		return nil
	}
	if isLLMD(root) {
		return r.llmd(f.Path, root)
	}
	return r.walk(f.Path, root, around{count: 1})
}

// script reads the commands of a shell script.
func (r *reader) script(file, text string, a around) error {
	all, err := commands(text)
	if err != nil {
		return fmt.Errorf("not a shell script: %w", err)
	}
	for _, words := range all {
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
		if release, dynamo := imageReleases(w); a.version == "" {
			a.version, a.dynamo = release, dynamo
		}
		if strings.Contains(w, VLLMImage) && i+1 < len(words) && strings.HasPrefix(words[i+1], "-") {
			words = slices.Concat([]string{VLLM, "serve"}, words[i+1:])
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
	l.Requested, l.Version, l.Dynamo = a.devices*cmp.Or(a.nodes, l.nodes()), a.version, a.dynamo
	if !l.follows() {
		r.launches = append(r.launches, *l)
	}
	return nil
}

// found combines all launches into a deployment.
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
	d.System, d.AsFamily, d.Formats, d.Routing, d.Host, d.Modelling = n.System, n.AsFamily, n.Formats, n.Routing, n.Host, n.Modelling
	d.Engine = deployment.Engine{Name: r.launches[0].Engine, Version: cmp.Or(n.Version, r.launches[0].Version)}
	for i := range r.launches {
		l := &r.launches[i]
		if err := l.settle(); err != nil {
			return nil, err
		}
		if l.Engine != d.Engine.Name {
			return nil, fmt.Errorf("the files start both %s and %s", d.Engine.Name, l.Engine)
		}
		d.Model = cmp.Or(d.Model, l.set.Model)
		at := slices.IndexFunc(d.Pools, func(p deployment.Pool) bool { return p.Role == l.Role })
		if at < 0 {
			pool := l.Pool()
			noted := n.pool(l.Role)
			pool.System, pool.Formats, pool.AcceptanceRates = noted.System, noted.Formats, noted.AcceptanceRates
			formats := &d.Formats
			if pool.Formats != (deployment.Formats{}) {
				formats = &pool.Formats
			}
			if l.set.Model == d.Model { // else the comment says how another checkpoint differs
				said := *formats
				*formats = l.formats(&said)
				if r.note != nil {
					out.Problems = append(out.Problems, l.contradicts(&said)...)
				}
			}
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

// readConfigs reads the config files that commands refer to, or all of them without commands.
func (r *reader) readConfigs() error {
	if len(r.launches) == 0 {
		for _, name := range slices.Sorted(maps.Keys(r.configs)) {
			l, err := r.launch(name, TRTLLM, 1)
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
			r.problems = append(r.problems, Problem{File: l.File, Flag: l.config, Text: "referenced config file missing", Unsure: true})
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
