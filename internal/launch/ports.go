package launch

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// The programs beside the engines that files start.
const (
	VLLMRouter     = "vllm-router"
	SGLangRouter   = "sglang-router"
	TRTLLMRouter   = "trtllm-serve disaggregated"
	DynamoFrontend = "dynamo.frontend"
	DynamoVLLM     = "dynamo.vllm"
	DynamoSGLang   = "dynamo.sglang"
	DynamoTRTLLM   = "dynamo.trtllm"
)

// Purpose is what a program opens a port for.
type Purpose string

// The purposes of ports.
const (
	Requests   Purpose = "requests"
	Metrics    Purpose = "metrics"     // apart from requests
	Management Purpose = "management"  // of the program itself
	Bootstrap  Purpose = "bootstrap"   // where SGLang's prefill workers tell the others of their caches
	KVExchange Purpose = "KV exchange" // where vLLM's NIXL connector tells the same
	Rendezvous Purpose = "rendezvous"  // of the ranks of a worker, over TCP
)

// listener is a port that a program opens.
type listener struct {
	program string
	purpose Purpose
	// number is the default, 0 where the program opens the port only if it is given one. from are the flags that give it, or a variable
	// of the environment, or a key of the program's config file.
	number int
	from   []string
	// count is how many ports it opens from this one on, nil = one.
	count func(*invocation) int
}

// derivedSGLang is the distance from the port of requests to that of the rendezvous, which SGLang takes where no address is given
// (server_args.py, ZMQ_TCP_PORT_DELTA), and fixedSGLang the ports from there on that do not depend on the number of ranks (PortArgs.init_new).
const derivedSGLang, fixedSGLang = 233, 7

// listeners is the one table of ports, with the programs' own defaults. Ports that the system chooses, of which no two are the same, are not
// in it: those of torch.distributed on one node, of MPI, and of NIXL and UCX.
//
//   - vLLM 0.9 to 0.27: vllm/envs.py and vllm/config/parallel.py; nixl_connector.py (one port for each rank of data parallelism, and before
//     0.11.1 for each of tensor parallelism).
//   - SGLang 0.5: sglang/srt/server_args.py.
//   - TensorRT-LLM 1.0 to 1.3: tensorrt_llm/commands/serve.py and llmapi/disagg_utils.py.
//   - MindIE 2: its developer guide, ServerConfig.
//   - vllm-router 0.1.16 and sglang-router 0.3.2: --help.
//   - Dynamo 1.4: its guides to the frontend and to observability; without a variable its workers have no system port, and those of SGLang
//     take a free port for bootstrap (dynamo/sglang/args.py).
func listeners() []listener {
	return []listener{
		{VLLM, Requests, 8000, []string{"--port"}, leading},
		{VLLM, Rendezvous, 29501, []string{"--master-port"}, meetsNodes},
		{VLLM, Rendezvous, 29550, []string{"--data-parallel-rpc-port"}, meetsRanks},
		{VLLM, KVExchange, 5600, []string{"VLLM_NIXL_SIDE_CHANNEL_PORT"}, exchanging},
		{SGLang, Requests, 30000, []string{"--port"}, leading},
		{SGLang, Rendezvous, 0, []string{"--dist-init-addr"}, meetsSGLang},
		{SGLang, Bootstrap, 8998, []string{"--disaggregation-bootstrap-port"}, prefilling},
		{TRTLLM, Requests, 8000, []string{"--port"}, nil},
		{MindIE, Requests, 1025, []string{"port"}, nil},
		{MindIE, Management, 1026, []string{"managementPort"}, nil},
		{MindIE, Metrics, 1027, []string{"metricsPort"}, nil},
		{VLLMRouter, Requests, 30000, []string{"--port"}, nil},
		{VLLMRouter, Metrics, 29000, []string{"--prometheus-port"}, nil},
		{SGLangRouter, Requests, 30000, []string{"--port"}, nil},
		{SGLangRouter, Metrics, 29000, []string{"--prometheus-port"}, nil},
		{TRTLLMRouter, Requests, 8000, []string{"port"}, nil},
		{DynamoFrontend, Requests, 8000, []string{"--http-port", "DYN_HTTP_PORT"}, nil},
		{DynamoVLLM, Management, 0, []string{"DYN_SYSTEM_PORT"}, nil},
		{DynamoVLLM, Rendezvous, 29501, []string{"--master-port"}, meetsNodes},
		{DynamoVLLM, Rendezvous, 29550, []string{"--data-parallel-rpc-port"}, meetsRanks},
		{DynamoVLLM, KVExchange, 5600, []string{"VLLM_NIXL_SIDE_CHANNEL_PORT"}, exchanging},
		{DynamoSGLang, Management, 0, []string{"DYN_SYSTEM_PORT"}, nil},
		{DynamoSGLang, Rendezvous, 0, []string{"--dist-init-addr"}, meetsSGLang},
		{DynamoSGLang, Bootstrap, 0, []string{"--disaggregation-bootstrap-port"}, prefilling},
		{DynamoTRTLLM, Management, 0, []string{"DYN_SYSTEM_PORT"}, nil},
	}
}

