package launch

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/expand"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/launch/objects"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Found is the content of launch files.
type Found struct {
	// Deployment has only the settings in the files; layouts are to be completed with the
	// model.
	Deployment deployment.Deployment
	// Input, Output, Prefix and Copies are known for files of this program; 0 otherwise. Batch is the limit that was simulated, of the pool that
	// generates.
	Input, Output, Prefix, Copies, Batch int
	Launches                             []Launch
	Problems                             []Problem
	// Runs are all commands, also of other programs than engines, and Objects what manifests describe.
	Runs    []Run
	Objects []objects.Object
	// Processes are those with ports.
	Processes []Process
	// Missing are referenced config files that are missing.
	Missing []string
}

// Run is a command that files run, whichever program it starts.
type Run struct {
	File  string
	Line  int
	Words []string
	// In is the container of a manifest that runs it, nil on a host.
	In *yaml.Node
}

// ErrNoLaunch is part of errors about files that start no engine. What else they hold is found all the same.
var ErrNoLaunch = errors.New("no command that starts an engine was found")

// Read reads the files of one target: scripts, Compose files, manifests, and the
// config files they refer to.
func Read(files ...File) (*Found, error) {
	r := newReader()
	for _, f := range files {
		if n := int64(len(f.Data)); n > bound.Launch.Bytes() {
			return nil, &bound.TooLargeError{Name: f.Path, Kind: bound.Launch, Size: n}
		}
		if n := findNote(string(f.Data)); n != nil && r.note == nil {
			r.note = n
		}
	}
	for _, f := range files {
		if err := r.file(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return r.whole(files...)
}

// ReadCommand reads one command line, as typed in a shell.
func ReadCommand(line string) (*Found, error) {
	r := newReader()
	if err := r.script("", line, 1, around{count: 1}); err != nil {
		return nil, err
	}
	return r.whole()
}

// reader collects the launches of files.
type reader struct {
	note     *note
	launches []Launch
	configs  map[string]string // config files by name
	problems []Problem
	runs     []Run
	objects  []objects.Object
	missing  []string
	ended    int              // commands so far that end processes, or wait for their end
	starts   map[string]Place // where the text of a config file is
	budget   *budget
	profiles map[string]*engine.Profile // by engine
	invoked  []invocation               // of programs of which the ports are known
}

// newReader is an empty reader.
func newReader() *reader {
	return &reader{budget: newBudget(), configs: map[string]string{}, starts: map[string]Place{}, profiles: map[string]*engine.Profile{}}
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
	return &Launch{
		File: file, Engine: name, Count: count, given: map[string]bool{}, places: map[string]Place{}, extras: map[string]string{}, profile: r.profiles[name],
	}, nil
}

// file reads one file, a script or YAML documents, by its content.
func (r *reader) file(f File) error {
	text := string(f.Data)
	if strings.HasPrefix(text, "#!") || strings.HasSuffix(f.Path, ".sh") {
		return r.script(f.Path, text, 1, around{count: 1})
	}
	all, err := strictyaml.Documents(f.Data)
	switch {
	case err != nil && (strings.HasSuffix(f.Path, "ml") || over(err)):
		return err
	case err != nil || slices.ContainsFunc(all, func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode }):
		return r.script(f.Path, text, 1, around{count: 1}) // a script without a shell suffix
	}
	return r.documents(f, all)
}

// documents reads the documents of a file: ConfigMaps first, as others name their keys.
func (r *reader) documents(f File, all []*yaml.Node) error {
	for _, root := range all {
		if data := strictyaml.Child(root, "data"); data != nil && strictyaml.Scalar(root, "kind") == "ConfigMap" {
			for i := 0; i+1 < len(data.Content); i += 2 {
				r.configs[data.Content[i].Value] = data.Content[i+1].Value
				r.starts[data.Content[i].Value] = Place{File: f.Path, Line: strictyaml.TextLine(data.Content[i+1])}
			}
		}
	}
	for _, root := range all {
		r.objects = append(r.objects, objects.Read(f.Path, root)...)
		if err := r.document(f, root); err != nil {
			return err
		}
	}
	return nil
}

// document reads a YAML document: settings of an engine, values
// of llm-d's chart, or anything with containers.
func (r *reader) document(f File, root *yaml.Node) error {
	switch {
	case isSettings(root):
		name := path.Base(f.Path)
		r.configs[name], r.starts[name] = string(f.Data), Place{File: f.Path, Line: 1}
		return nil
	case strictyaml.Scalar(root, "kind") == "ConfigMap":
		return nil
	case isLLMD(root):
		return r.llmd(f.Path, root)
	case strictyaml.Scalar(root, "kind") == "LLMInferenceService":
		return r.kserve(f.Path, strictyaml.Child(root, "spec"))
	case strictyaml.Child(root, "resources") != nil && strictyaml.Child(root, "run") != nil:
		return r.skypilot(f.Path, root)
	}
	return r.walk(f.Path, root, around{count: 1})
}

// isSettings reports the settings of TensorRT-LLM, or flags of another engine.
func isSettings(root *yaml.Node) bool {
	return slices.ContainsFunc([]string{"tensor_parallel_size", "max_num_tokens", "kv_cache_config", "tensor-parallel-size", "model-path"}, func(key string) bool {
		return strictyaml.Child(root, key) != nil
	})
}

// script reads the commands of a shell script, which begins at a line.
func (r *reader) script(file, text string, line int, a around) error {
	s := &script{vars: with(a.env, nil), budget: r.budget, first: line - 1}
	s.run = func(c call, vars map[string]expand.Variable) error {
		a.env = vars
		return r.command(file, c, a)
	}
	s.data = func(d document) { r.hereDocument(file, d, a) }
	err := s.follow(text)
	switch {
	case over(err):
		return r.budget.fail(line, err)
	case r.budget.err != nil:
		return r.budget.err
	case err != nil:
		return fmt.Errorf("not a shell script: %w", err)
	}
	for _, at := range s.unquoted {
		r.problems = append(r.problems, Problem{
			Kind: LostQuotes, File: file, Line: at.Line, Flag: "JSON", Nearest: "'" + at.Flag + "'", Text: "no quotes around it: a shell takes it apart", Unsure: true,
		})
	}
	return nil
}

// hereDocument reads a text within a script: settings that it writes into a file, a manifest, or a script, as for ssh.
// What is none of them is data, and no error.
func (r *reader) hereDocument(file string, d document, a around) {
	all, err := strictyaml.Documents([]byte(d.text))
	switch {
	case over(err):
		_ = r.budget.fail(d.line, err)
	case err == nil && len(all) > 0 && all[0].Kind == yaml.MappingNode:
		if d.file != "" {
			r.configs[path.Base(d.file)], r.starts[path.Base(d.file)] = d.text, Place{File: file, Line: d.line}
		}
		if strictyaml.Child(all[0], "kind") != nil || strictyaml.Child(all[0], "services") != nil {
			_ = r.budget.nested(d.line, func() error { return r.documents(File{Path: file, Data: []byte(d.text)}, all) })
		}
	default:
		_ = r.budget.nested(d.line, func() error { return r.script(file, d.text, d.line, a) })
	}
}

// inner is the script that a command gives to a shell: "bash -lc 'script'".
func inner(c call) (text string, line int, ok bool) {
	for i, w := range c.words {
		if !isShell(w) && w != "--entrypoint" {
			continue
		}
		for j := i + 1; j+1 < len(c.words); j++ {
			if o := c.words[j]; strings.HasPrefix(o, "-") && !strings.HasPrefix(o, "--") && strings.HasSuffix(o, "c") {
				if c.words[j+1] == "--" && j+2 < len(c.words) {
					j++
				}
				return c.words[j+1], c.lines[j+1], true
			}
			if isShell(w) && !strings.HasPrefix(c.words[j], "-") && !strings.HasPrefix(c.words[j], "+") && c.words[j] != "pipefail" {
				break
			}
		}
	}
	return "", 0, false
}

// command reads a command that may start an engine.
func (r *reader) command(file string, c call, a around) error {
	a = dockerRun(c, a)
	a.beside, a.maybe = a.beside || c.beside, a.maybe || c.maybe
	if text, line, ok := inner(c); ok {
		return r.budget.nested(line, func() error { return r.script(file, text, line, a) })
	}
	if len(c.words) > 0 {
		r.runs = append(r.runs, Run{File: file, Line: c.lines[0], Words: c.words, In: a.container})
	}
	c = serving(c, &a)
	r.invoke(file, c, a)
	name, by, rest := starts(c)
	if name == "" {
		return nil
	}
	if len(rest.words) > bound.Arguments {
		return r.budget.fail(c.lines[0], bound.Over(bound.Arguments, "arguments of a command"))
	}
	l, err := r.launch(file, name, a.count)
	if err != nil {
		return err
	}
	l.Line, l.System = c.lines[0], a.system
	r.problems = append(r.problems, l.parse(by, rest)...)
	if len(r.problems) > bound.Problems {
		return r.budget.fail(c.lines[0], bound.Over(bound.Problems, "problems: is it a file of another program?"))
	}
	l.by = by
	for _, name := range []string{"VLLM_ALLOW_LONG_MAX_MODEL_LEN", "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"} {
		l.longer = l.longer || a.env[name].IsSet() && a.env[name].String() != "0"
	}
	l.Requested, l.Version, l.Dynamo = a.devices*cmp.Or(a.nodes, l.nodes()), a.version, a.dynamo
	if a.asked.Line > 0 {
		a.asked.File = file
		l.places["devices"] = a.asked
	}
	if !l.follows() {
		r.launches = append(r.launches, *l)
	}
	return nil
}

// serving is a command without its image: "docker run", whose image starts the server, is the server. The image tells the releases.
func serving(c call, a *around) call {
	for i, w := range c.words {
		if release, dynamo := imageReleases(w); a.version == "" {
			a.version, a.dynamo = release, dynamo
		}
		if strings.Contains(w, VLLMImage) && i > 0 && i+1 < len(c.words) && !isProgram(c.words[i+1]) {
			var serve call
			serve.add(c.lines[i], VLLM, "serve")
			serve.join(c.from(i + 1))
			return serve
		}
	}
	return c
}

// dockerRun takes the devices and variables of "docker run".
func dockerRun(c call, a around) around {
	i := slices.Index(c.words, "run")
	if i < 1 || path.Base(c.words[i-1]) != "docker" && path.Base(c.words[i-1]) != "podman" {
		return a
	}
	own := map[string]expand.Variable{}
	for j := i + 1; j+1 < len(c.words); j++ {
		value := c.words[j+1]
		switch flag, joined, ok := strings.Cut(c.words[j], "="); {
		case flag == "--gpus" && ok:
			a.devices = max(a.devices, gpus(joined))
		case flag == "--gpus":
			a.devices = max(a.devices, gpus(value))
		case flag == "-e" || flag == "--env":
			if ok {
				value = joined
			}
			if name, value, found := strings.Cut(value, "="); found {
				own[name] = holding(value)
			}
		}
	}
	if len(own) > 0 {
		a.env = with(a.env, own)
	}
	return a
}

// gpus is the number of devices of docker's --gpus, 0 for all.
func gpus(value string) int {
	value = strings.Trim(value, `"'`)
	if ids, ok := strings.CutPrefix(value, "device="); ok {
		return len(strings.Split(ids, ","))
	}
	n, _ := number(value)
	return n
}

// whole is what was found, unless a bound was passed.
func (r *reader) whole(files ...File) (*Found, error) {
	if r.budget.err != nil {
		return nil, r.budget.err
	}
	out, err := r.found()
	if out != nil {
		out.Processes = r.processes(files)
	}
	return out, err
}

// found combines all launches into a deployment.
func (r *reader) found() (*Found, error) {
	if err := r.readConfigs(); err != nil {
		return nil, err
	}
	out := &Found{Launches: r.launches, Problems: r.problems, Missing: r.missing, Runs: r.runs, Objects: r.objects}
	if len(r.launches) == 0 {
		return out, ErrNoLaunch
	}
	d := &out.Deployment
	n := r.note
	if n == nil {
		n = &note{}
	}
	out.Input, out.Output, out.Prefix, out.Copies = n.Input, n.Output, n.Prefix, n.Copies
	if len(n.Batch) > 0 {
		out.Batch = n.Batch[len(n.Batch)-1]
	}
	d.System, d.AsFamily, d.Formats, d.Routing, d.Host, d.Modelling = n.System, n.AsFamily, n.Formats, n.Routing, n.Host, n.Modelling
	d.Engine = deployment.Engine{Name: r.launches[0].Engine, Version: cmp.Or(n.Version, r.launches[0].Version)}
	out.Problems = append(out.Problems, r.roles()...)
	settled := false // formats without a pool
	for i := range r.launches {
		l := &r.launches[i]
		loads, formats, wrong := l.noted(n)
		if r.note != nil {
			out.Problems = append(out.Problems, fresh(out.Problems, wrong)...)
		}
		d.Model, d.System = cmp.Or(d.Model, loads), cmp.Or(d.System, l.System)
		if l.Engine != d.Engine.Name || loads != d.Model {
			out.Problems = append(out.Problems, l.another(&r.launches[0]))
			continue
		}
		at := slices.IndexFunc(d.Pools, func(p deployment.Pool) bool { return p.Role == l.Role })
		if at < 0 {
			pool := l.Pool()
			noted := n.of(l)
			pool.System, pool.AcceptanceRates = noted.System, noted.AcceptanceRates
			if own := noted.Formats != (deployment.Formats{}); own || settled && formats != d.Formats {
				pool.Formats = formats
			} else {
				d.Formats, settled = formats, true
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

// fresh are problems that are not among those known.
func fresh(known, found []Problem) []Problem {
	return slices.DeleteFunc(found, func(p Problem) bool { return slices.ContainsFunc(known, p.is) })
}

// roles settles the launches, and completes the roles of workers that the flags leave open: workers of TensorRT-LLM that only configure a transfer
// and are all alike do both, and those beside prefill workers decode.
func (r *reader) roles() (problems []Problem) {
	seen := map[deployment.Role]bool{}
	for i := range r.launches {
		problems = append(problems, r.launches[i].settle()...)
		seen[r.launches[i].Role] = true
	}
	for i := range r.launches {
		l := &r.launches[i]
		switch {
		case l.given["role"]:
		case len(seen) == 1 && l.Engine == TRTLLM:
			l.Role = deployment.Both
		case len(seen) == 2 && seen[deployment.Prefill] && l.Role == deployment.Both:
			l.Role = deployment.Decode
		case len(seen) == 2 && seen[deployment.Decode] && l.Role == deployment.Both:
			l.Role = deployment.Prefill
		}
	}
	return problems
}

// another says that a launch belongs to another deployment than the first.
func (l *Launch) another(first *Launch) Problem {
	text := fmt.Sprintf("starts %s with %s as well as %s with %s: only the first is predicted", l.Engine, l.set.Model, first.Engine, first.set.Model)
	return Problem{Kind: SeveralDeployments, File: l.File, Line: l.Line, Flag: "deployment", Text: text, Unsure: true}
}

// readConfigs reads the config files that commands refer to, or all of them without commands.
func (r *reader) readConfigs() error {
	if len(r.launches) == 0 {
		for _, name := range slices.Sorted(maps.Keys(r.configs)) {
			if all, err := strictyaml.Documents([]byte(r.configs[name])); err != nil || len(all) == 0 || !isSettings(all[0]) {
				continue
			}
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
		if l.config == "" {
			continue
		}
		name := path.Base(l.config)
		text, ok := r.configs[name]
		if !ok {
			at := l.places["config"]
			r.problems = append(r.problems, Problem{Kind: MissingConfig, File: l.File, Line: at.Line, Flag: l.config, Text: "referenced config file missing", Unsure: true})
			if !slices.Contains(r.missing, l.config) && !isOpen(l.config) {
				r.missing = append(r.missing, l.config)
			}
			continue
		}
		found, err := l.readConfig(text, r.starts[name], r.budget)
		if err != nil {
			return fmt.Errorf("%s: %w", l.config, err)
		}
		for _, p := range slices.Concat(found, l.unknownKeys()) {
			r.problems = append(r.problems, fresh(r.problems, []Problem{p})...)
		}
	}
	return nil
}
