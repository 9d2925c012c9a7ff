package cli_test

import (
	"encoding/csv"
	encoding "encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll"
)

// What AIConfigurator's own tests assert of its command line, checked on ours. That an
// estimate is its row: TestEstimateIsSimulate. All models on all systems under all engines:
// TestMatrix of package app. Flags that engines have: TestFlagsAllowed of package deploy.
// Static modes: the script cliestimate.

// TestDefaultBuilds: "cli default" answers, says what was asked, and saves, in eight cases.
func TestDefaultBuilds(t *testing.T) {
	for _, c := range []struct{ model, system, engine, gpus string }{
		{"Qwen/Qwen3-32B-FP8", "h200_sxm", "trtllm", "4"},
		{"Qwen/Qwen3-32B-FP8", "h200_sxm", "sglang", "4"},
		{"Qwen/Qwen3-32B-FP8", "h200_sxm", "vllm", "4"},
		{"QWEN3_32B", "h100_sxm", "trtllm", "4"},
		{"deepseek-ai/DeepSeek-V3", "b200_sxm", "sglang", "8"},
		{"QWEN3_30B_A3B", "h200_sxm", "trtllm", "2"},
		{"openai/gpt-oss-120b", "b200_sxm", "vllm", "2"},
		{"LLAMA3.1_8B", "gb200_sxm", "vllm", "2"},
	} {
		dir := t.TempDir()
		text, code, said := try(t, strings.Fields("cli default --model "+c.model+" --system "+c.system+" --backend "+c.engine+" --total-gpus "+c.gpus+
			" --isl 1000 --osl 4 --top-n 1 --no-terminal-plots --deployment-target plain --save-dir "+dir))
		if code != 0 || strings.Contains(text+said, "Failed to save") {
			t.Errorf("%v: exit %d: %s", c, code, said)
		}
		for _, want := range []string{"AIConfigurator Final Results", "Model: " + c.model, "Total GPUs: " + c.gpus} {
			if !strings.Contains(text, want) {
				t.Errorf("%v does not say %q", c, want)
			}
		}
		if saved, _ := filepath.Glob(filepath.Join(dir, "*", "*", "top1", "*", "plain", "node_0.sh")); len(saved) == 0 {
			t.Errorf("%v saved nothing", c)
		}
	}
}

// TestExampleFiles: every example file of the guide runs, with fewer GPUs and shorter
// requests than it has.
func TestExampleFiles(t *testing.T) {
	size := regexp.MustCompile(`\b(total_gpus|isl|osl): \d+`)
	small := map[string]string{"total_gpus": "8", "isl": "500", "osl": "4"}
	smaller := func(setting string) string {
		key, _, _ := strings.Cut(setting, ":")
		return key + ": " + small[key]
	}
	for _, name := range []string{"guide", "hetero", "pertensor", "replace"} {
		data, err := os.ReadFile("../../compat/nvidia/testdata/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name+".yaml")
		if err := os.WriteFile(path, []byte(size.ReplaceAllStringFunc(string(data), smaller)), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := run(t, strings.Fields("cli exp --top-n 1 -q --no-terminal-plots --yaml-path "+path)); !strings.Contains(text, "Top Configurations") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestRequestLatency: a limit on whole requests is kept, under three engines.
func TestRequestLatency(t *testing.T) {
	latency := regexp.MustCompile(`Request Latency: ([\d.]+)ms`)
	for _, engine := range []string{"trtllm", "sglang", "vllm"} {
		text := run(t, strings.Fields("cli default --model-path Qwen/Qwen3-8B --system h200_sxm --total-gpus 2 --isl 500 --osl 50 --request-latency 600 --top-n 1 -q --no-terminal-plots --backend "+engine))
		found := latency.FindStringSubmatch(text)
		if found == nil {
			t.Errorf("%s: no request latency in %s", engine, text)
			continue
		}
		if ms, err := strconv.ParseFloat(found[1], 64); err != nil || ms > 600 {
			t.Errorf("%s: %s ms: %v", engine, found[1], err)
		}
	}
}

// TestPackageGivesRows: the Go package gives the figures of a row of "cli default", and
// the CSV file has them too.
func TestPackageGivesRows(t *testing.T) {
	dir := t.TempDir()
	answer := parse(t, run(t, strings.Fields("cli default --model-path Qwen/Qwen3-8B --system h200_sxm --total-gpus 2 --isl 500 --osl 10 --serving-mode agg --backend vllm -q --json --deployment-target plain --save-dir "+dir)))
	type object = map[string]any
	rows := answer.(object)["experiments"].([]any)[0].(object)["rows"].([]any)
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "agg", "best_config_topn.csv"))
	if len(paths) != 1 {
		t.Fatal(paths)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil || len(table) != len(rows)+1 {
		t.Fatalf("%d lines for %d rows: %v", len(table), len(rows), err)
	}
	cell := func(i int, name string) string {
		for k, head := range table[0] {
			if head == name {
				return table[i+1][k]
			}
		}
		t.Fatalf("no column %s", name)
		return ""
	}
	number := func(x any) float64 {
		v, err := x.(interface{ Float64() (float64, error) }).Float64()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i, r := range rows {
		row := r.(object)
		deployed, err := encoding.Marshal(row["deployment"])
		if err != nil {
			t.Fatal(err)
		}
		request := plimsoll.PredictRequest{Concurrency: int(number(row["concurrency"])), Input: 500, Output: 10}
		if err := encoding.Unmarshal(deployed, &request.Deployment); err != nil {
			t.Fatal(err)
		}
		p, err := (&plimsoll.Planner{}).Predict(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Tokens.Value, number(row["tokens_per_second"].(object)["value"]); math.Abs(got-want) > 1e-9*want { // documents have ten digits
			t.Errorf("row %d: the package gives %g tokens/s, the command %g", i, got, want)
		}
		if got, want := cell(i, "tokens/s"), strconv.FormatFloat(p.Tokens.Value, 'f', 3, 64); got != want {
			t.Errorf("row %d: the file has %s tokens/s, the package gives %s", i, got, want)
		}
	}
}