// DefaultPort is the port that a program opens for a purpose where nobody gives another, 0 if it opens none by itself.
func DefaultPort(program string, purpose Purpose) int {
	for _, l := range listeners() {
		if l.program == program && l.purpose == purpose {
			return l.number
		}
	}
	return 0
}

// RendezvousPorts is how many ports a worker on one node opens from that of its rendezvous on: SGLang's with data-parallel attention.
func (v *Values) RendezvousPorts() int {
	if v.Engine != SGLang || !v.written.AttentionDP && v.written.AttentionRanks <= 1 {
		return 0
	}
	return fixedSGLang + v.Layout.DP
}

// Process is a program that files start.
type Process struct {
	File    string
	Line    int
	Host    string // the node that a step of Slurm names, else "": that of the file
	Program string
	Ports   []Opened
	// In is the container of a manifest that runs it, nil on a host. Remote says that a command in front of it takes it elsewhere: to another
	// host, or into a container with ports of its own.
	In     *yaml.Node
	Remote bool
	// Beside says that what follows starts while it runs, and Maybe that it is in one of several branches of a script.
	Beside, Maybe bool
	// After is how many commands before it end processes, or wait for their end.
	After int
}

// Opened are ports that a process listens on: so many from the first on.
type Opened struct {
	Purpose      Purpose
	First, Count int
}

// Processes are the programs of the table that files start, with their ports. Config files that they name are found by their base names, before
// which a job may put its own.
func Processes(files ...File) ([]Process, error) {
	r := newReader()
	for _, f := range files {
		if err := r.file(f); err != nil {
			return nil, err
		}
	}
	return r.processes(files), r.budget.err
}

// processes are those that were found.
func (r *reader) processes(files []File) []Process {
	out := make([]Process, len(r.invoked))
	for i := range r.invoked {
		c := &r.invoked[i]
		if j := slices.IndexFunc(files, func(f File) bool { return strings.HasSuffix(c.configName(), path.Base(f.Path)) }); j >= 0 {
			c.config = files[j].Data
		}
		out[i] = Process{
			File: c.file, Line: c.line, Host: c.value("--nodelist"), Program: c.program, Ports: c.ports(),
			In: c.around.container, Remote: c.remote(), Beside: c.around.beside, Maybe: c.around.maybe, After: c.after,
		}
	}
	return out
}

