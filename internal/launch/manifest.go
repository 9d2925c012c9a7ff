package launch

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/expand"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// isJSON reports a text that is JSON.
func isJSON(text string) bool { return json.Valid([]byte(text)) }

// list are the texts of a list, or the words of a text as a shell splits it; a text that is
// no shell command is split at its blanks.
func list(n *yaml.Node, b *budget) call {
	var out call
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			out.add(strictyaml.TextLine(strictyaml.Resolved(c)), strictyaml.Resolved(c).Value)
		}
	case n.Kind == yaml.ScalarNode:
		words, err := split(n.Value, strictyaml.TextLine(n), b)
		if err != nil {
			out.add(n.Line, strings.Fields(n.Value)...)
			return out
		}
		out = words
	}
	return out
}

// arguments are the words of a command in a manifest, in which "$$" is a "$" and "$(NAME)" a
// variable of the container.
func (r *reader) arguments(n *yaml.Node, a around) call {
	out := list(n, r.budget)
	for i, w := range out.words {
		out.words[i] = r.filled(w, out.lines[i], a)
	}
	return out
}

// filled is a word with its variables filled in.
func (r *reader) filled(w string, line int, a around) string {
	var out strings.Builder
	for {
		before, rest, more := strings.Cut(w, "$")
		name, after, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")")
		v, known := a.env[name]
		text := before
		switch {
		case !more:
		case strings.HasPrefix(rest, "$"):
			text, after = text+"$", rest[1:]
		case strings.HasPrefix(rest, "(") && closed && known:
			text += v.String()
		default:
			text, after = text+"$", rest
		}
		if r.budget.spend(line, len(text)) != nil || out.Len()+len(text) > bound.Text {
			_ = r.budget.fail(line, bound.Over(bound.Text, "bytes that one text expands to"))
			return ""
		}
		out.WriteString(text)
		if w = after; !more {
			return out.String()
		}
	}
}

// around is the settings of the objects that contain a command.
type around struct {
	count   int    // number of processes: the innermost "replicas"
	nodes   int    // of a worker
	devices int    // on each node
	version string // of the engine in the image
	dynamo  string // of Dynamo in it
	asked   Place  // where the devices are
	system  string // the device that the pod selects
	env     map[string]expand.Variable
	// container is what runs the command, nil on a host.
	container *yaml.Node
	// beside and maybe are those of the call around it.
	beside, maybe bool
}

// at is the settings inside a mapping.
func (a around) at(n *yaml.Node) around {
	if k, ok := number(strictyaml.Scalar(n, "replicas")); ok {
		a.count = k
	}
	for _, nodes := range []string{strictyaml.Scalar(n, "multinode", "nodeCount"), strictyaml.Scalar(n, "size")} {
		if k, ok := number(nodes); ok { // of Dynamo, and of a LeaderWorkerSet
			a.nodes = k
		}
	}
	if release, dynamo := imageReleases(strictyaml.Scalar(n, "image")); release != "" {
		a.version, a.dynamo = release, dynamo
	}
	a.system = cmp.Or(selected(n), a.system)
	limits := strictyaml.Child(n, "resources", "limits")
	for _, resource := range []string{"gpu", "nvidia.com/gpu", "amd.com/gpu", "huawei.com/Ascend910"} {
		if k, ok := number(strictyaml.Scalar(limits, resource)); ok {
			a.devices, a.asked = k, Place{Line: strictyaml.Child(limits, resource).Line, Flag: resource, Words: []string{strconv.Itoa(k)}}
		}
	}
	reserved := strictyaml.Child(n, "deploy", "resources", "reservations", "devices")
	if reserved != nil && len(reserved.Content) > 0 {
		a.devices = len(strictyaml.Items(reserved.Content[0], "device_ids"))
		if k, ok := number(strictyaml.Scalar(reserved.Content[0], "count")); ok {
			a.devices, a.asked = k, Place{Line: strictyaml.Child(reserved.Content[0], "count").Line, Flag: "count", Words: []string{strconv.Itoa(k)}}
		}
	}
	return a
}

// walk looks for commands in a document.
func (r *reader) walk(file string, n *yaml.Node, a around) error {
	if r.budget.err != nil {
		return r.budget.err
	}
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
	a = r.environment(n, a.at(n))
	a.container, a.beside = n, true
	if err := r.command(file, r.container(n, a), a); err != nil {
		return err
	}
	if leader := strictyaml.Child(n, "leaderTemplate"); leader != nil {
		return r.walk(file, leader, a) // the other pods belong to the same worker
	}
	for i := 1; i < len(n.Content); i += 2 {
		if err := r.walk(file, n.Content[i], a); err != nil {
			return err
		}
	}
	return nil
}

