package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The load and devices of most tests, small enough to be quick.
const (
	load = " --num-devices 8 --input-length 3500 --output-length 1500 --compile"
	json = " --json"
)

// schema reads one of docs/schema, as a document and ready to validate.
func schema(t *testing.T, name string) (document any, compiled *jsonschema.Schema) {
	t.Helper()
	data, err := os.ReadFile("../../../docs/schema/" + name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	document = parse(t, string(data))
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, document); err != nil {
		t.Fatal(err)
	}
	compiled, err = c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return document, compiled
}

func parse(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// names collects the names of all fields in a document, or with a key those in
// the values of that key.
func names(into map[string]bool, v any, key string) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if key == "" {
				into[name] = true
			} else if fields, ok := inner.(map[string]any); ok && name == key {
				for f := range fields {
					into[f] = true
				}
			}
			names(into, inner, key)
		}
	case []any:
		for _, inner := range v {
			names(into, inner, key)
		}
	}
}

// TestSchemas: what the program prints is what the schemas in docs say, and
// they say nothing that it does not print.
func TestSchemas(t *testing.T) {
	kernels := " --device h200_sxm --perf-data " + tablesDir(t)
	saved := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const sized = " --system h200_sxm --isl 500 --osl 10 -q"
	const small = " --model-path Qwen/Qwen3-8B" + sized
	const failing = `
good: {serving_mode: disagg, model_path: Qwen/Qwen3-8B, system_name: h200_sxm, total_gpus: 2, isl: 500, osl: 10, decode_kvcache_quant_mode: fp8, prefill_kvcache_quant_mode: fp8}
bad: {serving_mode: agg, model_path: deepseek-ai/DeepSeek-V3, system_name: h200_sxm, total_gpus: 2, isl: 500, osl: 50}
`
	const ratio = " --enable-optimize-prefill-decode-ratio --prefill-devices-per-instance 4 --decode-devices-per-instance 4"
	known := memo()
	for name, commands := range map[string][]string{
		"throughput-optimizer": {
			"throughput-optimizer Qwen/Qwen3-32B --tpot-limit 50" + load + json,
			"throughput-optimizer Qwen/Qwen3-32B --device ATLAS_800_A3_560T_128G_DIE --tp-sizes 4 --tpot-limit 50" + load + json,
			"throughput-optimizer Qwen/Qwen3-30B-A3B --tp-sizes --ep-sizes --moe-dp-sizes --tpot-limit 50" + load + json,
			"throughput-optimizer Qwen/Qwen3-32B --device TEST_DEVICE h200_sxm --disagg --ttft-limit 2000 --tpot-limit 50" + load + json,
			"throughput-optimizer Qwen/Qwen3-32B --disagg --ttft-limit inf" + load + json,
			"throughput-optimizer Qwen/Qwen3-32B" + ratio + load + json,
			"throughput-optimizer Qwen/Qwen3-32B --ttft-limit 2000 --tpot-limit 50" + ratio + load + json,
			"throughput-optimizer Qwen/Qwen3-32B --ttft-limit 1" + ratio + load + json,
			"throughput-optimizer Qwen/Qwen3-32B --tpot-limit 5" + load + json,
			"throughput-optimizer Qwen/Qwen3-32B --reserved-memory-gb 63" + load + json,
			"throughput-optimizer Qwen/Qwen3-32B --tp-sizes 6" + strings.Replace(load, "8", "6", 1) + json,
			"throughput-optimizer Qwen/Qwen3-32B --max-batched-tokens 1024 --batch-range 2 8 --accounting steady" + load + json,
			"throughput-optimizer Qwen/Qwen3-32B --num-devices 8 --length-distribution --output-length 1500 --ttft-limit 5000 --disagg" + json,
			"throughput-optimizer deepseek-ai/DeepSeek-V3.1 --num-devices 16 --input-length 100 --output-length 1 --num-mtp-tokens 0 1" + json,
			"throughput-optimizer deepseek-ai/DeepSeek-V4-Flash --device h200_sxm --tp-sizes 8 --tpot-limit 20 --num-devices 8 --input-length 512 --output-length 64" + json,
			"throughput-optimizer Qwen/Qwen3-8B --tpot-limit 20 --num-devices 2 --input-length 512 --output-length 16 --compile" + kernels + json,
			"throughput-optimizer Qwen/Qwen3-8B --device h200_sxm --evaluate simulation --num-devices 2 --input-length 512 --output-length 64" + json,
			"throughput-optimizer Qwen/Qwen3-8B --device h200_sxm --evaluate simulation --num-devices 2 --input-length 512 --output-length 64 --ttft-limit 1 --request-latency 5" + json,
			"explain Qwen/Qwen3-8B --device h200_sxm --evaluate simulation --num-devices 1 --length-distribution --output-length 8 --tpot-limit 20 --batch-range 2 2" + json,
			"explain Qwen/Qwen3-30B-A3B --pp-sizes 1 2 --tpot-limit 50" + load + json,
			"explain Qwen/Qwen3-32B --speculative-method dflash --ttft-limit 900 --disagg --tpot-limit 1" + load + json,
		},
		"step": {
			"step Qwen/Qwen3-32B --query-length 100" + json,
			"step Qwen/Qwen3-32B --decode --num-queries 1000 --context-length 10000" + json, // does not fit
			"step deepseek-ai/DeepSeek-V3.1 --num-devices 16 --ep-size 16 --decode --num-queries 256 --compile --compilation-config enable_multistream" + json,
			"step Qwen/Qwen3-8B --decode" + kernels + json,
			"step deepseek-ai/DeepSeek-V4-Flash --device h200_sxm --num-devices 8 --decode" + json,
			"step Qwen/Qwen3-8B --device h200_sxm --decode --engine vllm" + json,
			"step Qwen/Qwen3-8B --device ATLAS_800_A3_752T_128G_DIE --query-length 100" + json,
		},
		"cli-default": {
			"cli default --total-gpus 2" + small + json,
			"cli default --total-gpus 2 --request-latency 1" + small + json,
			"cli default --total-gpus 2 --tpot 0.5 --backend-version 1.1.0 --set memory_share=0.8" + small + json,
			"cli default --total-gpus 2 --serving-mode disagg --decode-system b200_sxm --prefix 100" + small + json,
			"cli default --total-gpus 1 --system h200_sxm --model-path Qwen/Qwen3-8B --isl 500 --osl 1 -q" + json,
			"cli exp --yaml-path " + saved("failing.yaml", failing) + " -q" + json,
			"cli generate --model-path deepseek-ai/DeepSeek-V3 --total-gpus 16 --system h200_sxm --nextn 1 --nextn-accepted 0.8 --isl 100 --osl 10 -q --save-dir " + t.TempDir() + json,
		},
		"cli-recommend": {
			"cli recommend --target-request-rate 5" + small + json,
			"cli recommend --target-request-rate 5 --system h200_sxm --model-path Qwen/Qwen3-8B --isl 500 --osl 1 -q" + json,
			"cli recommend --target-concurrency 50 --request-latency 1 --serving-mode agg" + small + json,
			"cli recommend --target-concurrency 50 --tpot 0.5 --serving-mode agg --backend-version 1.1.0 --set memory_share=0.8" + small + json,
			"cli recommend --target-concurrency 8 --serving-mode disagg --decode-system b200_sxm" + small + json,
			"cli recommend --target-concurrency 5 --model-path deepseek-ai/DeepSeek-R1 --decode-system t4" + sized + json,
			"cli recommend --target-concurrency 30 --tpot 12 --model-path zai-org/GLM-4.5-Air --nextn 1 --nextn-accepted 0.8 --serving-mode agg" + sized + json,
		},
		"cli-estimate": {
			"cli estimate --bs 4 --backend vllm --backend-version 0.24.0 --set memory_share=0.8 --detail all --ttft 100" + small + json,
			"cli estimate --bs 4 --detail all --estimate-mode static_ctx" + small + json,
			"cli estimate --bs 4 --estimate-mode static_gen" + small + json,
			"cli estimate --estimate-mode disagg --p-bs 1 --p-workers 1 --d-bs 4 --d-workers 1 --decode-system b200_sxm" + small + json,
			"cli estimate --bs 4 --detail all --perf-data " + tablesDir(t) + small + json,
			"cli estimate --bs 4 --model-path deepseek-ai/DeepSeek-V3 --dp 8 --ep 8 --nextn 1 --nextn-accepted 0.8" + sized + json,
		},
		"cli-support": {
			"cli support --model-path deepseek-ai/DeepSeek-V3 --system l4" + json,
			"cli support --model-path deepseek-ai/DeepSeek-V3 --system h200_sxm" + json,
		},
		"lint": {
			"lint --system h200_sxm --engine-version 0.24.0 --json -- vllm serve Qwen/Qwen3-8B --max-num-seqs 64 --max-num-batched-tokens 512",
			"lint --system h200_sxm --json -- vllm serve Qwen/Qwen3-8B --tensor-para1lel-size 3",
			"lint --system h100_sxm --json -- vllm serve meta-llama/Llama-3.1-70B",
			"lint --json -- vllm serve acme/Nobody-7B",
			"lint --system h200_sxm --json " + saved("run.sh", "vllm serve Qwen/Qwen3-8B --kv-cache-dtyp fp8 --enforce-eager\n"),
		},
	} {
		document, compiled := schema(t, name)
		printed := map[string]bool{}
		for _, command := range commands {
			answer := parse(t, answered(t, known, strings.Fields(command)))
			if err := compiled.Validate(answer); err != nil {
				t.Errorf("%s: %v", command, err)
			}
			names(printed, answer, "")
		}
		said := map[string]bool{}
		names(said, document, "properties")
		for _, field := range slices.Sorted(maps.Keys(said)) {
			if !printed[field] {
				t.Errorf("%s.schema.json: nothing has the field %q", name, field)
			}
		}
	}
}

