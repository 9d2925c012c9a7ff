package cli_test

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
)

// readers are commands that read a file, "@".
func readers() map[string]string {
	const simulate = "simulate Qwen/Qwen3-8B --device h200_sxm --concurrency 1 "
	return map[string]string{
		"script":       "lint @",
		"upgrade":      "upgrade --engine vllm 0.24 0.28 @",
		"trace":        "simulate Qwen/Qwen3-8B --device h200_sxm --trace @",
		"plan's trace": "plan Qwen/Qwen3-8B --gpus 8 --system h200_sxm --trace @",
		"deployment":   "simulate --deployment @ --concurrency 1",
		"lengths":      simulate + "--length-distribution @",
		"calibration":  simulate + "--calibration @",
		"profile":      "step Qwen/Qwen3-8B --device-file @ --query-length 1",
		"answers":      "plan --answers @",
		"grid":         "sweep @ --dry-run",
		"part":         "sweep merge --out t.csv @",
		"result":       "check @ Qwen/Qwen3-8B --device h200_sxm",
		"expectation":  "check r.json --against @",
		"rows":         "calibrate @",
		"measurements": "accuracy @",
		"request":      "call plan @",
		"plans":        "diff @ @",
		"files":        "files @ --out out",
		"experiments":  "cli exp --yaml-path @",
		"distribution": "throughput-optimizer Qwen/Qwen3-8B --device h200_sxm --num-devices 8 --output-length 10 --tpot-limit 50 --length-distribution @",
		"kernels":      "measure --kernels --from @ --device h200_sxm",
		"users":        "serve --users @ --addr 127.0.0.1:0",
	}
}

// attacked runs a command in a directory and reports what it allocated, in MiB.
func attacked(dir string, args ...string) (code int, answer, talk string, mib uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	code, answer, talk = runs(dir, args...)
	runtime.ReadMemStats(&after)
	return code, answer, talk, (after.TotalAlloc - before.TotalAlloc) >> 20
}

// refused reports a command that did not end as bad input does: with its status, and one line of error that says something.
func refused(t *testing.T, code int, talk, says string) {
	t.Helper()
	errs := strings.Count(talk, "plimsoll: error: ")
	if code != cli.ExitUsage || errs == 0 || !strings.Contains(talk, says) {
		t.Errorf("status %d, want %d and %q in %.300s", code, cli.ExitUsage, says, talk)
	}
}

// TestHostileFiles: every command that reads a file refuses one that is too large without reading it, a folder, and noise.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	must(t, filepath.Join(dir, "noise"), "\x00\xff\xfe\x19 \x80\"{[", 0o600)
	must(t, filepath.Join(dir, "empty"), "", 0o600)
	must(t, filepath.Join(dir, "r.json"), `{"mean_ttft_ms":1,"max_concurrency":1}`, 0o600)
	must(t, filepath.Join(dir, "folder", "x"), "", 0o600)
	must(t, filepath.Join(dir, "large"), "x", 0o600)
	if err := os.Truncate(filepath.Join(dir, "large"), 300<<20); err != nil {
		t.Fatal(err)
	}
	for name, command := range readers() {
		for _, file := range []string{"large", "noise", "empty", "folder", "missing"} {
			t.Run(name+" "+file, func(t *testing.T) {
				code, _, talk, mib := attacked(dir, strings.Fields(strings.ReplaceAll(command, "@", file))...)
				refused(t, code, talk, said(name, file))
				if mib > 100 {
					t.Errorf("it took %d MiB", mib)
				}
			})
		}
	}
}

// said is what a command says of a file: traces and parts are read piece by piece, and two commands take folders.
func said(name, file string) string {
	switch {
	case file == "missing":
		return "missing"
	case file == "large" && name == "part":
		return "it is empty"
	case file == "large" && slices.Contains([]string{"trace", "plan's trace", "lengths", "distribution"}, name):
		return "not valid UTF-8 text"
	case file == "large":
		return "too large"
	case file == "folder" && name == "script":
		return "no file in the directory starts an engine"
	case file == "folder" && name == "measurements":
		return "no benchmark results"
	case file == "folder":
		return "a directory, not a regular file"
	}
	return ""
}