// selected is the device that a pod asks for by its product or accelerator, "" if it does not.
func selected(n *yaml.Node) string {
	product := ""
	spec := strictyaml.Child(n, "nodeSelector")
	for _, label := range []string{"nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "amd.com/gpu.product-name"} {
		product = cmp.Or(product, strictyaml.Scalar(spec, label))
		if strictyaml.Scalar(n, "key") == label {
			if values := strictyaml.Child(n, "values"); values != nil && len(values.Content) == 1 {
				product = cmp.Or(product, values.Content[0].Value)
			}
		}
	}
	if terms := strictyaml.Child(n, "affinity"); terms != nil && product == "" {
		var search func(*yaml.Node)
		search = func(n *yaml.Node) {
			if n.Kind == yaml.MappingNode && strictyaml.Child(n, "key") != nil && product == "" {
				product = selected(n)
				return
			}
			for _, c := range n.Content {
				search(c)
			}
		}
		search(terms)
		return product
	}
	return deviceOf(product)
}

// environment adds the variables of a container: Kubernetes has a list of names and values, which may be in a
// ConfigMap of the same files, and Compose a list or a mapping.
func (r *reader) environment(n *yaml.Node, a around) around {
	own := map[string]expand.Variable{}
	set := func(name, value string) {
		if name != "" {
			own[name] = holding(value)
		}
	}
	if size := strictyaml.Scalar(n, "size"); size != "" && strictyaml.Child(n, "workerTemplate") != nil { // a LeaderWorkerSet tells its pods
		set("LWS_GROUP_SIZE", size)
		set("LWS_WORKER_INDEX", "0")
	}
	for _, from := range []string{"env", "envs", "environment"} {
		e := strictyaml.Child(n, from)
		switch {
		case e == nil:
		case e.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(e.Content); i += 2 {
				set(e.Content[i].Value, e.Content[i+1].Value)
			}
		case e.Kind == yaml.SequenceNode:
			for _, item := range e.Content {
				r.variable(strictyaml.Resolved(item), set)
			}
		}
	}
	a.env = r.with(n.Line, a.env, own)
	return a
}

// with is some variables and, over them, others.
func (r *reader) with(line int, vars, own map[string]expand.Variable) map[string]expand.Variable {
	if len(own) == 0 || r.budget.toil(line, perVariable*len(vars)) != nil {
		return vars
	}
	return with(vars, own)
}

// with is some variables and, over them, others.
func with(vars, own map[string]expand.Variable) map[string]expand.Variable {
	out := map[string]expand.Variable{}
	maps.Copy(out, vars)
	maps.Copy(out, own)
	return out
}

// holding is a variable that holds a text.
func holding(s string) expand.Variable {
	return expand.Variable{Set: true, Kind: expand.String, Str: s}
}

// variable sets one of a list: "NAME=value", a name and a value, or a name and a key of a ConfigMap.
func (r *reader) variable(item *yaml.Node, set func(name, value string)) {
	ref := strictyaml.Child(item, "valueFrom", "configMapKeyRef")
	switch {
	case item.Kind == yaml.ScalarNode:
		if name, value, ok := strings.Cut(item.Value, "="); ok {
			set(name, value)
		}
	case strictyaml.Child(item, "value") != nil:
		set(strictyaml.Scalar(item, "name"), strictyaml.Scalar(item, "value"))
	case ref != nil:
		if text, ok := r.configs[strictyaml.Scalar(ref, "key")]; ok {
			set(strictyaml.Scalar(item, "name"), text)
		}
	}
}

// container is the command of a container: its own, or that of vLLM's image with its
// arguments.
func (r *reader) container(n *yaml.Node, a around) call {
	start, rest := r.arguments(strictyaml.Child(n, "command"), a), r.arguments(strictyaml.Child(n, "args"), a)
	own := strings.Contains(strictyaml.Scalar(n, "image"), VLLMImage)
	out := r.arguments(strictyaml.Child(n, "entrypoint"), a)
	bare := len(out.words)+len(start.words) == 0
	// Compose calls arguments a command.
	composed := strictyaml.Child(n, "entrypoint") == nil && strictyaml.Child(n, "services") == nil && len(rest.words) == 0 && len(start.words) > 0 && !isProgram(start.words[0])
	if own && (bare || composed) {
		out.add(n.Line, VLLM, "serve")
	}
	out.join(start)
	out.join(rest)
	return out
}

// isProgram reports a word that starts a command, and is no argument of an image's server.
func isProgram(word string) bool {
	base := path.Base(word)
	return base == VLLM || base == "exec" || base == "env" || base == "uv" || base == "ray" || isShell(word) || strings.HasPrefix(base, "python") || strings.Contains(word, "=")
}

// isShell reports a shell.
func isShell(word string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash", "ash"}, path.Base(word))
}

// isLLMD reports whether a document is values of llm-d's chart.
func isLLMD(root *yaml.Node) bool {
	for _, side := range []string{"prefill", "decode"} {
		if c := strictyaml.Child(root, side, "containers"); c != nil && len(c.Content) > 0 && strictyaml.Scalar(c.Content[0], "modelCommand") == "vllmServe" {
			return true
		}
	}
	return false
}

