package files_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

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
		{"trtllm", "Qwen/Qwen3-32B", "mi300x", 8, both(1, tp(1)), "cannot generate files for trtllm on mi300x (amd)"},
		{"vllm-ascend", "Qwen/Qwen3-32B", "mi355x", 8, both(1, tp(1)), "cannot generate files for vllm-ascend on mi355x (amd)"},
		{"generic", "Qwen/Qwen3-32B", "h200_sxm", 8, both(1, tp(1)), "cannot generate files for the engine generic"},
		{"atom", "Qwen/Qwen3-32B", "mi355x", 8, both(1, tp(1)), "cannot generate files for the engine atom"},
		{"atom-vllm", "Qwen/Qwen3-32B", "mi355x", 8, both(1, tp(1)), "its command line is that of vllm, in ATOM's image (rocm/atom-dev:vllm-latest)"},
	} {
		p := planned(t, c.engine, "", c.model, c.system, []int{c.batch}, c.pool)
		_, _, err := files.Write(p)
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
	all, skipped, err := files.Write(p)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range all {
		texts[f.Path] = string(f.Data)
	}
	for path, want := range map[string][]string{
		"plain/node_0.sh":        {"HIP_VISIBLE_DEVICES=0,1", "VLLM_ROCM_USE_AITER=1"},
		"compose/compose.yaml":   {"/dev/kfd", "vllm/vllm-openai-rocm:v0.24.0"},
		"kubernetes/deploy.yaml": {"amd.com/gpu: 2"},
	} {
		for _, w := range want {
			if !strings.Contains(texts[path], w) {
				t.Errorf("%s: no %q in\n%s", path, w, texts[path])
			}
		}
	}
	if len(skipped) != 1 || !errors.Is(skipped[0], files.ErrCannot) || texts["node_0_run.sh"] != "" {
		t.Errorf("skipped %v", skipped)
	}
}

// TestNarrowReduce: files set what a prediction of all-reduces in 4 bits assumes.
func TestNarrowReduce(t *testing.T) {
	for _, c := range []struct {
		release string
		devices int
		want    bool
	}{{"0.10.1", 2, true}, {"0.10.1", 1, false}, {"0.24.0", 2, false}} {
		all, _, err := files.Write(planned(t, "vllm", c.release, "meta-llama/Llama-3.1-70B", "mi355x", []int{32}, both(1, tp(c.devices))), files.Plain)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(all[0].Data), "VLLM_ROCM_QUICK_REDUCE_QUANTIZATION=INT4"); got != c.want {
			t.Errorf("%+v: %t in\n%s", c, got, all[0].Data)
		}
	}
}

// TestRefusedBuffers: SGLang 0.5.14 and 0.5.15 choose buffers for hybrid models that they refuse on AMD's devices; with the prefix cache they
// start without the overlapped scheduler only (server_args.py, _validate_mamba_extra_buffer). The files come back as what was written.
func TestRefusedBuffers(t *testing.T) {
	for _, c := range []struct {
		release, model, system, setting string
		off                             bool
	}{
		{"0.5.15.post1", "Qwen/Qwen3.5-397B-A17B", "mi355x", "", true},
		{"0.5.14", "Qwen/Qwen3-Next-80B-A3B-Instruct", "mi300x", "", true},
		{"0.5.15", "Qwen/Qwen3.5-397B-A17B", "mi355x", "prefix_caching=false", false},
		{"0.5.15", "Qwen/Qwen3.5-397B-A17B", "b200_sxm", "", false},
		{"0.5.16", "Qwen/Qwen3.5-397B-A17B", "mi355x", "", false},
		{"0.5.13", "Qwen/Qwen3.5-397B-A17B", "mi355x", "", false},
		{"0.5.15", "Qwen/Qwen3-235B-A22B", "mi355x", "", false},
	} {
		pool := both(1, tp(8))
		if c.setting != "" {
			pool.Settings = []string{c.setting}
		}
		p := planned(t, "sglang", c.release, c.model, c.system, []int{32}, pool)
		all, _, err := files.Write(p, files.Plain)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(all[0].Data), "--disable-overlap-schedule"); got != c.off {
			t.Errorf("%+v: %t in\n%s", c, got, all[0].Data)
		}
		if d := same(t, p, all); d != "" {
			t.Errorf("%+v (-written +read):\n%s", c, d)
		}
	}
}

// TestMindIE: the file has the layout and the limits.
func TestMindIE(t *testing.T) {
	p := planned(t, "mindie", "", "Qwen/Qwen3-32B", "ATLAS_800_A3_752T_128G_DIE", []int{64}, both(1, tp(4)))
	all, _, err := files.Write(p, files.Plain)
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
	if all[0].Path != "plain/config.json" {
		t.Fatalf("%s", all[0].Path)
	}
	if err := json.Unmarshal(all[0].Data, &config); err != nil {
		t.Fatal(err)
	}
	b := &config.BackendConfig
	if len(b.NPU[0]) != 4 || b.Deploy.Models[0].TP != 4 || b.Deploy.Models[0].WorldSize != 4 || b.Schedule.Batch != 64 || b.Schedule.Tokens != 8192 || b.Deploy.MaxLength < 3512 {
		t.Errorf("%+v", b)
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
	all, _, err := files.Write(p)
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for target, group := range byTarget(all) {
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
