package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// plan is one row of the matrix: the arguments of plimsoll plan and the nodes that its system has.
type plan struct {
	name, args, system string
}

// Lengths and limits that a deployment of each shape meets. The matrix has each engine, both modes, one and several nodes, one and several
// units, and the makers of devices; ../../internal/launch/files tests what is equal for all of them.
var plans = []plan{
	{"vllm-agg", "Qwen/Qwen3-8B --gpus 4 --ttft 1000 --tpot 50 --engine vllm --serving-mode agg", "h200_sxm"},
	{"sglang-agg", "Qwen/Qwen3-8B --gpus 4 --ttft 1000 --tpot 50 --engine sglang --serving-mode agg", "h200_sxm"},
	{"trtllm-agg", "Qwen/Qwen3-8B --gpus 4 --ttft 1000 --tpot 50 --engine trtllm --serving-mode agg", "h200_sxm"},
	{"vllm-units", "Qwen/Qwen3-32B --gpus 8 --ttft 1000 --tpot 50 --engine vllm --serving-mode disagg", "h200_sxm"},
	{"sglang-units", "Qwen/Qwen3-32B --gpus 8 --ttft 1000 --tpot 50 --engine sglang --serving-mode disagg", "h200_sxm"},
	{"trtllm-units", "Qwen/Qwen3-32B --gpus 8 --ttft 1000 --tpot 50 --engine trtllm --serving-mode disagg", "h200_sxm"},
	{"vllm-nodes", "meta-llama/Llama-3.1-405B-Instruct --gpus 32 --ttft 5000 --tpot 80 --engine vllm --serving-mode agg", "h100_sxm"},
	{"sglang-nodes", "meta-llama/Llama-3.1-405B-Instruct --gpus 32 --ttft 5000 --tpot 80 --engine sglang --serving-mode agg", "h100_sxm"},
	{"vllm-nodes-disagg", "meta-llama/Llama-3.1-405B-Instruct --gpus 64 --ttft 8000 --tpot 100 --engine vllm --serving-mode disagg", "h100_sxm"},
	{"sglang-nodes-disagg", "deepseek-ai/DeepSeek-V3 --gpus 64 --ttft 5000 --tpot 80 --engine sglang --serving-mode disagg", "h100_sxm"},
	{"vllm-rate", "Qwen/Qwen3-8B --rate 30 --ttft 500 --tpot 30 --engine vllm --serving-mode agg --utilization 0.8 --spare 1", "h200_sxm"},
	{"sglang-rate", "openai/gpt-oss-20b --rate 20 --ttft 1000 --tpot 30 --engine sglang --serving-mode agg", "l40s"},
	{"vllm-sessions", "Qwen/Qwen3-32B --gpus 8 --preset agentic --host-cache 200 --ttft 3000 --tpot 50 --engine vllm", "h200_sxm"},
	{"sglang-sessions", "Qwen/Qwen3-32B --gpus 8 --preset agentic --host-cache 200 --ttft 3000 --tpot 50 --engine sglang", "h200_sxm"},
	{"vllm-amd", "meta-llama/Llama-3.1-70B-Instruct --gpus 8 --ttft 2000 --tpot 50 --engine vllm", "mi300x"},
	{"vllm-ascend", "deepseek-ai/DeepSeek-V3 --gpus 32 --ttft 5000 --tpot 80 --engine vllm-ascend --serving-mode agg", "ATLAS_800_A3_752T_128G_DIE"},
	{"sglang-gb200", "DEEPSEEK_V3 --gpus 36 --weights fp4 --ttft 2000 --tpot 40 --engine sglang", "gb200"},
}

// kind is what the nodes of a system look like: the product label that the vendor's feature discovery or device plugin sets, the resource, and how
// many devices a node has.
type kind struct {
	key, product, resource string
	devices                int
}

const nvidiaProduct = "nvidia.com/gpu.product"

var kinds = map[string]kind{
	"h100_sxm":                   {nvidiaProduct, "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu", 8},
	"h200_sxm":                   {nvidiaProduct, "NVIDIA-H200", "nvidia.com/gpu", 8},
	"l40s":                       {nvidiaProduct, "NVIDIA-L40S", "nvidia.com/gpu", 8},
	"gb200":                      {nvidiaProduct, "NVIDIA-GB200", "nvidia.com/gpu", 4},
	"mi300x":                     {"amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM", "amd.com/gpu", 8},
	"ATLAS_800_A3_752T_128G_DIE": {"accelerator-type", "module-a3-16", "huawei.com/Ascend910", 16},
}

