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
// exchange KV blocks, of which older releases take one for each rank.
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
		out = append(out, [2]string{"VLLM_NIXL_SIDE_CHANNEL_PORT", strconv.Itoa(launch.DefaultPort(launch.VLLM, launch.KVExchange) + s.serial*w.mostDevices())})
	}
	return out
}

// mostDevices is the largest number of devices of a worker.
func (w *writer) mostDevices() int {
	most := 1
	for i := range w.pools {
		most = max(most, w.pools[i].Devices)
	}
	return most
}

// sideChannelHost is the variable with the address of this exchange.
const sideChannelHost = "VLLM_NIXL_SIDE_CHANNEL_HOST"

// exchanges reports whether a worker of vLLM sends or receives KV blocks.
func (s *slot) exchanges() bool { return s.Engine == launch.VLLM && s.Role != deployment.Both }

// mixed reports whether the pools run on different devices.
func (w *writer) mixed() bool { return w.pools[0].Device.Name != w.pools[len(w.pools)-1].Device.Name }

// selectorHint is a comment about pools whose nodes the user has to select.
func (w *writer) selectorHint() string {
	var out strings.Builder
	for i := range w.pools {
		v := &w.pools[i]
		if _, value := productLabel(v.Device); value == "" {
			out.WriteString(comment("Add a nodeSelector to the %s pods: no label of nodes with %s is known.", roleName(v.Role), v.Device.Name))
		}
	}
	return out.String()
}

// productLabel is the label of nodes with a device. NVIDIA's GPU feature discovery and AMD's node labeller set it to the product name of
// the driver, with hyphens or underscores for spaces (README of NVIDIA/k8s-device-plugin and of ROCm/k8s-device-plugin). Names: list of
// supported GPUs of NVIDIA/open-gpu-kernel-modules 595 (df1c9a3d), and the labeller's example. A GPU that is divided or shared has a
// suffix, and is not one that a plan knows.
func productLabel(d *device.Profile) (key, value string) {
	name := d.Name
	if d.Base != "" {
		name = d.Base
	}
	if d.Vendor == device.AMD {
		return "amd.com/gpu.product-name", map[string]string{"mi300x": "AMD_Instinct_MI300X_OAM"}[name]
	}
	return "nvidia.com/gpu.product", map[string]string{
		"a10": "NVIDIA-A10", "a10g": "NVIDIA-A10G", "a30": "NVIDIA-A30", "a40": "NVIDIA-A40",
		"a100_pcie": "NVIDIA-A100-80GB-PCIe", "a100_pcie_40gb": "NVIDIA-A100-PCIE-40GB",
		"a100_sxm": "NVIDIA-A100-SXM4-80GB", "a100_sxm_40gb": "NVIDIA-A100-SXM4-40GB",
		"a800_pcie": "NVIDIA-A800-80GB-PCIe", "a800_sxm": "NVIDIA-A800-SXM4-80GB",
		"b200_sxm": "NVIDIA-B200", "b300_sxm": "NVIDIA-B300-SXM6-AC", "gb200": "NVIDIA-GB200", "gb300": "NVIDIA-GB300", "gb10": "NVIDIA-GB10",
		"gh200_96gb": "NVIDIA-GH200-480GB", "gh200_144gb": "NVIDIA-GH200-144G-HBM3e",
		"h100_nvl": "NVIDIA-H100-NVL", "h100_pcie": "NVIDIA-H100-PCIe", "h100_sxm": "NVIDIA-H100-80GB-HBM3",
		"h20": "NVIDIA-H20", "h20_141gb": "NVIDIA-H20-3e", "h200_nvl": "NVIDIA-H200-NVL", "h200_sxm": "NVIDIA-H200",
		"h800_pcie": "NVIDIA-H800-PCIe", "h800_sxm": "NVIDIA-H800", "l4": "NVIDIA-L4", "l40": "NVIDIA-L40", "l40s": "NVIDIA-L40S",
	}[name]
}