// hostile is an input, the command that reads it, and what it says.
type hostile struct {
	command, file string
	content       func() string
	says          string
	mib           uint64 // that it may allocate
}

// text is a text that is made when it is needed.
func text(parts ...string) func() string { return func() string { return strings.Join(parts, "") } }

// many is a text many times.
func many(n int, part string) string { return strings.Repeat(part, n) }

// counting are lines with their numbers.
func counting(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// qwen is a config.json with further fields.
func qwen(more string) string {
	return `{` + more + `"architectures":["Qwen3ForCausalLM"],"model_type":"qwen3","hidden_size":1024,"intermediate_size":2048,"num_hidden_layers":4,` +
		`"num_attention_heads":8,"num_key_value_heads":8,"head_dim":128,"vocab_size":1000,"max_position_embeddings":4096,"torch_dtype":"bfloat16","hidden_act":"silu"}`
}

// sealed is an object as a line of a part, which ends in the sum of what is before it.
func sealed(object string) string {
	inner := strings.TrimSuffix(object, "}")
	return fmt.Sprintf("%s,\"sum\":\"%08x\"}\n", inner, crc32.Checksum([]byte(inner), crc32.MakeTable(crc32.Castagnoli)))
}

// hostiles are inputs of less than their bound that ask for much.
func hostiles() map[string]hostile {
	const (
		lint, trace, check  = "lint --device h200_sxm @", "simulate Qwen/Qwen3-8B --device h200_sxm --trace @", "check @ Qwen/Qwen3-8B --device h200_sxm"
		model, rows, header = "models ./model", "accuracy @", "arrival_s,input_tokens,output_tokens\n"
		serve               = "\nvllm serve Qwen/Qwen3-8B\n"
		kernels             = "step Qwen/Qwen3-8B --device h200_sxm --query-length 1 --perf-data k"
		kernel              = "k/data/h200_sxm/gemm/vllm/0.24.0/gemm_perf.parquet"
	)
	columns := "backend,model_path,system,isl,osl,tp_size,silicon_ttft_ms\n"
	laughs := func() string {
		var out strings.Builder
		out.WriteString("a: &a [x, x, x, x, x, x, x, x, x, x]\n")
		for c := 'b'; c < 'm'; c++ {
			fmt.Fprintf(&out, "%c: &%c [%s*%c]\n", c, c, many(9, fmt.Sprintf("*%c, ", c-1)), c-1)
		}
		return out.String()
	}
	return map[string]hostile{
		"doubled":            {lint, "a.sh", text("x=aaaaaaaaaaaaaaaa\n", many(40, "x=$x$x\n"), serve), "line 18: more than 1,048,576 bytes", 40},
		"parentheses":        {lint, "a.sh", text(many(400_000, "("), serve), "more than 1,000 parts of the syntax inside each other", 60},
		"substitutions":      {lint, "a.sh", text(many(400_000, "$("), serve), "more than 1,000 parts of the syntax inside each other", 80},
		"long flag":          {lint, "a.sh", text("vllm serve m --", many(200_000, "a")), "finding of severity error", 80},
		"many flags":         {lint, "a.sh", text("vllm serve m ", many(100_000, "--a 1 ")), "more than 4,096 arguments", 400},
		"long line":          {lint, "a.sh", text("echo ", many(1_000_000, "a"), serve), "", 200},
		"NUL":                {lint, "a.sh", text("vllm serve m\x00 --port 1\n", many(100, "\x00")), "", 100},
		"CRLF and BOM":       {lint, "a.sh", text("\ufeffvllm serve m\r\n"), "no command that starts an engine", 40},
		"not UTF-8":          {lint, "a.sh", text("vllm serve \xff\xfe\n"), "invalid UTF-8", 40},
		"numbers":            {lint, "a.sh", text("vllm serve Qwen/Qwen3-8B -tp 99999999999999999999 --max-model-len 1e300 --gpu-memory-utilization NaN"), "findings of severity error", 100},
		"large numbers":      {lint, "a.sh", text("vllm serve Qwen/Qwen3-8B -tp 9223372036854775807 -pp 9223372036854775807"), "severity error", 100},
		"graph sizes":        {lint, "a.sh", text("vllm serve Qwen/Qwen3-8B --compilation-config '{\"cudagraph_capture_sizes\":[", many(100_000, "9,"), "1]}'"), "", 300},
		"deep JSON":          {lint, "a.sh", text("vllm serve Qwen/Qwen3-8B --hf-overrides '", many(9_000, `{"a":`), "1", many(9_000, "}"), "'"), "", 200},
		"aliases":            {lint, "a.yaml", laughs, "more than 500,000 values", 300},
		"cycle":              {lint, "a.yaml", text("tensor_parallel_size: 2\nkv_cache_config: &a\n  x: *a\n"), "more than 100 values inside each other", 40},
		"anchors":            {lint, "a.yaml", func() string { return counting(60_000, "- &a%d x\n") }, "no command", 200},
		"documents":          {lint, "a.yaml", text(many(100_000, "---\n")), "more than 2,000 commands to follow", 200},
		"flow":               {lint, "a.yaml", text("[", many(300_000, "a, "), "]"), "no command", 400},
		"replicas":           {lint, "a.yaml", text("spec: {replicas: 999999999999, template: {containers: [{image: vllm/vllm-openai, args: [--model, m]}]}}"), "", 80},
		"deep flow":          {lint, "a.yaml", text(many(400_000, "[")), "exceeded max depth", 80},
		"lengths":            {trace, "t.csv", text(header, "0,1e15,5\n1,5,1e300\n2,NaN,-5\n3,5,\n"), "t.csv:2: input_tokens: must be at most 16777216, got 1e15", 80},
		"times":              {trace, "t.csv", text(header, "NaN,5,5\nInf,5,5\n1e300,5,5\n"), "t.csv:2: arrival_s: must be a number of seconds", 80},
		"quote":              {trace, "t.csv", text(header, `"`, many(10_000_000, "\n")), "t.csv:2: the record is longer than 8 MiB", 150},
		"line":               {trace, "t.csv", text(many(10_000_000, "a")), "t.csv:1: the record is longer than 8 MiB", 150},
		"columns":            {trace, "t.csv", text(many(1_000_000, "c,")), "no column with prompt lengths", 400},
		"line of JSON":       {trace, "t.jsonl", text(`{"input_length":"`, many(10_000_000, "a")), "t.jsonl:1: the line is longer than 8 MiB", 150},
		"keys":               {trace, "t.jsonl", func() string { return "{" + counting(300_000, `"k%d":1,`) + `"a":1}` }, "no key with a prompt length", 400},
		"deep keys":          {trace, "t.jsonl", text(many(100_000, `{"a":`)), "t.jsonl:1: not valid JSON", 80},
		"hashes":             {trace, "t.jsonl", text(`{"timestamp":0,"input_length":5,"output_length":5,"hash_ids":[1e300]}`), "hash_ids: must be a list of whole numbers", 80},
		"gzip":               {trace, "t.csv", text("\x1f\x8b", many(100, "a")), "compressed with gzip", 80},
		"nested results":     {check, "r.json", text(many(1_000_000, "[")), "more than 262,144 objects and lists", 80},
		"objects":            {check, "r.json", text("[", many(1_000_000, "{},"), "{}]"), "more than 262,144 objects and lists", 80},
		"numbers in results": {check, "r.json", text(`{"mean_ttft_ms":1,"x":[`, many(9_000_000, "1,"), "1]}"), "more than 8,388,608 values", 150},
		"figures":            {check, "r.json", text(`{"mean_ttft_ms":1e300,"mean_tpot_ms":-1,"output_throughput":1e308}`), "mean_ttft_ms must be at most", 80},
		"infinite figures":   {check, "r.json", text(`{"mean_ttft_ms":Infinity,"mean_tpot_ms":-Infinity,"output_throughput":NaN}`), "without TTFT, TPOT or throughput", 80},
		"records":            {check, "r.jsonl", text(many(10_001, `{"mean_ttft_ms":1}`+"\n")), "more than 10000 runs", 200},
		"open quote":         {check, "r.csv", text(`"`, many(10_000_000, "\n")), "not the result of a known load generator", 150},
		"layers":             {model, "model/config.json", text(qwen(`"num_hidden_layers":1000000000,`)[:40], `"num_hidden_layers":1000000000,`, qwen("")[1:]), "", 80},
		"many layers":        {model, "model/config.json", text(strings.Replace(qwen(""), `"num_hidden_layers":4`, `"num_hidden_layers":1000000000`, 1)), "num_hidden_layers: 1000000000 is implausible", 80},
		"no heads":           {model, "model/config.json", text(strings.Replace(qwen(""), `"num_attention_heads":8`, `"num_attention_heads":0`, 1)), "num_attention_heads: missing", 80},
		"negative":           {model, "model/config.json", text(strings.Replace(qwen(""), `"hidden_size":1024`, `"hidden_size":-1`, 1)), "hidden_size: -1 is negative", 80},
		"huge number":        {model, "model/config.json", text(strings.Replace(qwen(""), `"vocab_size":1000`, `"vocab_size":1e300`, 1)), "vocab_size: want an integer, got number 1e300", 80},
		"layer types":        {model, "model/config.json", text(qwen(`"layer_types":[` + many(300_000, `"full_attention",`) + `"full_attention"],`)), "layer_types: 300001 entries", 200},
		"deep config":        {model, "model/config.json", text(many(200_000, `{"a":`)), "exceeded max depth", 80},
		"objects in config":  {model, "model/config.json", text(qwen(`"x":[` + many(400_000, "{},") + "{}],")), "more than 262,144 objects and lists", 80},
		"experts":            {model, "model/config.json", text(strings.Replace(strings.Replace(qwen(`"num_experts":1000000000000,"num_experts_per_tok":8,"moe_intermediate_size":768,"decoder_sparse_step":1,`), "Qwen3ForCausalLM", "Qwen3MoeForCausalLM", 1), `"qwen3"`, `"qwen3_moe"`, 1)), "num_experts: 1000000000000 is implausible", 80},
		"measured rows":      {rows, "rows.csv", text(columns, many(50_001, "vllm,m,h200_sxm,1,1,1,1\n")), "more than 50,000 rows", 500},
		"measured numbers":   {rows, "rows.csv", text(columns, "vllm,m,h200_sxm,1e300,-1,NaN,Inf\n"), "rows.csv:2:", 80},
		"deep plan":          {"diff @ @", "p.json", text(many(1_000_000, `{"a":`)), "more than 262,144 objects and lists", 80},
		"contenders":         {"files @ --out out", "p.json", text(`{"schema":"plimsoll/plan/2","contenders":[`, many(1_000_000, "{},"), "{}]}"), "more than 262,144 objects and lists", 80},
		"aliases in a grid":  {"sweep @ --dry-run", "g.yaml", laughs, "more than 500,000 values", 300},
		"cells": {"sweep @ --dry-run", "g.yaml", func() string {
			return "ask: plan\nmodels: [m]\nsystems: [h200_sxm]\nworkloads: [{isl: 1, osl: 1}]\ngpus: [" + counting(100_000, "%d, ") + "]\nprices: [" + counting(1_000, "1%d, ") + "]\n"
		}, "g.yaml:", 700},
		"part of many cells":   {"sweep merge --out t.csv @", "p", text(sealed(`{"schema":"plimsoll/sweep/2","cells":50000000,"group":1,"shard":0,"of":1}`)), "lacks 50000000 of its 50000000 rows", 40},
		"part of many shards":  {"sweep merge --out t.csv @", "p", text(sealed(`{"schema":"plimsoll/sweep/2","cells":50000000,"group":1,"shard":49999999,"of":50000000}`), sealed(`{"index":49999999,"status":"ok"}`)), "shard 0 of 50000000 is missing", 40},
		"long row":             {"sweep merge --out t.csv @", "p", text(many(17<<20, "a"), "\n"), "not a part of a sweep", 150},
		"unknown fields":       {"call plan @", "q.json", func() string { return "{" + counting(60_000, `"f%d":1,`) + `"g":1}` }, "more than 100 mistakes", 80},
		"fields given twice":   {"call plan @", "q.json", text("{", many(80_000, `"model":"x",`), `"gpus":1}`), "more than 100 mistakes", 80},
		"deep request":         {"call plan @", "q.json", text(many(1_000_000, "[")), "more than 32,768 objects and lists", 40},
		"long model":           {"call plan @", "q.json", text(`{"model":"`, many(900_000, "x"), `","systems":["h200_sxm"],"gpus":8,"workloads":[{"isl":9,"osl":9}]}`), "is not in the catalog", 100},
		"systems":              {"call plan @", "q.json", text(`{"model":"Qwen/Qwen3-8B","systems":[`, many(90_000, `"h200_sxm",`), `"h200_sxm"],"gpus":8}`), "systems must have at most 256 entries", 100},
		"lint in a request":    {"call lint @", "q.json", text(`{"command":"`, many(400_000, "("), `"}`), "more than 1,000 parts of the syntax inside each other", 80},
		"no footer":            {kernels, kernel, text("PAR1", many(100, "\x00"), "PAR1"), "", 80},
		"footer of lists":      {kernels, kernel, text("PAR1\x15\x02\x19\xfc\xff\xff\xff\xff\x07\x00\x0a\x00\x00\x00PAR1"), "2147483647 elements in 1 bytes", 80},
		"footer of structs":    {kernels, kernel, text("PAR1", many(200_000, "\x1c"), "\x40\x0d\x03\x00PAR1"), "not a Parquet file", 200},
		"answers":              {"plan --answers @", "a.yaml", text("model: ", many(60_000, "x"), "\n"), "", 100},
		"deep profile":         {"step Qwen/Qwen3-8B --device-file @ --query-length 1", "d.yaml", text("a: ", many(9_000, "["), many(9_000, "]")), "more than 100 values inside each other", 80},
		"experiments in names": {"cli exp --yaml-path @", "e.yaml", func() string { return "exps: [" + counting(80_000, "e%d, ") + "]\n" }, "e0 has no block", 200},
	}
}

// TestHostileInputs: what asks for much is refused, or answered, within its memory.
func TestHostileInputs(t *testing.T) {
	for name, h := range hostiles() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, filepath.Join(dir, filepath.FromSlash(h.file)), h.content(), 0o600)
			code, answer, talk, mib := attacked(dir, strings.Fields(strings.ReplaceAll(h.command, "@", h.file))...)
			if !strings.Contains(talk, h.says) || strings.Contains(talk, "internal error") || code == cli.ExitInternal {
				t.Errorf("status %d, want %q in %.400s", code, h.says, talk)
			}
			if h.says != "" && code == cli.ExitOK || code != cli.ExitOK && !strings.Contains(talk, "plimsoll: error: ") {
				t.Errorf("status %d with %.200q and %.200q", code, answer, talk)
			}
			if mib > h.mib {
				t.Errorf("it took %d MiB, want at most %d", mib, h.mib)
			}
			t.Logf("%d MiB, status %d, %.150s", mib, code, talk)
		})
	}
}