// llmd reads the values of llm-d's chart, which starts vLLM itself.
func (r *reader) llmd(file string, root *yaml.Node) error {
	model := strings.TrimPrefix(strictyaml.Scalar(root, "modelArtifacts", "uri"), "hf://")
	for _, side := range []string{"prefill", "decode"} {
		pool := strictyaml.Child(root, side)
		containers := strictyaml.Child(pool, "containers")
		if containers == nil || len(containers.Content) == 0 {
			continue
		}
		if strictyaml.Scalar(containers.Content[0], "modelCommand") != "vllmServe" { // a command of its own
			if err := r.walk(file, pool, around{count: 1}); err != nil {
				return err
			}
			continue
		}
		count, _ := number(cmp.Or(strictyaml.Scalar(pool, "replicas"), "1"))
		of := containers.Content[0]
		around := r.environment(of, around{count: count}.at(of))
		var words call
		words.add(of.Line, VLLM, "serve", model)
		words.join(r.arguments(strictyaml.Child(of, "args"), around))
		words.divided(strictyaml.Child(pool, "parallelism"), [2]string{"tensor", "--tensor-parallel-size"}, [2]string{"data", "--data-parallel-size"})
		around.container = of
		if err := r.command(file, words, around); err != nil {
			return err
		}
	}
	return nil
}

// number reads a number; false if it is a variable.
func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// deviceOf is the profile of a product as Kubernetes labels nodes with it ("NVIDIA-H100-80GB-HBM3"), "" if none is called so.
func deviceOf(product string) string {
	name := strings.ToLower(product)
	for _, maker := range []string{"nvidia-", "amd-", "tesla-"} {
		name = strings.TrimPrefix(name, maker)
	}
	for name != "" {
		if p, err := device.Lookup(name); err == nil {
			return p.Name
		}
		i := strings.LastIndexAny(name, "-_")
		if i < 0 || strings.HasSuffix(name, "40gb") {
			return ""
		}
		name = name[:i]
	}
	return ""
}

// kserve reads the workers of an LLMInferenceService. KServe's templates start vLLM with the model
// and its layout; other flags are in a variable that a shell splits.
func (r *reader) kserve(file string, spec *yaml.Node) error {
	model := strings.TrimPrefix(strictyaml.Scalar(spec, "model", "uri"), "hf://")
	for _, pool := range []*yaml.Node{strictyaml.Child(spec, "prefill"), spec} {
		containers := strictyaml.Child(pool, "template", "containers")
		if containers == nil || len(containers.Content) == 0 {
			continue
		}
		main := containers.Content[0]
		count, _ := number(cmp.Or(strictyaml.Scalar(pool, "replicas"), "1"))
		a := around{count: count}
		layout := strictyaml.Child(pool, "parallelism")
		data, _ := number(strictyaml.Scalar(layout, "data"))
		if local, ok := number(strictyaml.Scalar(layout, "dataLocal")); ok && local > 0 {
			a.nodes = max(1, data/local)
		}
		a = a.at(main)
		a.container = main
		var words call
		words.add(main.Line, VLLM, "serve", model)
		words.join(r.arguments(strictyaml.Child(main, "args"), a))
		if env := strictyaml.Child(main, "env"); env != nil {
			for _, e := range env.Content {
				if strictyaml.Scalar(e, "name") == "VLLM_ADDITIONAL_ARGS" {
					words.join(r.arguments(strictyaml.Child(e, "value"), a))
				}
			}
		}
		words.divided(layout, [2]string{"tensor", "--tensor-parallel-size"}, [2]string{"pipeline", "--pipeline-parallel-size"},
			[2]string{"data", "--data-parallel-size"}, [2]string{"dataLocal", "--data-parallel-size-local"})
		if n := strictyaml.Child(layout, "expert"); n != nil && n.Value == "true" {
			words.add(n.Line, "--enable-expert-parallel")
		}
		if err := r.command(file, words, a); err != nil {
			return err
		}
	}
	return nil
}

// divided adds the flags of sizes that charts and controllers have keys for.
func (c *call) divided(layout *yaml.Node, flags ...[2]string) {
	for _, f := range flags {
		if n := strictyaml.Child(layout, f[0]); n != nil && n.Kind == yaml.ScalarNode && n.Value != "" {
			c.add(n.Line, f[1], n.Value)
		}
	}
}

// skypilot reads the commands of a service or task of SkyPilot, which every replica runs.
func (r *reader) skypilot(file string, root *yaml.Node) error {
	service, run := strictyaml.Child(root, "service"), strictyaml.Child(root, "run")
	count, _ := number(cmp.Or(strictyaml.Scalar(service, "replicas"), strictyaml.Scalar(service, "replica_policy", "min_replicas")))
	a := around{count: max(1, count)}
	a.version, a.dynamo = imageReleases(strings.TrimPrefix(strictyaml.Scalar(root, "resources", "image_id"), "docker:"))
	return r.script(file, run.Value, strictyaml.TextLine(run), r.environment(root, a))
}