// nodesFor are just as many nodes as some devices need, so that a rollout finds no free device, as many of another product with the same
// resource, where nothing must land, and one without devices for routers.
func nodesFor(system string, devices int) []node {
	k := kinds[system]
	out := []node{{name: "cpu-0"}}
	for i := 0; devices > 0; i++ {
		// Feature discovery labels the nodes of a rack's NVLink domain with its clique.
		out = append(out,
			node{
				fmt.Sprintf("device-%d", i),
				map[string]string{k.key: k.product, "product": system, "nvidia.com/gpu.clique": "rack"},
				k.resource,
				min(devices, k.devices),
			},
			node{fmt.Sprintf("other-%d", i), map[string]string{k.key: "other", "product": "other"}, k.resource, k.devices})
		devices -= k.devices
	}
	return out
}

// write asks the program for the plan and its files; DIR/deploy has them.
func (p *plan) write(ctx context.Context, program, dir string) error {
	args := append([]string{"plan"}, strings.Fields(p.args)...)
	args = append(args, "--system", p.system)
	if !strings.Contains(p.args, "--preset") {
		args = append(args, "--isl", "3000", "--osl", "512")
	}
	out, err := exec.CommandContext(ctx, program, append(args, "--no-changes", "-q", "--out", dir, "--force")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("plimsoll %s: %w\n%s", strings.Join(args, " "), err, tail(out))
	}
	return nil
}

// kedaFile is the file for KEDA of a deployment.
const kedaFile = "keda/scaledobject.yaml"

// autoscaler asks for the objects for KEDA again, in the namespace of the trial, which their queries name.
func (p *plan) autoscaler(ctx context.Context, program, dir string) ([]object, error) {
	out := filepath.Join(dir, "autoscaler")
	args := []string{"files", filepath.Join(dir, "plan.json"), "--namespace", p.name, "--deployment-target", "kubernetes", "keda", "--out", out, "--force"}
	if printed, err := exec.CommandContext(ctx, program, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("plimsoll %s: %w\n%s", strings.Join(args, " "), err, tail(printed))
	}
	return readObjects(filepath.Join(out, filepath.FromSlash(kedaFile)))
}

// readObjects reads the objects of a file, none where there is no such file.
func readObjects(path string) ([]object, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := decodeObjects(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return out, nil
}

func decodeObjects(r io.Reader) ([]object, error) {
	var out []object
	for d := yaml.NewDecoder(r); ; {
		var o object
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if len(o) > 0 {
			out = append(out, o)
		}
	}
}

// templates are the pod templates of a workload and how many pods each gives.
func templates(o object) map[string]template {
	replicas := 1
	if at(o, "spec", "replicas") != nil {
		replicas = number(o, "spec", "replicas")
	}
	switch text(o, "kind") {
	case "Deployment", "StatefulSet":
		return map[string]template{"template": {at(o, "spec", "template"), replicas}}
	case "LeaderWorkerSet":
		of := at(o, "spec", "leaderWorkerTemplate")
		size := max(1, number(of, "size"))
		leader := at(of, "leaderTemplate")
		if leader == nil {
			leader = at(of, "workerTemplate")
		}
		return map[string]template{"leaderTemplate": {leader, replicas}, "workerTemplate": {at(of, "workerTemplate"), replicas * (size - 1)}}
	}
	return nil
}

// withoutDomains leaves out ComputeDomains and the claims on them: NVIDIA's DRA driver, which makes both true, is not part of this.
func withoutDomains(objects []object) (rest []object, left int) {
	for _, o := range objects {
		if text(o, "kind") == "ComputeDomain" {
			left++
		} else {
			rest = append(rest, o)
		}
	}
	if left == 0 {
		return rest, 0
	}
	for _, o := range rest {
		for _, t := range templates(o) {
			if spec, ok := at(t.pod, "spec").(object); ok {
				delete(spec, "resourceClaims")
			}
			for _, c := range list(t.pod, "spec", "containers") {
				if resources, ok := at(c, "resources").(object); ok {
					delete(resources, "claims")
				}
			}
		}
	}
	return rest, left
}

type template struct {
	pod   any
	count int
}

// devices counts the devices that the pods of some objects ask for.
func devices(objects []object, resource string) int {
	sum := 0
	for _, o := range objects {
		for _, t := range templates(o) {
			for _, c := range list(t.pod, "spec", "containers") {
				sum += t.count * number(c, "resources", "limits", resource)
			}
		}
	}
	return sum
}
