package files

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// accelerators are SkyPilot's names of devices (sky show-gpus).
func accelerators() map[string]string {
	return map[string]string{
		"a10": "A10", "a100_pcie": "A100-80GB", "a100_sxm": "A100-80GB", "a100_pcie_40gb": "A100", "a100_sxm_40gb": "A100", "a10g": "A10G", "a40": "A40",
		"b200_sxm": "B200", "b300_sxm": "B300", "gb200": "GB200", "gb300": "GB300", "h100_pcie": "H100", "h100_sxm": "H100", "h200_sxm": "H200",
		"l4": "L4", "l40": "L40", "l40s": "L40S", "mi300x": "MI300X", "rtx_4090": "RTX4090", "t4": "T4",
		"v100_pcie_16gb": "V100", "v100_sxm_16gb": "V100", "v100_pcie_32gb": "V100-32GB", "v100_sxm_32gb": "V100-32GB",
	}
}

// skypilot is a service of SkyPilot.
type skypilot struct{ scripts }

// files is a service whose replicas are a worker each, or a unit of prefill and decode workers
// with its router, on one node or several.
func (w skypilot) files() ([]launch.File, error) {
	one := w.oneOf(w.replicas())
	nodes := one.placed()
	devices := onNodes(nodes)
	kind, ok := accelerators()[w.pools[0].Device.Name]
	switch {
	case w.engine() == launch.MindIE || !ok || w.mixed():
		return nil, cannot(SkyPilot, "it has no name for nodes of %s", w.systems())
	case w.engine() == launch.TRTLLM && len(nodes) > 1:
		return nil, cannot(SkyPilot, "trtllm on %d nodes needs MPI, which SkyPilot tasks lack", len(nodes))
	case slices.Min(devices) != slices.Max(devices):
		return nil, cannot(SkyPilot, "a replica takes %v devices of its nodes, but all nodes of a SkyPilot task are equal", devices)
	}
	run, err := skypilot{one.scripts()}.run(nodes)
	if err != nil {
		return nil, err
	}
	files, err := w.configs(one, nodes)
	if err != nil {
		return nil, err
	}
	root := fields("service", fields("readiness_probe", fields("path", "/health", "initial_delay_seconds", loading), "replicas", w.replicas(),
		"load_balancer", fields("stream_timeout_seconds", abandoned)),
		"resources", fields("accelerators", fmt.Sprintf("%s:%d", kind, devices[0]), "image_id", "docker:"+w.image(&w.pools[0]),
			"disk_size", skypilotSystem+w.pods().cacheGiB()).setIf(len(nodes) > 1, "network_tier", "best").set("ports", w.Site.Port))
	root.setIf(len(nodes) > 1, "num_nodes", len(nodes)).set("secrets", fields("HF_TOKEN", ""))
	mounts := fields()
	for _, f := range files {
		name := strings.TrimPrefix(f.Path, "skypilot/")
		mounts.set(configHome+name, "./"+name)
	}
	root.setIf(len(files) > 0, "file_mounts", mounts)
	root.setIf(!one.alone() && w.hasRouter(), "setup", "pip install -q "+routerPackage(w.engine())+"\n").set("run", run)
	if w.replicas() > 1 && !w.disaggregated() {
		root.values["service"].(*mapping).set("load_balancing_policy", w.divisions().bySkyPilot().word)
	}
	heading := w.heading("SkyPilot service")
	if rate := w.Predicted.Throughput / float64(max(1, w.Output)*w.replicas()); rate > 0 {
		heading += fmt.Sprintf("# To scale with the load: in place of replicas, a replica_policy with target_qps_per_replica: %.3g (predicted).\n", rate)
	}
	data, err := encode(heading, root)
	return byPath(append(files, launch.File{Path: "skypilot/service.yaml", Mode: plainFile, Data: data})), err
}

// skypilotSystem are the GiB of a node's disk for all but the weights: as much as SkyPilot gives a node that loads none (docs,
// resources.disk_size). An engine's image has 10 to 30.
const skypilotSystem = 256

// configs are the config files of TensorRT-LLM for one replica.
func (w skypilot) configs(one *writer, nodes [][]slot) ([]launch.File, error) {
	files, err := w.configFiles("skypilot/", nil)
	if err != nil || w.hasRouter() || !w.disaggregated() {
		return files, err
	}
	data, err := encode(w.heading("Workers that trtllm-serve divides requests between"), one.routers().workersOf(nodes, 0))
	return append(files, launch.File{Path: "skypilot/" + one.routers().routingFile(0), Mode: plainFile, Data: data}), err
}

// replicas is the number of equal parts that a load balancer divides requests between.
func (w skypilot) replicas() int {
	if w.disaggregated() {
		return w.units()
	}
	return w.pools[0].Workers
}

// onNodes is the number of devices taken on each node.
func onNodes(nodes [][]slot) []int {
	out := make([]int, len(nodes))
	for i := range nodes {
		for j := range nodes[i] {
			out[i] += nodes[i][j].PerNode
		}
	}
	return out
}

// run is the script that all nodes of a replica run.
func (w skypilot) run(nodes [][]slot) (string, error) {
	body := &script{}
	for i := range nodes {
		part := &script{}
		for j := range nodes[i] {
			if err := w.process(part, &nodes[i][j], launch.OwnServer); err != nil {
				return "", err
			}
		}
		if i == 0 {
			w.start(part, 0, leaders(nodes, 0))
		}
		if len(nodes) == 1 {
			body.WriteString(part.String())
			continue
		}
		body.add("\nif [ \"${SKYPILOT_NODE_RANK}\" = %d ]; then%sfi", i, part.String())
	}
	s := &script{}
	s.add("set -euo pipefail")
	s.supervise()
	if len(nodes) > 1 {
		s.add("i=0")
		s.add(`for address in ${SKYPILOT_NODE_IPS}; do declare "NODE_${i}_IP=${address}"; i=$((i + 1)); done`)
	}
	s.WriteString(addresses(len(nodes), body.String()))
	if w.engine() == launch.TRTLLM {
		s.add("cd %s", configHome)
	}
	s.WriteString(body.String())
	s.add("\nwait -n")
	return s.String(), nil
}
