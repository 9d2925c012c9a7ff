package launch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestForeignCommands: commands that others wrote, in the spellings they use. Only
// what they say becomes a setting.
func TestForeignCommands(t *testing.T) {
	for _, c := range []struct {
		line string
		want deployment.Deployment
	}{
		{
			"CUDA_VISIBLE_DEVICES=0,1 vllm serve Qwen/Qwen3-32B -tp 2 --max_num_seqs=64 --gpu-memory-utilization 0.85 --no-enable-prefix-caching --trust-remote-code &",
			deployment.Deployment{
				Model: "Qwen/Qwen3-32B", Engine: deployment.Engine{Name: "vllm"},
				Pools: []deployment.Pool{{Role: deployment.Both, Replicas: 1, Layout: parallel.Layout{Devices: 2, TP: 2, DP: 1}, Settings: []string{"max_sequences=64", "memory_share=0.85", "prefix_caching=false"}}},
			},
		},
		{
			`python -m sglang.launch_server --model deepseek-ai/DeepSeek-V3 --tp 16 --dp-size 4 --enable-dp-attention --ep 16 --max-running-requests 256 --cuda-graph-max-bs 64 --nnodes 2 --node-rank 0`,
			deployment.Deployment{
				Model: "deepseek-ai/DeepSeek-V3", Engine: deployment.Engine{Name: "sglang"},
				Pools: []deployment.Pool{{
					Role: deployment.Both, Replicas: 1, Layout: parallel.Layout{Devices: 16, TP: 4, DP: 4, EP: 16},
					Settings: []string{"max_sequences=64", "prefix_caching=true", "graph.max_batch=64"},
				}},
			},
		},
		{
			`docker run --gpus all image bash -c "exec trtllm-serve Qwen/Qwen3-8B --tp_size 2 --max_batch_size 32 --max_num_tokens 4096"`,
			deployment.Deployment{
				Model: "Qwen/Qwen3-8B", Engine: deployment.Engine{Name: "trtllm"},
				Pools: []deployment.Pool{{Role: deployment.Both, Replicas: 1, Layout: parallel.Layout{Devices: 2, TP: 2, DP: 1}, Settings: []string{"max_sequences=32", "token_budget=4096"}}},
			},
		},
	} {
		found, err := launch.ReadCommand(c.line)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if d := cmp.Diff(c.want, found.Deployment); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.line, d)
		}
		for _, p := range found.Problems {
			t.Errorf("%s: %v", c.line, p.Error())
		}
	}
}

// TestUnknownFlags: a misspelt flag is named with the one that was meant, and kept
// with its value.
func TestUnknownFlags(t *testing.T) {
	found, err := launch.ReadCommand("vllm serve Qwen/Qwen3-32B --max-num-sequs 64 --seed 1 --enforce-eager")
	if err != nil {
		t.Fatal(err)
	}
	want := []launch.Problem{{Flag: "--max-num-sequs", Nearest: "--max-num-seqs", Text: "unknown flag of vllm"}}
	if d := cmp.Diff(want, found.Problems); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([][]string{{"--max-num-sequs", "64"}, {"--seed", "1"}}, found.Launches[0].Other); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"graph.max_batch=0"}, found.Deployment.Pools[0].Settings); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestBadValues: what is no number is a problem with the flag's name.
func TestBadValues(t *testing.T) {
	found, err := launch.ReadCommand("vllm serve m --tensor-parallel-size two")
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Problems) != 1 || found.Problems[0].Error() != `--tensor-parallel-size: wants a number, got "two"` {
		t.Errorf("%v", found.Problems)
	}
	if _, err := launch.ReadCommand("echo hello"); !errors.Is(err, launch.ErrNoLaunch) {
		t.Errorf("want ErrNoLaunch, got %v", err)
	}
}

// TestRefuses: what an engine cannot run is an error that says why.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		engine, model, system string
		batch                 int
		pool                  deployment.Pool
		want                  string
	}{
		{"vllm", "deepseek-ai/DeepSeek-V3", "h200_sxm", 8, both(1, parallel.Layout{Devices: 8, TP: 8, EP: 2, MoETP: 4}), "distributes experts over all TP × DP = 8 ranks"},
		{"trtllm", "deepseek-ai/DeepSeek-V3", "h200_sxm", 8, both(1, parallel.Layout{Devices: 8, TP: 2, DP: 4, EP: 8}), "attention with TP or with DP"},
		{"vllm", "Qwen/Qwen3-32B", "h200_sxm", 9000, both(1, tp(1)), "token_budget 8192 is less than the 9000 tokens of a decode step"},
		{"trtllm", "Qwen/Qwen3-32B", "mi300x", 8, both(1, tp(1)), "there are no files for trtllm on mi300x (amd)"},
		{"generic", "Qwen/Qwen3-32B", "h200_sxm", 8, both(1, tp(1)), "there are no files for the engine generic"},
		{"atom", "Qwen/Qwen3-32B", "mi355x", 8, both(1, tp(1)), "there are no files for the engine atom"},
	} {
		p := planned(t, c.engine, "", c.model, c.system, []int{c.batch}, c.pool)
		_, _, err := launch.Write(p)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %s: want %q, got %v", c.engine, c.system, c.want, err)
		}
	}
}