// TestSchemaRefuses: the schema is no empty promise.
func TestSchemaRefuses(t *testing.T) {
	_, compiled := schema(t, "throughput-optimizer")
	command := strings.Fields("throughput-optimizer Qwen/Qwen3-32B --tpot-limit 50" + load + json)
	text := run(t, command)
	if err := compiled.Validate(parse(t, text)); err != nil {
		t.Fatal(err)
	}
	pass := func(v any) map[string]any {
		device := v.(map[string]any)["devices"].([]any)[0]
		return device.(map[string]any)["passes"].([]any)[0].(map[string]any)
	}
	for what, spoil := range map[string]func(v map[string]any){
		"a field missing":           func(v map[string]any) { delete(v, "limits") },
		"a field too many":          func(v map[string]any) { v["extra"] = 1 },
		"no devices":                func(v map[string]any) { v["devices"] = []any{} },
		"no input length":           func(v map[string]any) { delete(v, "input_length") },
		"an unknown mode":           func(v map[string]any) { v["mode"] = "both" },
		"rows without a best":       func(v map[string]any) { pass(v)["best"] = nil },
		"a best without rows":       func(v map[string]any) { pass(v)["rows"] = []any{} },
		"rows and nearest limits":   func(v map[string]any) { pass(v)["nearest_limits"] = map[string]any{"ttft_ms": nil, "tpot_ms": 1} },
		"a latency of zero":         func(v map[string]any) { pass(v)["best"].(map[string]any)["judged"].(map[string]any)["tpot_ms"] = 0 },
		"a number in quotes":        func(v map[string]any) { pass(v)["best"].(map[string]any)["tokens_per_second"] = "1" },
		"feasible and rejected":     func(v map[string]any) { pass(v)["candidates"].([]any)[0].(map[string]any)["reason"] = "x" },
		"infeasible and not reason": func(v map[string]any) { pass(v)["candidates"].([]any)[0].(map[string]any)["feasible"] = false },
	} {
		v := parse(t, text)
		spoil(v.(map[string]any))
		if compiled.Validate(v) == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}
