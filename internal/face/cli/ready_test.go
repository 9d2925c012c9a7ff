package cli_test

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// guess is a request at random: some fields right, some wrong, some not there.
type guess struct {
	*rand.Rand

	fields []string
}

// maybe adds a field with one of some values, or leaves it out as often as not.
func (g *guess) maybe(name string, values ...string) {
	if g.IntN(2) == 0 {
		g.must(name, values...)
	}
}

// must adds a field with one of some values, the first more often than all others together.
func (g *guess) must(name string, values ...string) {
	i := 0
	if g.IntN(4) == 0 {
		i = g.IntN(len(values))
	}
	if v := values[i]; v != "" {
		g.fields = append(g.fields, fmt.Sprintf("%q:%s", name, v))
	}
}

// rarely adds a field once in six.
func (g *guess) rarely(name string, values ...string) {
	if g.IntN(6) == 0 {
		g.must(name, values...)
	}
}

func (g *guess) String() string { return "{" + strings.Join(g.fields, ",") + "}" }

// somePlan is a plan that takes little time, if it can be run.
func somePlan(seed uint64) string {
	g := &guess{Rand: rand.New(rand.NewPCG(seed, 1))}
	g.must("model", `"Qwen/Qwen3-0.6B"`, `"Qwen/Qwen3-8B"`, `"Qwen/Qwen3-8B"`, `"Qwen/Qwen3-0.6B"`, `"Qwen/Qwen3-32B"`, `"deepseek-ai/DeepSeek-V3.1"`, `"it's none"`)
	g.must("systems", `["h200_sxm"]`, `["h200_sxm"]`, `["l40s"]`, `["h100_sxm","l40s"]`, `["ATLAS_800_A2_280T_64G"]`, `["none"]`, ``)
	if g.IntN(5) > 0 {
		g.must("gpus", `1`, `2`, `2`, `3`, `-1`)
	} else {
		g.must("rate", `1`, `0.5`, `-2`)
		g.maybe("spare", `1`)
		g.maybe("utilization", `0.8`, `2`)
	}
	g.must("engines", `["vllm"]`, `["vllm"]`, `["sglang"]`, `["vllm@0.24.0"]`, `["trtllm"]`, `["none"]`, `["vllm@"]`)
	g.must("modes", `["agg"]`, `["agg"]`, `["agg"]`, `["disagg"]`)
	g.must("workloads", `[{"isl":200,"osl":8}]`, `[{"isl":300,"osl":9,"prefix":100}]`, `[{"isl":100,"osl":4,"length_ratio_low":0.5}]`, `[{"isl":100,"osl":4},{"name":"b c","isl":50,"osl":5,"share":2}]`,
		`[{"isl":100,"osl":5,"prefix":200}]`, `[{"isl":1000000,"osl":5}]`, `[{"preset":"none"}]`,
		`[{"isl":100,"osl":4},{"isl":50,"osl":5,"prefix":10}]`, `[{"input_distribution":{"bins":[{"min_tokens":100,"max_tokens":200,"weight":1}]},"osl":4}]`)
	g.maybe("limits", `{"ttft_ms":2000,"tpot_ms":50}`, `{"tpot_ms":"inf"}`, `{"latency_ms":5000}`, `{"tpot_ms":-1}`)
	g.rarely("no_limits", `true`)
	g.rarely("percentile", `95`, `101`)
	g.rarely("confidence", `0.8`, `1.5`)
	g.rarely("formats", `{"checkpoint":"fp8"}`, `{"kv":"fp8"}`, `{"gemm":"fp8"}`, `{"checkpoint":"fp4"}`, `{"linear":"W8A8_DYNAMIC"}`, `{"checkpoint":"none"}`)
	g.rarely("nextn", `1`, `99`)
	g.rarely("draft", `"ngram:2"`, `"mtp:2"`, `"none"`)
	g.rarely("prices", `{"h200_sxm":2.5}`, `{"l40s":-1}`)
	g.rarely("engine_preset", `"none"`)
	g.rarely("routing", `"least-loaded"`, `"none"`)
	g.must("no_changes", `true`)
	return g.String()
}

