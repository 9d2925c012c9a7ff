package http_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

// TestHostileBodies: a body that is no request, or asks for much, is refused within its memory, with one problem, and the server goes on.
func TestHostileBodies(t *testing.T) {
	h := handler(t, operation.Capacity{})
	many := strings.Repeat
	listed := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	plan := func(more string) string {
		return `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"gpus":8,` + more + `"workloads":[{"isl":100,"osl":10}]}`
	}
	lint := func(name, content string) string {
		return fmt.Sprintf(`{"device":"h200_sxm","files":[{"name":%q,"content":"%s"}]}`, name, content)
	}
	check := func(name, content string) string {
		return fmt.Sprintf(`{"result":{"name":%q,"content":"%s"},"expected":{"deployment":{"model":"Qwen/Qwen3-8B","system":"h200_sxm"}}}`, name, content)
	}
	const run = `"deployment":{"model":"Qwen/Qwen3-8B","system":"h200_sxm"}`
	for name, c := range map[string]struct {
		path, body string
		status     int
		want       string
		mib        uint64
	}{
		"deep lists":         {"/api/plan", many("[", 900_000), 400, "more than 32,768 objects and lists", 20},
		"deep objects":       {"/api/plan", many(`{"model":`, 100_000), 400, "more than 32,768 objects and lists", 20},
		"deep value":         {"/api/plan", `{"model":` + many("[", 9_000) + many("]", 9_000) + "}", 400, "model must be a string, got a list", 20},
		"deeper value":       {"/api/plan", `{"model":` + many("[", 20_000) + many("]", 20_000) + "}", 400, "exceeded max depth", 20},
		"deep beside":        {"/api/plan", plan(`"config":` + many(`{"text_config":`, 9_000) + "{}" + many("}", 9_000) + ","), 422, "neither architectures nor model_type", 60},
		"not ended":          {"/api/plan", `{"model":"`, 400, "not JSON: it ends too early", 20},
		"not JSON":           {"/api/plan", "hello", 400, "not JSON: invalid character 'h'", 20},
		"not an object":      {"/api/plan", `[]`, 400, "must be an object", 20},
		"several":            {"/api/plan", `{}{}`, 400, "unexpected data after the JSON value", 20},
		"NUL":                {"/api/plan", "{\"model\":\"a\x00b\"}", 400, "not JSON: invalid character", 20},
		"not UTF-8":          {"/api/plan", plan("\"as\":\"\xff\xfe\","), 400, "as", 40},
		"BOM":                {"/api/plan", "\ufeff" + small, 400, "not JSON", 20},
		"half a surrogate":   {"/api/plan", strings.Replace(small, "Qwen/Qwen3-8B", `\ud800`, 1), 422, "is not in the catalog", 40},
		"long model":         {"/api/plan", strings.Replace(small, "Qwen/Qwen3-8B", many("x", 900_000), 1), 422, "is not in the catalog", 100},
		"long system":        {"/api/plan", strings.Replace(small, "h200_sxm", many("y", 900_000), 1), 422, "unknown device", 100},
		"long field":         {"/api/plan", `{"` + many("z", 900_000) + `":1}`, 400, "unknown field", 100},
		"unknown fields":     {"/api/plan", "{" + listed(60_000, `"f%d":1,`) + `"g":1}`, 400, "more than 100 mistakes", 60},
		"fields given twice": {"/api/plan", "{" + many(`"model":"x",`, 80_000) + `"gpus":1}`, 400, "more than 100 mistakes", 60},
		"workloads":          {"/api/plan", `{"workloads":[` + many("{},", 30_000) + `{}]}`, 400, "workloads must have at most 2048 entries", 200},
		"bins":               {"/api/plan", `{"workloads":[{"input_distribution":{"bins":[` + many(`{"min_tokens":1},`, 30_000) + `{}]}}]}`, 400, "bins must have at most 2048 entries", 200},
		"systems":            {"/api/plan", `{"systems":[` + many(`"h200_sxm",`, 80_000) + `"x"]}`, 400, "systems must have at most 256 entries", 100},
		"fraction":           {"/api/plan", strings.Replace(small, `"gpus":2`, `"gpus":1e300`, 1), 400, "gpus must be a whole number, got 1e300", 20},
		"long number":        {"/api/plan", strings.Replace(small, `"gpus":2`, `"gpus":1`+many("0", 500_000), 1), 400, "gpus must be a whole number", 60},
		"negative":           {"/api/plan", strings.Replace(small, `"gpus":2`, `"gpus":-2`, 1), 400, "gpus must be between 1 and 32768, got -2", 40},
		"no number":          {"/api/plan", strings.Replace(small, `"gpus":2`, `"gpus":NaN`, 1), 400, "not JSON", 20},
		"lengths":            {"/api/plan", strings.Replace(small, `"isl":512`, `"isl":1000000000000000`, 1), 400, "isl must be between 1 and", 40},
		"config":             {"/api/plan", plan(`"config":{"architectures":["Qwen3ForCausalLM"],"model_type":"qwen3","num_hidden_layers":1000000000},`), 422, "num_hidden_layers: 1000000000 is implausible", 60},
		"objects in config":  {"/api/plan", plan(`"config":{"x":[` + many("{},", 100_000) + "{}]},"), 400, "more than 32,768 objects and lists", 20},
		"trace":              {"/api/plan", strings.Replace(small, `"isl":512,"osl":8`, `"trace_data":"arrival_s,input_tokens,output_tokens\n`+many(`0,1,1\n`, 100_000)+`x,1,1\n"`, 1), 422, "must be a number of seconds", 100},
		"quote in a trace":   {"/api/plan", strings.Replace(small, `"isl":512,"osl":8`, `"trace_data":"arrival_s,input_tokens,output_tokens\n\"`+many("x", 900_000)+`"`, 1), 422, "quoted-field", 60},
		"doubled":            {"/api/lint", lint("a.sh", "x=aaaaaaaaaaaaaaaa\\n"+many(`x=$x$x\n`, 40)), 422, "line 18: more than 1,048,576 bytes", 60},
		"parentheses":        {"/api/lint", `{"command":"` + many("(", 900_000) + `"}`, 422, "more than 1,000 parts of the syntax inside each other", 60},
		"substitutions":      {"/api/lint", `{"command":"` + many("$(", 450_000) + `"}`, 422, "more than 1,000 parts of the syntax inside each other", 60},
		"cycle":              {"/api/lint", lint("a.yaml", `tensor_parallel_size: 2\nkv_cache_config: &a\n  x: *a\n`), 422, "more than 100 values inside each other", 20},
		"flow":               {"/api/lint", lint("a.yaml", "["+many("a, ", 300_000)+"]"), 422, "no command that starts an engine", 300},
		"keys without end":   {"/api/lint", lint("a.yaml", many(`?\n`, 300_000)), 422, "more than 500,000 values", 400},
		"files":              {"/api/lint", `{"files":[` + many(`{"name":"a","content":""},`, 3_000) + `{}]}`, 400, "files must have at most 2048 entries", 60},
		"long flag":          {"/api/lint", `{"device":"h200_sxm","command":"vllm serve Qwen/Qwen3-8B --` + many("a", 900_000) + `"}`, 200, "unknown flag", 200},
		"flags":              {"/api/lint", `{"command":"vllm serve m ` + many("--a ", 200_000) + `"}`, 422, "more than 4,096 arguments", 400},
		"objects":            {"/api/check", check("r.json", "["+many("{},", 300_000)+"{}]"), 422, "more than 262,144 objects and lists", 60},
		"figures":            {"/api/check", check("r.json", `{\"mean_ttft_ms\":1e300,\"mean_tpot_ms\":1}`), 422, "mean_ttft_ms must be at most", 40},
		"rows":               {"/api/check", check("r.csv", `isl,osl,ttft_ms,tpot_ms\n`+many(`1,1,1,x\n`, 100_000)), 422, "want a number of at least 0", 60},
		"clients":            {"/api/simulate", `{` + run + `,"concurrency":1000000000}`, 400, "concurrency must be between 1 and 100000000", 40},
		"tokens":             {"/api/simulate", `{` + run + `,"concurrency":1,"input_length":100000000,"output_length":100000000}`, 422, "200000000 tokens", 60},
		"replicas":           {"/api/simulate", `{"deployment":{"model":"Qwen/Qwen3-8B","system":"h200_sxm","pools":[{"replicas":1000000000}]},"concurrency":1}`, 400, "replicas must be between 1 and 32768", 60},
		"queries":            {"/api/step", `{` + run + `,"query_length":1000000000000}`, 400, "query_length", 60},
		"devices":            {"/api/optimize", `{"model":"Qwen/Qwen3-8B","devices":["h200_sxm"],"num_devices":1000000000000,"input_length":1,"output_length":1}`, 400, "num_devices must be between", 60},
		"sizes":              {"/api/optimize", `{"model":"Qwen/Qwen3-8B","num_devices":8,"space":{"tp_sizes":[` + listed(60_000, "%d,") + `1]},"input_length":1,"output_length":1}`, 400, "at most 2048 entries", 60},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w := ask(t, h, http.MethodPost, c.path, c.body)
			runtime.ReadMemStats(&after)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("status %d, want %d and %q in %.300s", w.Code, c.status, c.want, w.Body)
			}
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > c.mib {
				t.Errorf("it took %d MiB, want at most %d", mib, c.mib)
			}
		})
	}
	config := `{"architectures":["Qwen3ForCausalLM"],"model_type":"qwen3","hidden_size":1024,"intermediate_size":2048,"num_hidden_layers":4,` +
		`"num_attention_heads":8,"num_key_value_heads":8,"head_dim":128,"vocab_size":1000,"max_position_embeddings":4096,"torch_dtype":"bfloat16",` + listed(300, `"unused_%d":1,`) + `"hidden_act":"silu"}`
	if w := ask(t, h, http.MethodPost, "/api/validate", `{"plan":{"config":`+config+`,"systems":["h200_sxm"],"gpus":1,"workloads":[{"isl":9,"osl":9}]}}`); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"ready": true`) {
		t.Errorf("a config of %d bytes: %d %s", len(config), w.Code, w.Body)
	}
	if w := ask(t, h, http.MethodPost, "/api/lint", `{"command":"vllm serve Qwen/Qwen3-8B","device":"h200_sxm"}`); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d %s", w.Code, w.Body)
	}
}
