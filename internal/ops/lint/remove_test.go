package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// mended is a text corrected until nothing more is, and what is found in it then. The path of a command is "".
func mended(t *testing.T, r lint.Request, path, text string) (string, *lint.Response) {
	t.Helper()
	r.Static = true
	for range 8 {
		at := text
		w := new(session.Session).Over(func(name string) ([]byte, bool) { return []byte(at), name == path })
		if r.Files, r.Command = []string{path}, ""; path == "" {
			r.Files, r.Command = nil, text
		}
		out, err := lint.Run(t.Context(), w, r)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all := out.Mended([]launch.File{{Path: path, Data: []byte(text)}})
		if len(all) == 0 {
			return text, out
		}
		text = string(all[0].Data)
	}
	t.Fatalf("corrected again and again: %s", text)
	return "", nil
}

// TestRemoved: flags and keys that the release does not have any more are taken away wherever they stand, with what belongs to them, or replaced by
// what the release has instead, with its value.
func TestRemoved(t *testing.T) {
	vllm, sglang := lint.Request{Version: "0.24.0"}, lint.Request{Version: "0.5.21"}
	keys := lint.Request{Version: "1.2.0", Model: "Qwen/Qwen3-8B"}
	for name, c := range map[string]struct {
		request    lint.Request
		path       string
		text, want string
	}{
		"last":     {vllm, "", "vllm serve Qwen/Qwen3-8B --max-num-seqs 64 --swap-space 4", "vllm serve Qwen/Qwen3-8B --max-num-seqs 64"},
		"first":    {vllm, "", "vllm serve --disable-log-requests --model Qwen/Qwen3-8B", "vllm serve --model Qwen/Qwen3-8B"},
		"joined":   {vllm, "", "vllm serve Qwen/Qwen3-8B --swap-space=4 --max-num-seqs 64", "vllm serve Qwen/Qwen3-8B --max-num-seqs 64"},
		"quotes":   {vllm, "", "vllm serve Qwen/Qwen3-8B --rope-scaling '{\"factor\":2.0}'", "vllm serve Qwen/Qwen3-8B --hf-overrides.rope_scaling '{\"factor\":2.0}'"},
		"switch":   {vllm, "", "vllm serve --enable-reasoning Qwen/Qwen3-8B", "vllm serve Qwen/Qwen3-8B"},
		"field":    {vllm, "", "vllm serve Qwen/Qwen3-8B --guided-decoding-backend outlines", "vllm serve Qwen/Qwen3-8B --structured-outputs-config.backend outlines"},
		"constant": {vllm, "", "vllm serve Qwen/Qwen3-8B --disable-mm-preprocessor-cache", "vllm serve Qwen/Qwen3-8B --mm-processor-cache-gb=0"},
		"one":      {vllm, "", "vllm serve Qwen/Qwen3-8B --max-num-seqs 256 --cuda-graph-sizes 256", "vllm serve Qwen/Qwen3-8B --max-num-seqs 256 --max-cudagraph-capture-size 256"},
		"several":  {vllm, "", "vllm serve Qwen/Qwen3-8B --max-num-seqs 256 --cuda-graph-sizes 1 2 256", "vllm serve Qwen/Qwen3-8B --max-num-seqs 256 --cudagraph-capture-sizes 1 2 256"},
		"size":     {sglang, "", "python -m sglang.launch_server --model-path Qwen/Qwen3-30B-A3B --tp 4 --enable-ep-moe", "python -m sglang.launch_server --model-path Qwen/Qwen3-30B-A3B --tp 4 --expert-parallel-size=4"},
		"mapped":   {sglang, "", "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --prefill-cp-mode in-seq-split", "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --cp-strategy=zigzag"},
		"role": {
			lint.Request{Version: "0.26.0"},
			"", "python -m dynamo.vllm --model Qwen/Qwen3-8B --is-prefill-worker",
			"python -m dynamo.vllm --model Qwen/Qwen3-8B --disaggregation-mode=prefill",
		},
		"lines": {
			vllm, "run.sh", "#!/bin/sh\nvllm serve Qwen/Qwen3-8B \\\n  --swap-space 4 \\\n  --max-num-seqs 64 \\\n  --use-v2-block-manager\necho done\n",
			"#!/bin/sh\nvllm serve Qwen/Qwen3-8B \\\n  --max-num-seqs 64\necho done\n",
		},
		"items": {
			vllm, "pod.yaml", "kind: Pod\nspec:\n  containers:\n    - image: vllm/vllm-openai:v0.24.0\n      args:\n        - --model\n        - Qwen/Qwen3-8B\n        - --swap-space\n        - \"4\"\n        - \"--task=generate\"\n",
			"kind: Pod\nspec:\n  containers:\n    - image: vllm/vllm-openai:v0.24.0\n      args:\n        - --model\n        - Qwen/Qwen3-8B\n",
		},
		"brackets": {
			vllm, "pod.yaml", "kind: Pod\nspec: {containers: [{image: 'vllm/vllm-openai:v0.24.0', args: [\"--swap-space\", \"4\", \"--model\", \"Qwen/Qwen3-8B\", \"--disable-log-requests\"]}]}\n",
			"kind: Pod\nspec: {containers: [{image: 'vllm/vllm-openai:v0.24.0', args: [\"--model\", \"Qwen/Qwen3-8B\"]}]}\n",
		},
		"keys": {
			keys, "e.yaml", "max_num_tokens: 4096\nauto_parallel: false\nquant_config:\n  quant_algo: FP8\nkv_cache_config:\n  free_gpu_memory_fraction: 0.9\nkv_cache_dtype: fp8\nmoe_backend: CUTLASS\nuse_cuda_graph: true\n",
			"max_num_tokens: 4096\nkv_cache_config:\n  dtype: fp8\n  free_gpu_memory_fraction: 0.9\nmoe_config:\n  backend: CUTLASS\n",
		},
		"mapping": {
			keys, "e.yaml", "pytorch_backend_config:\n  cuda_graph_batch_sizes: [1, 2, 4]\n  disable_overlap_scheduler: true\n  use_cuda_graph: true\n  kv_cache_dtype: fp8\nmax_num_tokens: 4096\nmax_batch_size: 4\n",
			"cuda_graph_config:\n  batch_sizes: [1, 2, 4]\ndisable_overlap_scheduler: true\nkv_cache_config:\n  dtype: fp8\nmax_num_tokens: 4096\nmax_batch_size: 4\n",
		},
		"off": {keys, "e.yaml", "max_num_tokens: 4096\nuse_cuda_graph: false\n", "max_num_tokens: 4096\ncuda_graph_config: null\n"},
	} {
		c.request.System = "h200_sxm"
		got, out := mended(t, c.request, c.path, c.text)
		if got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
		if slices.ContainsFunc(out.Findings, func(f lint.Finding) bool { return f.Code == "PL002" || f.Code == "PL005" }) {
			t.Errorf("%s: %+v", name, out.Findings)
		}
	}
}