// remote reports a command that starts the program on another host, or in a container with ports of its own.
func (c *invocation) remote() bool {
	for i, w := range c.words {
		if strings.Contains(w, "=") && !strings.HasPrefix(w, "-") { // a variable before it
			continue
		}
		switch path.Base(w) {
		case "srun":
			return c.value("--nodelist") == ""
		case "docker", "podman", "nerdctl":
			own := !slices.Contains([]string{c.value("--network"), c.value("--net")}, "host")
			return i+1 < len(c.words) && own
		case "ssh", "pdsh", "clush", "kubectl", "mpirun", "mpiexec", "scontrol":
			return true
		}
		return false
	}
	return false
}

// invocation is a command that starts a program of the table.
type invocation struct {
	file    string
	line    int
	program string
	words   []string
	env     map[string]string
	config  []byte
	around  around
	after   int
}

// invoke keeps a command that starts a program of the table.
func (r *reader) invoke(file string, c call, a around) {
	if len(c.words) > 0 && slices.Contains([]string{"kill", "pkill", "killall", "wait", "fuser", "xargs"}, path.Base(c.words[0])) {
		r.ended++
	}
	program := programOf(c)
	if program == "" {
		return
	}
	env := map[string]string{}
	for name, v := range a.env {
		env[name] = v.String()
	}
	for _, w := range c.words { // after "env", and in the middle of others that no program takes for a variable
		if name, value, ok := strings.Cut(w, "="); ok && !strings.HasPrefix(w, "-") {
			env[name] = value
		}
	}
	r.invoked = append(r.invoked, invocation{file: file, line: c.lines[0], program: program, words: c.words, env: env, around: a, after: r.ended})
}

// programOf is the program of the table that a command starts, "" if it starts none.
func programOf(c call) string {
	name, by, _ := starts(c)
	switch {
	case name != "" && by == DynamoWorker:
		return "dynamo." + name
	case name != "":
		return name
	}
	if name, _ := RouterOf(c.words); name != "" {
		return name
	}
	for i, w := range c.words {
		next := ""
		if i+1 < len(c.words) {
			next = c.words[i+1]
		}
		switch base := path.Base(w); {
		case w == "-m" && next == DynamoFrontend:
			return DynamoFrontend
		case base == "trtllm-serve" && next == "disaggregated":
			return TRTLLMRouter
		case base == "mindieservice_daemon":
			return MindIE
		}
	}
	return ""
}

// RouterOf is the router of vLLM's or SGLang's project that a command starts, with its arguments; "" if it starts none. Releases after 0.3 call
// SGLang's smg.
func RouterOf(words []string) (program string, arguments []string) {
	for i, w := range words {
		rest := words[i+1:]
		module := w == "-m" && len(rest) > 0
		switch base := path.Base(w); {
		case base == VLLMRouter:
			return VLLMRouter, rest
		case base == SGLangRouter || base == "smg":
			return SGLangRouter, rest
		case module && within(rest[0], "vllm_router"):
			return VLLMRouter, rest[1:]
		case module && within(rest[0], "sglang_router"):
			return SGLangRouter, rest[1:]
		}
	}
	return "", nil
}

// within reports whether a module of Python is a package or in it.
func within(module, pkg string) bool { return module == pkg || strings.HasPrefix(module, pkg+".") }

// value is that of a flag, "" if it is not given.
func (c *invocation) value(flags ...string) string {
	for i, w := range c.words {
		name, value, joined := strings.Cut(w, "=")
		if !strings.HasPrefix(name, "-") || !slices.Contains(flags, strings.ReplaceAll(name, "_", "-")) {
			continue
		}
		if !joined && i+1 < len(c.words) {
			value = c.words[i+1]
		}
		return value
	}
	return ""
}

// flagged reports whether a flag is there, whatever its value.
func (c *invocation) flagged(flag string) bool {
	return slices.ContainsFunc(c.words, func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return strings.HasPrefix(name, "--") && strings.ReplaceAll(name, "_", "-") == flag
	})
}

// size is the number that a flag gives, or another.
func (c *invocation) size(or int, flags ...string) int {
	if n, ok := number(c.value(flags...)); ok {
		return n
	}
	return or
}

