package launch_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestVariables: what a script sets, in the ways scripts do, is what the engine gets.
func TestVariables(t *testing.T) {
	for name, text := range map[string]string{
		"plain":           "MODEL=Qwen/Qwen3-8B\nTP=2\nvllm serve $MODEL -tp \"${TP}\"",
		"exported":        "export MODEL=Qwen/Qwen3-8B TP=2\nbash -c 'vllm serve $MODEL -tp $TP'",
		"default":         "vllm serve ${MODEL:-Qwen/Qwen3-8B} -tp ${TP:=2}",
		"own argument":    "MODEL=${1:-Qwen/Qwen3-8B}\nvllm serve $MODEL -tp 2 \"$@\"",
		"open argument":   "MODEL=$1\nvllm serve ${MODEL:-Qwen/Qwen3-8B} -tp 2",
		"arithmetic":      "GPUS=4\nvllm serve Qwen/Qwen3-8B -tp $((GPUS / 2))",
		"array":           "ARGS=(--trust-remote-code)\nARGS+=(-tp 2)\nvllm serve Qwen/Qwen3-8B \"${ARGS[@]}\"",
		"string of flags": "ARGS='-tp 2 --seed 1'\nvllm serve Qwen/Qwen3-8B $ARGS",
		"printed":         "TP=$(echo 2)\nvllm serve Qwen/Qwen3-8B -tp $TP $(more_flags)",
		"parsed flags":    "TP=2\nwhile [[ $# -gt 0 ]]; do case $1 in --tp) TP=$2; shift 2;; *) exit 1;; esac; done\nvllm serve Qwen/Qwen3-8B -tp $TP",
		"if":              "TP=1\nif [ -z \"$OTHER\" ]; then TP=3; fi\nTP=2\nif [ \"$TP\" = 4 ]; then TP=8; elif nvidia-smi; then TP=16; fi\nvllm serve Qwen/Qwen3-8B -tp $TP",
		"case":            "ENGINE=vllm\ncase $ENGINE in sglang) python -m sglang.launch_server --model-path m;; v*) vllm serve Qwen/Qwen3-8B -tp 2;; esac",
		"function":        "start() { local model=$1; shift; vllm serve $model -tp $2; }\nstart Qwen/Qwen3-8B 2 2",
		"for":             "for i in 0; do CUDA_VISIBLE_DEVICES=$i,1 vllm serve Qwen/Qwen3-8B -tp 2 --port 800$i & done",
		"wrappers":        "srun --mpi=pmix -N 1 nohup numactl -N 0 uv run vllm serve Qwen/Qwen3-8B -tp 2",
		"end of options":  "bash -c -- 'vllm serve Qwen/Qwen3-8B --tensor-parallel 2'",
		"login shell":     "docker run --entrypoint bash image -lc 'exec vllm serve Qwen/Qwen3-8B -tp 2'",
		"docker":          "docker run -e MODEL=Qwen/Qwen3-8B --gpus 2 image bash -c 'vllm serve $MODEL -tp 2'",
		"image":           "docker run --gpus all vllm/vllm-openai:latest Qwen/Qwen3-8B -tp 2",
		"model at end":    "vllm serve --enforce-eager -tp 2 Qwen/Qwen3-8B",
		"model in middle": "vllm serve --enforce-eager Qwen/Qwen3-8B -tp 2",
		"config":          "cat > /tmp/c.yaml <<EOF\ntensor-parallel-size: 2\nmodel: Qwen/Qwen3-8B\nEOF\nvllm serve --config /tmp/c.yaml",
		"placeholder":     "export NIC=<network interface>\nvllm serve Qwen/Qwen3-8B -tp 2",
		"lost line break": "export A=0 vllm serve Qwen/Qwen3-8B -tp 2",
		"here-document":   "MODEL=Qwen/Qwen3-8B\nssh node bash <<EOF\nvllm serve $MODEL -tp 2\nEOF",
	} {
		found, err := launch.Read(launch.File{Path: "run.sh", Data: []byte(text)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(found.Launches) != 1 || found.Deployment.Model != "Qwen/Qwen3-8B" || found.Deployment.Pools[0].Layout.TP != 2 || len(found.Problems) > 0 {
			t.Errorf("%s: %d launches, %+v, %v", name, len(found.Launches), found.Deployment, found.Problems)
		}
	}
}

// TestLoops: a launch in a loop is as many workers as the loop has turns.
func TestLoops(t *testing.T) {
	for text, want := range map[string]int{
		"for i in {0..3}; do vllm serve m --port 800$i & done":                4,
		"for i in $(seq 2 7); do vllm serve m & done":                         6,
		"for ((i = 0; i < 5; i++)); do vllm serve m & done":                   5,
		"for i in a b; do for j in c d e; do vllm serve m & done; done":       6,
		"for ((i = 0; i < N; i++)); do vllm serve m & done":                   1,
		"while true; do vllm serve m; sleep 1; done":                          1,
		"f() { for p in $@; do vllm serve m --port $p & done; }\nf 8000 8001": 2,
	} {
		found, err := launch.Read(launch.File{Path: "run.sh", Data: []byte(text)})
		if err != nil || found.Deployment.Pools[0].Replicas != want {
			t.Errorf("%s: %v, want %d workers, got %+v", text, err, want, found)
		}
	}
	endless := "f() { f; f; vllm serve m; }\nfor i in {1..400}; do for j in {1..400}; do f; done; done"
	if _, err := launch.Read(launch.File{Path: "run.sh", Data: []byte(endless)}); err == nil || !strings.Contains(err.Error(), "line 1: more than 16 scripts or functions inside each other") {
		t.Errorf("an endless script: %v", err)
	}
}

// TestOpenVariables: a value that the files do not tell is a problem with its line, and the rest is read.
func TestOpenVariables(t *testing.T) {
	found, err := launch.Read(launch.File{Path: "run.sh", Data: []byte("#!/bin/sh\nvllm serve Qwen/Qwen3-8B \\\n  --max-num-seqs 8 \\\n  -tp $TP --master-addr $HEAD_IP $EXTRA")})
	if err != nil {
		t.Fatal(err)
	}
	want := launch.Problem{Kind: launch.OpenVariable, File: "run.sh", Line: 4, Flag: "-tp", Text: "the files set no value for ${TP}: the default is used", Unsure: true}
	if len(found.Problems) != 1 || !reflect.DeepEqual(found.Problems[0], want) || !found.Launches[0].OpenLayout() || found.Deployment.Pools[0].Settings[0] != "max_sequences=8" {
		t.Errorf("%+v, %+v", found.Problems, found.Deployment)
	}
}

// TestContainerVariables: variables of a container, and of a ConfigMap that it names, in a list of arguments and in a script.
func TestContainerVariables(t *testing.T) {
	const manifest = `
kind: ConfigMap
metadata: {name: c}
data:
  drafts: |-
    {"method": "ngram",
     "num_speculative_tokens": 2}
  worker.yaml: |
    tensor-parallel-size: 2
    max-num-seqs: 8
---
kind: DynamoGraphDeployment
metadata: {name: d}
spec:
  components:
    - replicas: 3
      podTemplate:
        spec:
          affinity: {nodeAffinity: {required: {terms: [{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-B200]}]}]}}}
          containers:
            - command: [python3, -m, dynamo.vllm]
              args: [--model=$(MODEL), "--speculative-config=$(DRAFTS)", --config, /etc/worker.yaml]
              env:
                - {name: MODEL, value: Qwen/Qwen3-8B}
                - {name: DRAFTS, valueFrom: {configMapKeyRef: {name: c, key: drafts}}}
              resources: {limits: {nvidia.com/gpu: "2"}}
`
	found, err := launch.Read(launch.File{Path: "deploy.yaml", Data: []byte(manifest)})
	if err != nil {
		t.Fatal(err)
	}
	d := &found.Deployment
	p := &d.Pools[0]
	if d.Model != "Qwen/Qwen3-8B" || d.System != "b200_sxm" || p.MTP != 2 || p.Drafter != "ngram" || p.Layout.TP != 2 || p.Replicas != 3 || len(found.Problems) > 0 {
		t.Errorf("%+v, %v", d, found.Problems)
	}
	const script = `
services:
  a:
    image: image
    environment: {MODEL: Qwen/Qwen3-8B, TP: "2"}
    command:
      - bash
      - -c
      - |
        # the model
        vllm serve $$MODEL \
          -tp $$TP --max-num-sequs 8
`
	if found, err = launch.Read(launch.File{Path: "compose.yaml", Data: []byte(script)}); err != nil {
		t.Fatal(err)
	}
	if d := &found.Deployment; d.Model != "Qwen/Qwen3-8B" || d.Pools[0].Layout.TP != 2 || len(found.Problems) != 1 || found.Problems[0].Line != 12 {
		t.Errorf("%+v, %+v", d, found.Problems)
	}
}

// TestLeaderWorkerSet: pods know the size of their group, and arithmetic with what nobody sets is not 0.
func TestLeaderWorkerSet(t *testing.T) {
	const manifest = `
kind: LeaderWorkerSet
metadata: {name: w}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 4
    workerTemplate:
      spec:
        containers:
          - command: [/bin/bash, -c]
            args:
              - |-
                START=$(( ${LWS_WORKER_INDEX:-0} * LOCAL ))
                exec vllm serve deepseek-ai/DeepSeek-R1 --enable-expert-parallel --data-parallel-size $((LWS_GROUP_SIZE * LOCAL)) \
                  --data-parallel-size-local $LOCAL --data-parallel-start-rank $START --max-num-seqs $((2 * MISSING))
            env: [{name: LOCAL, value: "8"}]
            resources: {limits: {nvidia.com/gpu: 8}}
`
	found, err := launch.Read(launch.File{Path: "lws.yaml", Data: []byte(manifest)})
	if err != nil {
		t.Fatal(err)
	}
	p := &found.Deployment.Pools[0]
	if p.Layout.DP != 32 || p.Layout.EP != 32 || p.Replicas != 2 || found.Launches[0].Requested != 32 {
		t.Errorf("%+v asks for %d", p, found.Launches[0].Requested)
	}
	if len(found.Problems) != 1 || found.Problems[0].Kind != launch.OpenVariable || found.Problems[0].Line != 16 {
		t.Errorf("%+v", found.Problems)
	}
}

// TestRoles: workers beside prefill workers decode, whether they say so or not.
func TestRoles(t *testing.T) {
	found, err := launch.ReadCommand("python -m dynamo.vllm --model m &\npython -m dynamo.vllm --model m --is-prefill-worker -tp 2")
	if err != nil {
		t.Fatal(err)
	}
	if p := found.Deployment.Pools; len(p) != 2 || p[0].Role != deployment.Prefill || p[0].Layout.TP != 2 || p[1].Role != deployment.Decode {
		t.Errorf("%+v", p)
	}
}

// TestSeveralDeployments: the first is read, and the others are named with their lines.
func TestSeveralDeployments(t *testing.T) {
	found, err := launch.ReadCommand("vllm serve a -tp 2 &\nvllm serve b &\npython -m sglang.launch_server --model-path c")
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Deployment.Pools) != 1 || found.Deployment.Model != "a" || len(found.Problems) != 2 {
		t.Fatalf("%+v, %+v", found.Deployment, found.Problems)
	}
	for i, p := range found.Problems {
		if p.Kind != launch.SeveralDeployments || p.Line != i+2 {
			t.Errorf("%+v", p)
		}
	}
}

// TestForeignFlags: a flag of another engine is named with this engine's own.
func TestForeignFlags(t *testing.T) {
	for command, want := range map[string]string{
		"vllm serve m --chunked-prefill-size 4096":                            "--max-num-batched-tokens",
		"python -m sglang.launch_server --model-path m --max-num-seqs 64":     "--max-running-requests",
		"python -m dynamo.vllm --model m --mem-fraction-static 0.8":           "--gpu-memory-utilization",
		"python -m dynamo.vllm --model m --enable-multimodal --dyn-tool-call": "",
	} {
		found, err := launch.ReadCommand(command)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && len(found.Problems) == 0 {
			continue
		}
		if len(found.Problems) != 1 || found.Problems[0].Kind != launch.ForeignFlag || found.Problems[0].Nearest != want {
			t.Errorf("%s: %+v", command, found.Problems)
		}
	}
}

// TestHabits: shortened flags of SGLang, and models with more positions than their config says.
func TestHabits(t *testing.T) {
	found, err := launch.ReadCommand("python -m sglang.launch_server --model-path m --mem-frac 0.8 --speculative-algo EAGLE3 --spec x")
	if err != nil {
		t.Fatal(err)
	}
	if p := found.Deployment.Pools[0]; p.Settings[0] != "memory_share=0.8" || p.Drafter != "eagle3" || len(found.Problems) != 1 || found.Problems[0].Flag != "--spec" {
		t.Errorf("%+v, %+v", p, found.Problems)
	}
	found, err = launch.ReadCommand("vllm serve m --speculative-config.method ngram --speculative-config.num_speculative_tokens 3 --gpu-memory-util 0.8")
	if err != nil {
		t.Fatal(err)
	}
	if p := found.Deployment.Pools[0]; p.MTP != 3 || p.Drafter != "ngram" || p.Settings[0] != "memory_share=0.8" || len(found.Problems) > 0 {
		t.Errorf("%+v, %+v", p, found.Problems)
	}
	for command, want := range map[string]bool{
		"vllm serve m": false,
		`vllm serve m --hf-overrides '{"rope_scaling":{"factor":4}}'`: true,
		`vllm serve m --hf-overrides '{"architectures":["X"]}'`:       false,
		"VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 vllm serve m":                true,
		"export VLLM_ALLOW_LONG_MAX_MODEL_LEN=0; vllm serve m":        false,
	} {
		found, err := launch.ReadCommand(command)
		if err != nil || found.Launches[0].Longer() != want {
			t.Errorf("%s: %v, %v", command, found.Launches[0].Longer(), err)
		}
	}
}