// someSearch is a search that takes little time, if it can be run.
func someSearch(seed uint64) string {
	g := &guess{Rand: rand.New(rand.NewPCG(seed, 2))}
	g.must("model", `"Qwen/Qwen3-8B"`, `"Qwen/Qwen3-32B"`, `"Qwen/Qwen3-0.6B"`, `"deepseek-ai/DeepSeek-V3.1"`, `"none"`)
	g.must("devices", `["TEST_DEVICE"]`, `["ATLAS_800_A2_280T_64G"]`, `["TEST_DEVICE","ATLAS_800_A2_280T_64G"]`, `["none"]`)
	g.must("num_devices", `1`, `4`, `8`, `3`, `100000`)
	g.must("input_length", `500`, `3500`, `1000000`)
	g.must("output_length", `50`, `1500`)
	g.maybe("limits", `{"tpot_ms":50}`, `{"ttft_ms":2000,"tpot_ms":50}`, `{"ttft_ms":"inf"}`, `{"latency_ms":90000}`)
	g.rarely("disagg", `true`)
	if g.IntN(6) == 0 {
		g.must("pd_ratio", `true`)
		g.maybe("prefill_devices_per_instance", `2`, `4`)
		g.must("decode_devices_per_instance", `4`, ``)
	}
	g.rarely("space", `{"tp_sizes":[2,4]}`, `{"tp_sizes":[3]}`, `{"tp_sizes":[]}`, `{"num_mtp_tokens":[0,1]}`, `{"ep_sizes":[2]}`, `{"pp_sizes":[2]}`, `{"dcp_sizes":[4]}`)
	g.rarely("batch_range", `[1,8]`, `[9,2]`)
	g.rarely("formats", `{"linear":"W4A8_DYNAMIC"}`, `{"linear":"none"}`, `{"attention":"INT8"}`)
	g.rarely("modelling", `{"fusion":"compiled"}`, `{"policy":"none"}`, `{"policy":"physical"}`)
	g.rarely("engine", `{"name":"none"}`, `{"name":"sglang"}`, `{"settings":["none=1"]}`)
	g.rarely("reserved_memory_gb", `2.5`, `-1`)
	g.rarely("evaluate", `"simulation"`, `"none"`)
	g.rarely("prefix_cache_hit_rate", `0.5`, `2`)
	return g.String()
}

// TestReadyRuns: what validate calls ready runs, and what it does not call ready does not; the command that it shows is a
// command of a shell that gives the same answer.
func TestReadyRuns(t *testing.T) {
	s := agent(t)
	ready, refused, known := 0, 0, memo()
	for seed := range uint64(30) {
		for tool, request := range map[string]string{"plan": somePlan(seed), "optimize": someSearch(seed)} {
			_, said := called(t, s, "validate", `{"`+tool+`":`+request+`}`)
			var v struct {
				Ready   bool
				Command string
			}
			decode(t, said, &v)
			r, answer := called(t, s, tool, strings.TrimSuffix(request, "}")+`,"detail":"full"}`)
			fails := r.IsError || nothingFits(t, r)
			if v.Ready == fails {
				t.Errorf("%s %s: ready is %v, and running says %.300s\nvalidate said %.600s", tool, request, v.Ready, answer, said)
				continue
			}
			if fails {
				refused++
				continue
			}
			ready++
			if v.Command != "" {
				same(t, known, v.Command, r)
			}
		}
	}
	t.Logf("%d requests are ready, %d are not", ready, refused)
	if min(ready, refused) < 15 {
		t.Errorf("%d requests are ready, %d are not: one of them is hardly tested", ready, refused)
	}
}

// TestHelpRequests: requests that help shows are complete.
func TestHelpRequests(t *testing.T) {
	s := agent(t)
	found := 0
	for _, page := range []string{"call", "serve"} {
		text, err := os.ReadFile("help/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`'(\{"model".*\})'`).FindAllSubmatch(text, -1) {
			found++
			if _, said := called(t, s, "validate", `{"plan":`+string(m[1])+`}`); !strings.Contains(said, `"ready":true`) {
				t.Errorf("help of %s: %s: %s", page, m[1], said)
			}
		}
	}
	if found < 2 {
		t.Errorf("%d requests found", found)
	}
}

// nothingFits reports a plan without a deployment.
func nothingFits(t *testing.T, r *sdk.CallToolResult) bool {
	t.Helper()
	data, err := stdjson.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Contenders *[]any }
	decode(t, string(data), &doc)
	return doc.Contenders != nil && len(*doc.Contenders) == 0
}

// same reports a command of a shell whose answer is not that of an agent's call.
func same(t *testing.T, known *session.Memo, command string, r *sdk.CallToolResult) {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 {
		t.Errorf("no shell runs %s: %v", command, err)
		return
	}
	words, err := expand.Fields(nil, file.Stmts[0].Cmd.(*syntax.CallExpr).Args...)
	if err != nil || words[0] != "plimsoll" {
		t.Errorf("%s: %v", command, err)
		return
	}
	var out, talk bytes.Buffer
	code := cli.Main(&cli.Env{
		Args: append(words[1:], "--json"), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk,
		Getenv: func(string) string { return "" }, WorkDir: t.TempDir(), Now: time.Now, Memo: known,
	})
	if code != 0 {
		t.Errorf("%s ends with %d: %s", command, code, talk.String())
		return
	}
	var got, want map[string]any
	decode(t, out.String(), &got)
	data, err := stdjson.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, string(data), &want)
	for _, x := range []any{got["answer"], want["answer"]} {
		if a, ok := x.(map[string]any); ok {
			delete(a, "usual_limits") // those of the command are given
		}
	}
	for _, part := range []string{"answer", "contenders", "devices"} {
		if fmt.Sprint(got[part]) != fmt.Sprint(want[part]) {
			t.Errorf("%s\ngives another answer in %s:\n%.500v\n%.500v", command, part, got[part], want[part])
		}
	}
}