// TestWorkersOfRanks: TensorRT-LLM's servers have one rank, so the ranks of a dense
// model become workers.
func TestWorkersOfRanks(t *testing.T) {
	p := planned(t, "trtllm", "1.3.0rc23", "Qwen/Qwen3-32B", "h200_sxm", []int{8}, both(2, parallel.Layout{Devices: 4, TP: 2, DP: 2}))
	v, err := p.Values()
	if err != nil {
		t.Fatal(err)
	}
	if v[0].Workers != 4 || v[0].Devices != 2 || v[0].Layout.DP != 1 {
		t.Errorf("%d workers of %d devices, %+v", v[0].Workers, v[0].Devices, v[0].Layout)
	}
}

// TestAMD: images, devices and variables are AMD's.
func TestAMD(t *testing.T) {
	p := planned(t, "vllm", "0.24.0", "Qwen/Qwen3-32B", "mi300x", []int{32}, both(1, tp(2)))
	files, skipped, err := launch.Write(p)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		all[f.Path] = string(f.Data)
	}
	for path, want := range map[string][]string{
		"plain/node_0.sh":        {"HIP_VISIBLE_DEVICES=0,1", "VLLM_ROCM_USE_AITER=1"},
		"compose/compose.yaml":   {"/dev/kfd", "vllm/vllm-openai-rocm:v0.24.0"},
		"kubernetes/deploy.yaml": {"amd.com/gpu: 2"},
	} {
		for _, w := range want {
			if !strings.Contains(all[path], w) {
				t.Errorf("%s: no %q in\n%s", path, w, all[path])
			}
		}
	}
	if len(skipped) != 1 || !errors.Is(skipped[0], launch.ErrCannot) || all["node_0_run.sh"] != "" {
		t.Errorf("skipped %v", skipped)
	}
}

// TestMindIE: the file has the layout and the limits.
func TestMindIE(t *testing.T) {
	p := planned(t, "mindie", "", "Qwen/Qwen3-32B", "ATLAS_800_A3_752T_128G_DIE", []int{64}, both(1, tp(4)))
	files, _, err := launch.Write(p, launch.Plain)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		BackendConfig struct {
			NPU    [][]int `json:"npuDeviceIds"`
			Deploy struct {
				MaxLength int `json:"maxSeqLen"`
				Models    []struct {
					WorldSize, TP int
				} `json:"ModelConfig"`
			} `json:"ModelDeployConfig"`
			Schedule struct {
				Batch  int `json:"maxBatchSize"`
				Tokens int `json:"maxPrefillTokens"`
			} `json:"ScheduleConfig"`
		}
	}
	if files[0].Path != "plain/config.json" {
		t.Fatalf("%s", files[0].Path)
	}
	if err := json.Unmarshal(files[0].Data, &config); err != nil {
		t.Fatal(err)
	}
	b := &config.BackendConfig
	if len(b.NPU[0]) != 4 || b.Deploy.Models[0].TP != 4 || b.Deploy.Models[0].WorldSize != 4 || b.Schedule.Batch != 64 || b.Schedule.Tokens != 8192 || b.Deploy.MaxLength < 3512 {
		t.Errorf("%+v", b)
	}
}

// TestForeignManifests: containers that start vLLM by their image.
func TestForeignManifests(t *testing.T) {
	for name, text := range map[string]string{
		"deployment.yaml": `
kind: Deployment
spec:
  replicas: 3
  template: {spec: {containers: [{image: "vllm/vllm-openai:v0.24.0", args: [--model, Qwen/Qwen3-8B, --tensor-parallel-size, "2"], resources: {limits: {nvidia.com/gpu: 2}}}]}}
`,
		"compose.yaml": `
services:
  a: &a
    image: vllm/vllm-openai:v0.24.0
    command: --model Qwen/Qwen3-8B --tensor-parallel-size 2
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 2, capabilities: [gpu]}]}}}
  b: {image: vllm/vllm-openai:v0.24.0, command: [Qwen/Qwen3-8B, --tensor-parallel-size, "2"]}
  c: {image: vllm/vllm-openai:v0.24.0, entrypoint: vllm serve, command: Qwen/Qwen3-8B -tp 2}
`,
	} {
		found, err := launch.Read(launch.File{Path: name, Data: []byte(text)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := []deployment.Pool{{Role: deployment.Both, Replicas: 3, Layout: parallel.Layout{Devices: 2, TP: 2, DP: 1}}}
		if d := cmp.Diff(want, found.Deployment.Pools); d != "" || found.Deployment.Model != "Qwen/Qwen3-8B" || found.Launches[0].Requested != 2 {
			t.Errorf("%s: %s asks for %d (-want +got):\n%s", name, found.Deployment.Model, found.Launches[0].Requested, d)
		}
	}
}

// TestTwoSystems: prefill and decode on different devices share no node, and both
// come back.
func TestTwoSystems(t *testing.T) {
	p := &launch.Plan{
		Deployment: deployment.Deployment{
			Model: "Qwen/Qwen3-32B", System: "h200_sxm", Engine: deployment.Engine{Name: "vllm", Version: "0.24.0"},
			Pools: []deployment.Pool{prefill(1, tp(2)), decode(2, tp(4))},
		},
		Input: 1000, Output: 100, Batch: []int{1, 32},
	}
	p.Deployment.Pools[0].System = "b200_sxm"
	resolve(t, p)
	files, _, err := launch.Write(p)
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for target, group := range byTarget(files) {
		if d := same(t, p, group); d != "" {
			t.Errorf("%s (-written +read):\n%s", target, d)
		}
		for _, f := range group {
			if strings.HasPrefix(f.Path, "plain/node_") {
				scripts++
			}
		}
	}
	if scripts != 2 {
		t.Errorf("want two nodes, got %d", scripts)
	}
}
