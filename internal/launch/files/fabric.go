package files

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// crosses reports whether the pods of a pool exchange data with others over the network of nodes: of the same worker, or caches of prefill
// and decode workers.
func crosses(v *launch.Values) bool {
	return (v.Nodes > 1 && !racked(v) || v.Role != deployment.Both) && (v.Device.Vendor == device.NVIDIA || v.Device.Vendor == device.AMD)
}

// racked reports whether the nodes of a worker are joined like the devices of one: trays of a rack.
func racked(v *launch.Values) bool { return v.Nodes > 1 && v.Devices <= v.Device.Rack }

// fabric is what pods need where their devices talk over a network: RDMA, a domain of NVLink, one group of nodes.
type fabric struct{ objects }

// rdma is the resource of the site's devices for RDMA and how many a pod takes, none where it does not need them.
func (w fabric) rdma(v *launch.Values) (resource string, count int) {
	if w.Site.RDMA == "" || !crosses(v) {
		return "", 0
	}
	resource, number, _ := strings.Cut(w.Site.RDMA, "=")
	count, err := strconv.Atoi(number)
	if err != nil { // none is given: a plugin that shares devices hands out all for one
		count = 1
	}
	return resource, count
}

// isEFA reports a resource of AWS, which UCX does not drive.
func isEFA(resource string) bool { return resource == "vpc.amazonaws.com/efa" }

// fabricEnvironment are the variables of what crosses between pods. Ranks meet over the pod's own network: those of RDMA's devices may have
// interfaces that come first by name (NCCL's documentation, NCCL_SOCKET_IFNAME). UCX takes TCP if it finds nothing better, unless it may not
// (Dynamo's guide to disaggregated communication, UCX_TLS). Memory of devices is mapped over a rack only if it is allocated for that (NCCL's
// documentation, NCCL_CUMEM_ENABLE and NCCL_MNNVL_ENABLE; vLLM turns the first off).
func (w fabric) fabricEnvironment(v *launch.Values) [][2]string {
	var out [][2]string
	if resource, _ := w.rdma(v); resource != "" {
		out = append(out, [2]string{"NCCL_SOCKET_IFNAME", "eth0"}, [2]string{"GLOO_SOCKET_IFNAME", "eth0"})
		if v.Role != deployment.Both && !isEFA(resource) {
			memory := "cuda_copy,cuda_ipc"
			if v.Device.Vendor == device.AMD {
				memory = "rocm_copy,rocm_ipc"
			}
			out = append(out, [2]string{"UCX_TLS", "rc_x,rc,dc_x,dc," + memory})
		}
	}
	if racked(v) {
		out = append(out, [2]string{"NCCL_CUMEM_ENABLE", "1"}, [2]string{"NCCL_MNNVL_ENABLE", "1"})
	}
	return out
}

// The domain of a rack in which pods may map the memory of each other's devices: a claim of each pod, made from a template (NVIDIA's DRA
// driver, ComputeDomain).
const domainClaim = "domain"

func (w fabric) domainTemplate(p part) string { return w.partName(p) + "-" + domainClaim }

// computeDomain is this domain for the workers of a part. Its number of nodes is 0: driver 25.8 and later let each of them start by itself.
func (w fabric) computeDomain(p part) *mapping {
	return w.objectOf(p, "resource.nvidia.com/v1beta1", "ComputeDomain").set("spec",
		fields("numNodes", 0, "channel", fields("resourceClaimTemplate", fields("name", w.domainTemplate(p)))))
}

// The labels of nodes that share a network: of the trays of a rack (NVIDIA's GPU feature discovery), and of a zone, which most clusters
// have.
const (
	cliqueLabel = "nvidia.com/gpu.clique"
	zoneLabel   = "topology.kubernetes.io/zone"
)

// domainClaims are the claims of a pod of a part in such a domain.
func (w fabric) domainClaims(p part) []*mapping {
	return []*mapping{fields("name", domainClaim, "resourceClaimTemplateName", w.domainTemplate(p))}
}

// inDomain gives a container and its pod the claim of the domain of their rack, if the workers of the part span one.
func (w fabric) inDomain(p part, v *launch.Values, container, pod *mapping) {
	if racked(v) {
		container.setPath([]string{"resources", "claims"}, []*mapping{fields("name", domainClaim)})
		pod.set("resourceClaims", w.domainClaims(p))
	}
}

// The labels that the controller of LeaderWorkerSets gives their pods.
const (
	setLabel    = "leaderworkerset.sigs.k8s.io/name"
	groupLabel  = "leaderworkerset.sigs.k8s.io/group-index"
	memberLabel = "leaderworkerset.sigs.k8s.io/worker-index"
)

// together places the pods of a worker on nodes that share a network: with the label that the site names, or of a rack, always, and in a zone
// where there is room. Groups differ in the label that the controller gives their pods; its own annotation for placement would keep
// all other groups away. matchLabelKeys is in Kubernetes 1.31 and later.
func (w fabric) together(pods *mapping, v *launch.Values) *mapping {
	term := fields("labelSelector", fields("matchLabels", pods), "matchLabelKeys", []string{groupLabel})
	key := w.Site.Topology
	if key == "" && racked(v) {
		key = cliqueLabel
	}
	if key != "" {
		return fields("podAffinity", fields("requiredDuringSchedulingIgnoredDuringExecution", []*mapping{term.set("topologyKey", key)}))
	}
	return fields("podAffinity", fields("preferredDuringSchedulingIgnoredDuringExecution",
		[]*mapping{fields("weight", 100, "podAffinityTerm", term.set("topologyKey", zoneLabel))}))
}

// fabricHint says what the figures assume about the network and nothing in the objects asks for.
func (w fabric) fabricHint() string { return w.rdmaHint() + w.groupHint() }

// rdmaHint is about the devices that carry data between nodes.
func (w fabric) rdmaHint() string {
	for i := range w.pools {
		if v := &w.pools[i]; crosses(v) && w.Site.RDMA == "" {
			return comment("Between nodes the prediction assumes %.0f GB/s for each device. Without RDMA there is far less: files --rdma names the resource of its devices.",
				float64(v.Device.Links[0].Bandwidth)/gigabyte)
		}
	}
	return ""
}

// groupHint is about where the pods of a LeaderWorkerSet's group are.
func (w fabric) groupHint() string {
	if !w.spans() {
		return ""
	}
	out := comment("A scheduler of gangs (Volcano, by the controller's gangSchedulingManagement, or Kueue) keeps half a LeaderWorkerSet's group from holding devices.")
	if w.Site.Topology == "" {
		out += comment("files --topology names a label of nodes that share a network, on which all pods of a group are then placed.")
	}
	return out
}

// spans reports whether a worker takes several nodes.
func (w fabric) spans() bool {
	return slices.ContainsFunc(w.pools, func(v launch.Values) bool { return v.Nodes > 1 })
}

const gigabyte = 1e9
