package operation

// example is a small request of an operation, which schemas show, and with which a program or a test can begin.
func example(name string) string {
	const (
		model      = `"model": "Qwen/Qwen3-0.6B"`
		deployment = `"deployment": {` + model + `, "system": "h200_sxm", "engine": {"name": "vllm"}}`
		search     = `{` + model + `, "devices": ["TEST_DEVICE"], "num_devices": 2, "input_length": 64, "output_length": 8}`
		onePlan    = `{` + model + `, "systems": ["h200_sxm"], "gpus": 2, "engines": ["vllm"], "modes": ["agg"], "workloads": [{"isl": 64, "osl": 8}],
			"limits": {"tpot_ms": 20}, "no_changes": true}`
		result = `{\"backend\": \"vllm\", \"model_id\": \"Qwen/Qwen3-0.6B\", \"num_prompts\": 4, \"max_concurrency\": 2, \"duration\": 1.0, \"completed\": 4,` +
			` \"total_input_tokens\": 256, \"total_output_tokens\": 32, \"output_throughput\": 32.0, \"mean_ttft_ms\": 20.0, \"mean_tpot_ms\": 5.0}`
	)
	return map[string]string{
		"models":      `{"q": "qwen3", "limit": 5, "offset": 0}`,
		"devices":     `{"q": "h200", "limit": 5, "offset": 0}`,
		"engines":     `{}`,
		"plan":        onePlan,
		"diff":        `{"a": ` + onePlan + `, "b": ` + onePlan + `}`,
		"optimize":    search,
		"explain":     search,
		"step":        `{` + deployment + `, "decode": true, "num_queries": 8, "context_length": 64}`,
		"simulate":    `{` + deployment + `, "concurrency": 2, "input_length": 64, "output_length": 8, "num_prompts": 4}`,
		"lint":        `{"command": "vllm serve Qwen/Qwen3-0.6B --max-num-seqs 4", "device": "h200_sxm", "static": true}`,
		"check":       `{"result": {"name": "result.json", "content": "` + result + `"}, "expected": {` + deployment + `}}`,
		"support":     `{` + model + `, "systems": ["h200_sxm"], "engines": ["vllm"]}`,
		"validate":    `{"plan": ` + onePlan + `}`,
		"write_files": `{` + deployment + `, "isl": 64, "osl": 8, "concurrency": 2, "targets": ["plain"]}`,
	}[name]
}
