package launch_test

import (
	"errors"
	"reflect"
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
			t.Errorf("%s: %+v", c.line, p)
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
	want := []launch.Problem{{Line: 1, Flag: "--max-num-sequs", Nearest: "--max-num-seqs", Text: "unknown flag of vllm"}}
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
	if len(found.Problems) != 1 || !reflect.DeepEqual(found.Problems[0], launch.Problem{Kind: launch.BadValue, Line: 1, Flag: "--tensor-parallel-size", Text: `needs a number, got "two"`}) {
		t.Errorf("%v", found.Problems)
	}
	if _, err := launch.ReadCommand("echo hello"); !errors.Is(err, launch.ErrNoLaunch) {
		t.Errorf("want ErrNoLaunch, got %v", err)
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

// TestScripts: what a shell makes of a script, and not what its text looks like.
func TestScripts(t *testing.T) {
	for name, text := range map[string]string{
		"run.sh":     "export A=1\nif true; then\n  A=2 vllm serve \\\n    'Qwen/Qwen3-8B' \"-tp\" 2 >log 2>&1 & # --bad-flag\nfi\nwait",
		"quotes.sh":  `vllm serve "Qwen"/'Qwen3-8B' -t\p=2`,
		"remote.sh":  "ssh node bash <<EOF\nvllm serve Qwen/Qwen3-8B -tp 2\nEOF",
		"nested.sh":  `docker run x bash -c 'exec vllm serve Qwen/Qwen3-8B -tp 2 "$@"'`,
		"run.txt":    "# modelCommand: vllmServe\nvllm serve Qwen/Qwen3-8B -tp 2\n",
		"values.yml": "# modelCommand: vllmServe\nspec: {containers: [{command: [vllm, serve, Qwen/Qwen3-8B, -tp, '2']}]}\n",
	} {
		found, err := launch.Read(launch.File{Path: name, Data: []byte(text)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(found.Launches) != 1 || found.Deployment.Model != "Qwen/Qwen3-8B" || found.Deployment.Pools[0].Layout.TP != 2 || len(found.Problems) > 0 {
			t.Errorf("%s: %+v, %v", name, found.Deployment, found.Problems)
		}
	}
	for name, text := range map[string]string{
		"run.txt":     "# modelCommand: vllmServe\n",
		"empty.yaml":  "# modelCommand: vllmServe\ndecode:\n",
		"list.yaml":   "# modelCommand: vllmServe\n- decode\n",
		"values.yaml": "decode: {containers: []}\nprefill: {containers: [{modelCommand: custom}]}\n",
	} {
		if _, err := launch.Read(launch.File{Path: name, Data: []byte(text)}); !errors.Is(err, launch.ErrNoLaunch) {
			t.Errorf("%s: want ErrNoLaunch, got %v", name, err)
		}
	}
	_, err := launch.Read(launch.File{Path: "run.sh", Data: []byte("vllm serve 'Qwen\n")})
	if want := "run.sh: not a shell script: 1:12: reached EOF without closing quote `'`"; err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
}

// TestCommentAgainstFlags: an engine does not read comments, so a comment about formats that its flags do not ask for is an error.
func TestCommentAgainstFlags(t *testing.T) {
	const command = "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2"
	for _, c := range []struct {
		name, formats, flags, want string
	}{
		{"as it is", `{}`, "", ""},
		{"converted", `{"checkpoint":"fp8"}`, " --quantization fp8", ""},
		{"cache", `{"kv":"fp8"}`, " --kv-cache-dtype fp8", ""},
		{"weights of another checkpoint", `{"gemm":"nvfp4","moe":"nvfp4"}`, "", "weights of Qwen/Qwen3-32B in nvfp4"},
		{"no conversion", `{"checkpoint":"fp8"}`, "", "in fp8"},
		{"unsaid conversion", `{}`, " --quantization fp8", "the format they are stored in"},
		{"no cache", `{"kv":"fp8"}`, "", "KV cache in fp8"},
		{"16 bits", `{"linear":"DISABLED","attention":"DISABLED"}`, "", ""},
		{"16 bits and others", `{"linear":"DISABLED","gemm":"fp8"}`, "", "weights of Qwen/Qwen3-32B in fp8,"},
		{"16 bits and a cache", `{"linear":"DISABLED","kv":"fp8"}`, "", "the comment says a KV cache in fp8"},
	} {
		text := "#!/bin/sh\n" + `# plimsoll: {"system":"h200_sxm","engine":"vllm","formats":` + c.formats + `,"input":100,"output":10,"copies":1}` + "\n" + command + c.flags + "\n"
		found, err := launch.Read(launch.File{Path: "run.sh", Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, p := range found.Problems {
			got.WriteString(p.Text)
			if p.Unsure {
				t.Errorf("%s: a warning, not an error", c.name)
			}
		}
		if (c.want == "") != (got.String() == "") || !strings.Contains(got.String(), c.want) {
			t.Errorf("%s: %q, want %q", c.name, got.String(), c.want)
		}
		if f := found.Deployment.Formats; f.GEMM+f.MoE != "" || (f.Checkpoint == "fp8") != strings.Contains(c.flags, "quantization") {
			t.Errorf("%s: read as %+v", c.name, f)
		}
	}
}
