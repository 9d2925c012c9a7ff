package files

import (
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// sharedMemory is the most of /dev/shm, through which the processes of an engine exchange data. Only what is used counts.
const sharedMemory = 64 * units.GiB

// processes are those of a worker on a node that each keep a CPU busy: one for each device and, for each data-parallel rank, the engine's
// own loop; where requests arrive also a server for each rank, and what balances the ranks (vLLM's documentation,
// "CPU Resources for GPU Deployments"). SGLang and TensorRT-LLM have as many.
func (s *slot) processes() int {
	ranks := max(1, s.Layout.DP/s.Nodes)
	n := s.PerNode + ranks
	if s.leads() {
		n += ranks
		if s.Layout.DP > 1 {
			n++
		}
	}
	return n
}

// resources are what an engine's container asks for. A limit for CPU would stop the loops that drive the devices. The limit for memory
// leaves room for all shared memory and for a whole checkpoint on its way to the devices; TensorRT-LLM has none, since each of its
// processes reads the checkpoint into memory.
func (w pods) resources(at *slot) *mapping {
	const each = 6 * units.GiB // memory of a device's process (vLLM's documentation, "Using Kubernetes")
	host := units.Bytes(w.Deployment.Host.GiB) / units.Bytes(at.Nodes) * units.GiB
	memory := units.Bytes(at.PerNode)*each + host
	requests := fields("cpu", at.processes(), "memory", gibibytes(memory))
	limits := fields().setIf(at.Engine != launch.TRTLLM, "memory", gibibytes(memory+sharedMemory+at.Stored)).set(resource(at.Values), at.PerNode)
	network, count := w.rdma(at.Values)
	return fields("requests", requests, "limits", limits.setIf(network != "", network, count))
}

// gibibytes is a quantity of memory as Kubernetes reads it, rounded up.
func gibibytes(n units.Bytes) string {
	return fmt.Sprintf("%dGi", int(math.Ceil(float64(n)/float64(units.GiB))))
}
