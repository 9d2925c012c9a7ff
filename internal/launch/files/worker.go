package files

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// bootstrap is the port at which a prefill worker of SGLang meets the others.
func bootstrap(serial int) int { return launch.DefaultPort(launch.SGLang, launch.Bootstrap) + serial }

// scripts is processes that are started on nodes.
type scripts struct{ routers }

// workerPort is where a worker's server listens: workers have ports of their own,
// above those of the routers.
func (w scripts) workerPort(s *slot) int {
	if w.alone() {
		return w.Site.Port
	}
	return w.Site.Port + launch.WorkerPorts + s.serial
}

// listen are the flags of the engine's own server for its address. TensorRT-LLM's
// are the same.
func listen(port int) []string { return []string{"--host", "0.0.0.0", "--port", strconv.Itoa(port)} }

// bootstrapFlag is the port of SGLang's prefill workers, counted from the default.
func (s *slot) bootstrapFlag(offset int) []string {
	if s.Engine != launch.SGLang || s.Role != deployment.Prefill {
		return nil
	}
	return []string{"--disaggregation-bootstrap-port", strconv.Itoa(bootstrap(offset))}
}

// command is the command line of a worker's process on a node. Before it stands a
// launcher where TensorRT-LLM runs on several nodes; the command is empty on the others
// of these.
func (w scripts) command(at *slot, by launch.Program, configs string) (launch.Command, error) {
	out := launch.Literals(at.Command(by, w.Site.ServedName, configs+configFile(at.Role))...)
	switch {
	case at.Nodes == 1:
		out = append(out, w.apart(at)...)
	case at.Engine == launch.TRTLLM && !at.leads():
		return nil, nil
	case at.Engine == launch.TRTLLM:
		out = append(at.mpirun(), out...)
	default:
		flags, err := at.spanning(at.rank, w.nodeAddress(at.home))
		if err != nil {
			return nil, err
		}
		if out = append(out, flags...); at.Engine == launch.VLLM && !at.leads() {
			out = out.Add(at.Option("nodes.follows"))
		}
	}
	if at.leads() {
		if by == launch.OwnServer {
			out = out.Add(listen(w.workerPort(at))...)
		}
		out = out.Add(at.bootstrapFlag(at.serial)...)
	}
	return out, nil
}

// rendezvous is the port where the nodes of a worker of SGLang meet.
const rendezvous = 20000

// apart gives a worker of SGLang whose ranks meet over TCP ports of its own: those it takes by itself, from its port of requests on, overlap
// with those of the worker at the next one.
func (w scripts) apart(at *slot) launch.Command {
	if w.alone() || at.RendezvousPorts() == 0 {
		return nil
	}
	most := 0
	for i := range w.pools {
		most = max(most, w.pools[i].RendezvousPorts())
	}
	first := rendezvous + most*(1+at.serial) // above those of a worker on several nodes
	return append(launch.Literals(at.Option("nodes.address")), launch.Expansion(fmt.Sprintf("%s:%d", w.nodeAddress(at.home), first)))
}

// mpirun starts TensorRT-LLM on all nodes of a worker from the first.
func (s *slot) mpirun() launch.Command {
	var hosts []string
	for n := range s.Nodes {
		hosts = append(hosts, fmt.Sprintf("%s:%d", nodeIP(s.home+n), s.PerNode))
	}
	out := launch.Literals("mpirun", "--allow-run-as-root", "-np", strconv.Itoa(s.Devices), "--host")
	return append(out, launch.Expansion(strings.Join(hosts, ","))).Add("trtllm-llmapi-launch")
}

// process starts a worker's process on a node in the background.
func (w scripts) process(s *script, at *slot, by launch.Program) error {
	command, err := w.command(at, by, "")
	if err != nil {
		return err
	}
	s.add("")
	if command == nil {
		s.add("# %s uses devices %s of this node; its first node starts it.", at.title(), at.devicesOf())
		s.add("sleep infinity &")
		return nil
	}
	s.add("# %s: %s", at.title(), units.Counted(at.PerNode, "device"))
	if by == launch.DynamoWorker {
		s.add("DYN_NAMESPACE=%s \\", unitNamespace(at.unit))
		s.add("DYN_SYSTEM_PORT=%d \\", systemPort+at.serial)
	}
	s.add("%s=%s \\", at.visible(), at.devicesOf())
	for _, e := range w.environment(at) {
		s.add("%s=%s \\", e[0], e[1])
	}
	if at.exchanges() {
		s.add(`%s="%s" \`, sideChannelHost, w.nodeAddress(at.home+at.rank))
	}
	s.add("%s &", command.Lines("  "))
	return nil
}

// memberRank is the rank of a pod that gets it from a LeaderWorkerSet.
const memberRank = -1

// times is a node's rank times a number, as a word.
func times(rank, n int) launch.Word {
	switch {
	case rank != memberRank:
		return launch.Expansion(strconv.Itoa(rank * n))
	case n == 1:
		return launch.Expansion("${LWS_WORKER_INDEX}")
	}
	return launch.Expansion(fmt.Sprintf("$((${LWS_WORKER_INDEX} * %d))", n))
}

// spanning are the flags of a worker's process on one of several nodes: its rank, and
// the address of the first.
func (s *slot) spanning(rank int, address string) (launch.Command, error) {
	l := &s.Layout
	nodes := launch.Literals(s.Option("nodes.count"), strconv.Itoa(s.Nodes), s.Option("nodes.rank"))
	nodes = append(nodes, times(rank, 1)).Add(s.Option("nodes.address"))
	switch {
	case s.Engine == launch.SGLang:
		return append(nodes, launch.Expansion(fmt.Sprintf("%s:%d", address, rendezvous))), nil
	case s.Engine == launch.VLLM && l.TP*l.PP <= s.PerNode && l.DP > 1 && s.Option("nodes.dp_local") != "":
		local := l.DP / s.Nodes
		out := launch.Literals(s.Option("nodes.dp_local"), strconv.Itoa(local), s.Option("nodes.dp_start"))
		out = append(out, times(rank, local)).Add(s.Option("nodes.dp_address"))
		return append(out, launch.Expansion(address)).Add(s.Option("nodes.dp_port"), "13345"), nil
	case s.Engine == launch.VLLM && l.DP == 1 && s.Option("nodes.count") != "":
		return append(nodes, launch.Expansion(address)), nil
	}
	why := "needs MPI to start"
	if s.Engine == launch.VLLM {
		why = "is not supported by the flags of " + s.Engine + " " + s.Version
	}
	return nil, cannot(Plain, "a worker on %d nodes (TP %d, PP %d, DP %d) %s", s.Nodes, l.TP, l.PP, l.DP, why)
}