// TestEveryRemovedFlag: of every flag that the newest release of an engine does not have any more, the command is corrected, but for those whose
// successor says more.
func TestEveryRemovedFlag(t *testing.T) {
	start := map[string]string{
		"vllm": "vllm serve Qwen/Qwen3-8B ", "sglang": "python -m sglang.launch_server --model-path Qwen/Qwen3-8B ", "trtllm": "trtllm-serve Qwen/Qwen3-8B ",
	}
	tried := 0
	for name, command := range start {
		all := engine.Releases(name)
		newest := all[len(all)-1].Version
		for i := len(all) - 1; all[i].Unread; i-- { // whose flags are known
			newest = all[i-1].Version
		}
		seen := map[string]bool{}
		for _, flag := range engine.Flags(name) {
			spans := engine.Spans(name, flag.Name)
			if until := spans[len(spans)-1].Until; seen[flag.Name] || until == "" || version.Compare(newest, until) < 0 {
				continue
			}
			seen[flag.Name] = true
			for _, value := range []string{"", " 4"} {
				got, out := mended(t, lint.Request{System: "h200_sxm", Version: newest}, "", command+"--port 80 "+flag.Name+value)
				i := slices.IndexFunc(out.Findings, func(f lint.Finding) bool { return f.Code == "PL002" })
				if named := i >= 0 && out.Findings[i].Better != "" && !out.Findings[i].Fixable(); i >= 0 && !named {
					t.Errorf("%s %s%s: %s: %+v", name, flag.Name, value, got, out.Findings[i])
				}
				if !strings.HasPrefix(got, command) {
					t.Errorf("%s %s: %s", name, flag.Name, got)
				}
				tried++
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d commands", tried)
	}
}
