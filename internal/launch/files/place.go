package files

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// slot is a worker's place on one node.
type slot struct {
	*launch.Values

	unit, index int // which unit, and which worker of its role in it
	serial      int // which worker of all
	rank        int // which of the worker's nodes
	home        int // the worker's first node
	first       int // its first device on the node
}

// leads reports whether the slot is on the worker's first node.
func (s *slot) leads() bool { return s.rank == 0 }

// title names the worker in comments and logs.
func (s *slot) title() string { return roleName(s.Role) + " " + strconv.Itoa(s.index) }

// placed puts the workers of all units on nodes: each in turn on the first node, or
// run of nodes, that has room.
func (w *writer) placed() [][]slot {
	var nodes [][]slot
	var taken []used
	serial := 0
	for unit := range w.units() {
		for p := range w.pools {
			v := &w.pools[p]
			for index := range w.workers(v) {
				home := w.room(v, &taken)
				for rank := range v.Nodes {
					for len(nodes) <= home+rank {
						nodes = append(nodes, nil)
					}
					nodes[home+rank] = append(nodes[home+rank], slot{v, unit, index, serial, rank, home, taken[home+rank].devices})
					taken[home+rank].devices += v.PerNode
					taken[home+rank].system = v.Device.Name
				}
				serial++
			}
		}
	}
	return nodes
}

// scripted is the writer of what is started on nodes by hand: of one unit where units share no nodes, since all others have the same
// files.
func (w *writer) scripted() *writer {
	units := w.units()
	for _, node := range w.placed() {
		if units == 1 || slices.ContainsFunc(node, func(s slot) bool { return s.unit != node[0].unit }) {
			return w
		}
	}
	one := w.oneOf(units)
	one.alike = units
	return one
}

// oneOf is the writer of one of so many equal parts of the deployment.
func (w *writer) oneOf(parts int) *writer {
	one, plan := *w, *w.Plan
	plan.Copies = 1
	one.Plan, one.pools = &plan, slices.Clone(w.pools)
	for i := range one.pools {
		one.pools[i].Workers /= parts
	}
	return &one
}

// used is how many devices of a node are taken, and which they are; "" while it is
// empty.
type used struct {
	devices int
	system  string
}

// room is the first node from which on so many have room for a worker.
func (w *writer) room(v *launch.Values, nodes *[]used) int {
	for home := 0; ; home++ {
		for len(*nodes) < home+v.Nodes {
			*nodes = append(*nodes, used{})
		}
		full := func(n used) bool {
			return n.devices+v.PerNode > max(1, v.Device.Node) || n.system != "" && n.system != v.Device.Name
		}
		if !slices.ContainsFunc((*nodes)[home:home+v.Nodes], full) {
			return home
		}
	}
}

// leaders are the places where workers of a unit begin, in the order they were
// placed.
func leaders(nodes [][]slot, unit int) []slot {
	var out []slot
	for _, node := range nodes {
		for _, s := range node {
			if s.leads() && s.unit == unit {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, func(a, b slot) int { return a.serial - b.serial })
	return out
}

// devicesOf lists the devices of a slot.
func (s *slot) devicesOf() string {
	out := make([]string, s.PerNode)
	for i := range out {
		out[i] = strconv.Itoa(s.first + i)
	}
	return strings.Join(out, ",")
}

// visible is the variable that limits a process to some devices.
func (s *slot) visible() string {
	switch s.Device.Vendor {
	case device.AMD:
		return "HIP_VISIBLE_DEVICES"
	case device.Ascend:
		return "ASCEND_RT_VISIBLE_DEVICES"
	default: // NVIDIA: newWriter has refused others
		return "CUDA_VISIBLE_DEVICES"
	}
}

// resource is what Kubernetes calls a device.
func resource(v *launch.Values) string {
	switch v.Device.Vendor {
	case device.AMD:
		return "amd.com/gpu"
	case device.Ascend:
		return "huawei.com/Ascend910"
	default:
		return "nvidia.com/gpu"
	}
}

// environment are variables of an engine's process: those that make AMD's kernels
// the engine's (both projects' AMD guides), those of Ascend's guides, and the port at which vLLM's workers
// exchange KV blocks, one for each data-parallel rank.
func (w *writer) environment(s *slot) [][2]string {
	var out [][2]string
	if s.Device.Vendor == device.AMD {
		switch s.Engine {
		case launch.VLLM:
			out = append(out, [2]string{"VLLM_ROCM_USE_AITER", "1"})
			if s.NarrowReduce {
				out = append(out, [2]string{"VLLM_ROCM_QUICK_REDUCE_QUANTIZATION", "INT4"})
			}
		case launch.SGLang:
			out = append(out, [2]string{"SGLANG_USE_AITER", "1"})
		}
	}
	if s.Device.Vendor == device.Ascend { // the guides' of both ports
		out = append(out, [2]string{"PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True"}, [2]string{"TASK_QUEUE_ENABLE", "1"}, [2]string{"HCCL_OP_EXPANSION_MODE", "AIV"})
	}
	if s.Engine == launch.TRTLLM && s.Role != deployment.Both && s.Option("transfer") == "" { // a variable before it was a key
		out = append(out, [2]string{"TRTLLM_USE_UCX_KVCACHE", "1"})
	}
	if s.exchanges() {
		out = append(out, [2]string{"VLLM_NIXL_SIDE_CHANNEL_PORT", strconv.Itoa(sideChannel + s.serial*w.mostRanks())})
	}
	return out
}

// mostRanks is the largest number of data-parallel ranks of a worker.
func (w *writer) mostRanks() int {
	most := 1
	for i := range w.pools {
		most = max(most, w.pools[i].Layout.DP)
	}
	return most
}

// sideChannel is the first port of KV exchange; vLLM's own default is 5600.
const sideChannel = 5600

// sideChannelHost is the variable with the address of this exchange.
const sideChannelHost = "VLLM_NIXL_SIDE_CHANNEL_HOST"

// exchanges reports whether a worker of vLLM sends or receives KV blocks.
func (s *slot) exchanges() bool { return s.Engine == launch.VLLM && s.Role != deployment.Both }
