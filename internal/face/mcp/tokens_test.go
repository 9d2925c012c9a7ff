package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// tokens is about what a value costs an agent, at four bytes of JSON a token. Tokenizers for code need somewhat fewer for JSON.
func tokens(t *testing.T, v any) int {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return (len(data) + 3) / 4
}

// TestTokens: what agents pay for stays small. All figures are upper bounds; the test prints what they are.
func TestTokens(t *testing.T) {
	s := overHTTP(t, remembering(), nil)
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const mostTools = 7000
	n := tokens(t, tools)
	t.Logf("tools/list: %d", n)
	if n > mostTools {
		t.Errorf("tools/list costs %d tokens, at most %d", n, mostTools)
	}
	compared := `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm","h100_sxm","l40s","b200_sxm"],"gpus":2,"modes":["agg"],"workloads":[{"isl":512,"osl":8}],"limits":{"tpot_ms":20}}`
	for _, c := range []struct {
		tool, arguments  string
		structured, text int
	}{
		{"plan", small, 1500, 600},
		{"plan", compared, 1500, 900},
		{"plan", `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"daily":[1,5,2,9],"no_changes":true,"engines":["vllm"],"modes":["agg"],"workloads":[{"preset":"chat"}]}`, 1500, 600},
		{"devices", `{}`, 1200, 1200},
		{"models", `{}`, 1200, 1200},
		{"engines", `{}`, 1200, 1200},
		{"support", `{"model":"Qwen/Qwen3-32B"}`, 1500, 1500},
		{"support", `{}`, 2000, 2000},
		{"optimize", `{"model":"Qwen/Qwen3-32B","devices":["TEST_DEVICE"],"num_devices":8,"input_length":3500,"output_length":1500,"limits":{"tpot_ms":50}}`, 1000, 1000},
		{"explain", `{"model":"Qwen/Qwen3-32B","devices":["TEST_DEVICE"],"num_devices":8,"input_length":3500,"output_length":1500,"limits":{"tpot_ms":50}}`, 1200, 1200},
		{"step", `{"deployment":{"model":"deepseek-ai/DeepSeek-V3.1","system":"h200_sxm","pools":[{"layout":{"devices":8,"tp":8}}]},"decode":true}`, 1500, 1500},
		{"simulate", `{"deployment":{"model":"Qwen/Qwen3-8B","system":"h200_sxm","engine":{"name":"vllm"}},"concurrency":4,"input_length":100,"output_length":20}`, 1200, 1200},
		{"validate", `{"plan":{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"gpus":2,"workloads":[{"isl":512,"osl":8}]}}`, 700, 700},
	} {
		r, err := call(t.Context(), s, c.tool, c.arguments)
		if err != nil || r.IsError {
			t.Errorf("%s %s: %v %v", c.tool, c.arguments, err, r)
			continue
		}
		structured, said := tokens(t, r.StructuredContent), tokens(t, text(r))
		t.Logf("%s: structured %d, text %d", c.tool, structured, said)
		if structured > c.structured || said > c.text*5/4 { // a quarter for the quoting of text
			t.Errorf("%s %s costs %d and %d tokens, at most %d and %d", c.tool, c.arguments, structured, said, c.structured, c.text)
		}
	}
}

// TestPages: pages of a list have every entry once.
func TestPages(t *testing.T) {
	s := overHTTP(t, environment(), nil)
	for _, tool := range []string{"devices", "models"} {
		seen := map[string]bool{}
		total, offset := 0, 0
		for {
			r, err := call(t.Context(), s, tool, fmt.Sprintf(`{"offset":%d,"limit":37}`, offset))
			if err != nil || r.IsError {
				t.Fatalf("%s: %v %v", tool, err, r)
			}
			var page struct {
				Devices, Models []struct{ Name, ID string }
				Total           int
				Next            int `json:"next_offset"`
			}
			if err := json.Unmarshal([]byte(text(r)), &page); err != nil {
				t.Fatal(err)
			}
			for _, x := range append(page.Devices, page.Models...) {
				if seen[x.Name+x.ID] {
					t.Errorf("%s has %s%s twice", tool, x.Name, x.ID)
				}
				seen[x.Name+x.ID] = true
			}
			total = page.Total
			if page.Next == 0 {
				break
			}
			offset = page.Next
		}
		if len(seen) != total || total < 20 {
			t.Errorf("%s: %d of %d", tool, len(seen), total)
		}
	}
}

// TestSchema: every tool's whole schemas can be had, and the brief one names no field that the whole one lacks.
func TestSchema(t *testing.T) {
	s := overHTTP(t, environment(), nil)
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tools.Tools {
		if x.Name == "schema" {
			continue
		}
		for _, part := range []string{"arguments", "answer"} {
			r, err := call(t.Context(), s, "schema", fmt.Sprintf(`{"tool":%q,"part":%q}`, x.Name, part))
			if err != nil || r.IsError || !strings.Contains(text(r), `"type":"object"`) {
				t.Fatalf("%s of %s: %v %v", part, x.Name, err, r)
			}
			if part == "answer" {
				continue
			}
			whole, brief := properties(t, r.StructuredContent), properties(t, x.InputSchema)
			for name := range brief {
				if _, ok := whole[name]; !ok && name != "detail" {
					t.Errorf("%s has no argument %s", x.Name, name)
				}
			}
		}
	}
}

// properties are those of a schema.
func properties(t *testing.T, schema any) map[string]any {
	t.Helper()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Properties map[string]any }
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out.Properties
}