// has reports whether a flag is there.
func (c *invocation) has(flag string) bool { return slices.Contains(c.words, flag) }

// configName is the config file of the program.
func (c *invocation) configName() string {
	if c.program == MindIE {
		return "config.json"
	}
	return c.value("-c", "--config-file", "--config")
}

// given is the number that a flag, a variable or the config file gives for a port.
func (c *invocation) given(from []string) (int, bool) {
	for _, name := range from {
		text := c.env[name]
		switch {
		case strings.HasPrefix(name, "--"):
			text = c.value(name)
			text = text[strings.LastIndexByte(text, ':')+1:] // of an address
		case text == "":
			text = c.key(name)
		}
		if n, ok := number(text); ok || text != "" || c.flagged(name) { // 0 where only a run tells it
			return n, true
		}
	}
	return 0, false
}

// key is a value of the config file, at its top or in MindIE's section for the server.
func (c *invocation) key(name string) string {
	all, err := strictyaml.Documents(c.config)
	if err != nil || len(all) == 0 {
		return ""
	}
	for _, n := range []*yaml.Node{all[0], strictyaml.Child(all[0], "ServerConfig")} {
		if text := strictyaml.Scalar(n, name); text != "" {
			return text
		}
	}
	return ""
}

// ports are those that the process opens.
func (c *invocation) ports() []Opened {
	var out []Opened
	for _, l := range listeners() {
		if l.program != c.program {
			continue
		}
		first, given := c.given(l.from)
		if !given {
			first = l.number
		}
		if !given && slices.Contains(l.from, "--dist-init-addr") {
			first = c.size(DefaultPort(SGLang, Requests), "--port") + derivedSGLang
		}
		n := 1
		if l.count != nil {
			n = l.count(c)
		}
		if n > 0 && first > 0 { // -1 is none of Dynamo's
			out = append(out, Opened{l.purpose, first, n})
		}
	}
	return out
}

// ranks is the number of data-parallel ranks of a worker.
func (c *invocation) ranks() int {
	return max(1, c.size(1, "--data-parallel-size", "-dp", "--dp-size", "--dp"), c.size(1, "--attention-data-parallel-size", "--attn-dp-size"))
}

// leading opens a port on the first node of a worker alone: the processes on others only join it.
func leading(c *invocation) int {
	if c.has("--headless") || c.size(0, "--node-rank", "-r") > 0 {
		return 0
	}
	return 1
}

// meetsNodes opens the port where the nodes of a worker of vLLM meet, and meetsRanks that of its data-parallel ranks on several nodes.
func meetsNodes(c *invocation) int {
	if c.size(1, "--nnodes", "-n") == 1 {
		return 0
	}
	return leading(c)
}

func meetsRanks(c *invocation) int {
	if c.value("--data-parallel-address", "-dpa") == "" {
		return 0
	}
	return leading(c)
}

// meetsSGLang opens the ports of the ranks of SGLang: on several nodes, and with data-parallel attention on one too, where all its
// processes talk over TCP.
func meetsSGLang(c *invocation) int {
	switch {
	case c.size(0, "--node-rank") > 0:
		return 0
	case c.has("--enable-dp-attention") || c.size(1, "--attention-data-parallel-size", "--attn-dp-size") > 1:
		return fixedSGLang + c.ranks()
	case c.size(1, "--nnodes") > 1:
		return 1
	}
	return 0
}

// exchanging opens the ports of vLLM's NIXL connector: one for each rank.
func exchanging(c *invocation) int {
	if !strings.Contains(c.value("--kv-transfer-config"), "NixlConnector") {
		return 0
	}
	return c.ranks() * max(1, c.size(1, "--tensor-parallel-size", "-tp"))
}

// prefilling opens the port of prefill workers.
func prefilling(c *invocation) int {
	if c.value("--disaggregation-mode") != "prefill" {
		return 0
	}
	return leading(c)
}
