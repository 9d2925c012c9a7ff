package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	"github.com/plimsoll-project/plimsoll/internal/face/mcp"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// small is a plan that takes little time.
const small = `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"gpus":2,"engines":["vllm"],"modes":["agg"],"no_changes":true,` +
	`"workloads":[{"isl":512,"osl":8}],"limits":{"ttft_ms":1000,"tpot_ms":20}}`

// large is one that takes seconds.
const large = `{"model":"deepseek-ai/DeepSeek-V3","systems":["all"],"gpus":64,"workloads":[{"isl":4000,"osl":1000}],"limits":{"tpot_ms":30}}`

func environment() *operation.Env {
	return &operation.Env{
		Session: &session.Session{}, Version: "test",
		Write: func(string, []launch.File) error { return errors.New("the disk is full") },
	}
}

// known are simulations of tests that ask small questions, which answers do not depend on; a server has such a memory too.
var known = &session.Memo{Size: 10_000}

// remembering is an environment that shares simulations with others.
func remembering() *operation.Env {
	env := environment()
	env.Session.Memo = known
	return env
}

func server(t *testing.T, env *operation.Env) *mcp.Server {
	t.Helper()
	s, err := mcp.New(mcp.Options{
		Runner: operation.NewRunner(env, operation.Capacity{Waiting: 256}), Version: "test", Writes: true, Now: time.Now,
		Docs: fstest.MapFS{"glossary.md": {Data: []byte("# Glossary\n\nTTFT …\n")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// overHTTP connects a client by HTTP.
func overHTTP(t *testing.T, env *operation.Env, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	web := httptest.NewServer(server(t, env).Handler(&guard.Guard{Loopback: true, Body: mcp.MaxBody}))
	t.Cleanup(web.Close)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, o).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func call(ctx context.Context, s *sdk.ClientSession, name, arguments string) (*sdk.CallToolResult, error) {
	return s.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
}

func text(r *sdk.CallToolResult) string { return r.Content[0].(*sdk.TextContent).Text }

// TestList: tools have schemas, the documentation and the dialogue are there.
func TestList(t *testing.T) {
	s := overHTTP(t, environment(), nil)
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range tools.Tools {
		names = append(names, x.Name)
		if x.InputSchema == nil || x.OutputSchema != nil || x.Description == "" {
			t.Errorf("%s has no schema or description, or a schema of its answer", x.Name)
		}
		if x.Annotations.ReadOnlyHint == (x.Name == "write_files") {
			t.Errorf("%s: read-only is %v", x.Name, x.Annotations.ReadOnlyHint)
		}
	}
	slices.Sort(names)
	if got, want := strings.Join(names, " "), "check devices diff engines explain lint models optimize plan schema simulate step support validate write_files"; got != want {
		t.Errorf("tools are %s, want %s", got, want)
	}
	doc, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "plimsoll://docs/glossary"})
	if err != nil || !strings.HasPrefix(doc.Contents[0].Text, "# Glossary") {
		t.Errorf("docs: %v %v", doc, err)
	}
	for name, word := range map[string]string{"plan": "validate", "plan_zh": "PD混部"} {
		p, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: map[string]string{"request": "8 H200"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Messages[0].Content.(*sdk.TextContent).Text; !strings.Contains(got, word) || !strings.HasSuffix(got, "8 H200") {
			t.Errorf("prompt %s is %s", name, got)
		}
	}
}

// TestPlan: the record of a plan is the document that package operation makes, byte by byte.
func TestPlan(t *testing.T) {
	o := operation.Lookup(operation.Table(), "plan")
	request, err := o.Decode([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := o.Run(t.Context(), environment(), request)
	if err != nil {
		t.Fatal(err)
	}
	var want, structured bytes.Buffer
	if err := document.Encode(&want, doc); err != nil {
		t.Fatal(err)
	}
	s := overHTTP(t, environment(), nil)
	r, err := call(t.Context(), s, "plan", strings.TrimSuffix(small, "}")+`,"detail":"full"}`)
	if err != nil || r.IsError {
		t.Fatalf("%v %v", err, r)
	}
	for _, part := range []string{"Command: plimsoll plan", "h200_sxm vllm agg"} {
		if !strings.Contains(text(r), part) {
			t.Errorf("the summary lacks %q:\n%s", part, text(r))
		}
	}
	link := r.Content[1].(*sdk.ResourceLink)
	record, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: link.URI})
	if err != nil {
		t.Fatal(err)
	}
	if record.Contents[0].Text != want.String() {
		t.Error("the record differs from the document")
	}
	if err := document.Encode(&structured, r.StructuredContent); err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal(want.Bytes(), &a) != nil || json.Unmarshal(structured.Bytes(), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("the structured content differs from the document")
	}
	if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "plimsoll://plan/none"}); err == nil {
		t.Error("an unknown plan can be read")
	}
}

// TestBadArguments: mistakes are results that say so in one line.
func TestBadArguments(t *testing.T) {
	s := overHTTP(t, environment(), nil)
	for _, c := range []struct{ tool, arguments, want string }{
		{"plan", `{"detail":"all"}`, `invalid parameters: detail must be summary or full, got "all"`},
		{"schema", `{"tool":"none"}`, `invalid parameters: tool must be one of models devices engines plan diff optimize explain step simulate lint check support validate write_files, got "none"`},
		{"plan", `{"model":"m","systems":["s"],"workloads":[{}],"gpus":"x"}`, "invalid parameters: gpus must be a whole number, got a string"},
		{"models", `{"query":1}`, `invalid parameters: unknown field query with value 1; allowed: q, limit, offset`},
		{
			"optimize", `{"model":"Qwen/Qwen3-8B","input_length":1,"output_length":1,"limits":{"tpot":50}}`,
			"invalid parameters: unknown field limits.tpot with value 50; nearest: tpot_ms; allowed: ttft_ms, tpot_ms, latency_ms",
		},
		{
			"simulate", `{"deployment":{"model":"Qwen/Qwen3-8B"},"concurrency":8,"num_prompts":16777216}`,
			"invalid parameters: num_prompts must be at most 131072, got 16777216",
		},
		{"optimize", `{"model":"Qwen/Qwen3-8B","input_length":1}`, "invalid parameters: output_length is missing"},
		{"write_files", `{"plan":` + small + `,"folder":"x"}`, "invalid parameters: writing x: the disk is full"},
		{"write_files", `{"plan":` + small + `,"site":{"served_model_name":"$(touch x)"}}`, `invalid parameters: site.served_model_name must be letters, digits and . _ / : @ + = -, 256 at most, and not begin with - : @ + =, got "$(touch x)"`},
		{"step", `{"deployment":{"model":"Qwen/Qwen3-8B"},"query_length":1,"calibration":"/etc/passwd"}`, "invalid parameters: calibration /etc/passwd: files cannot be read here"},
	} {
		r, err := call(t.Context(), s, c.tool, c.arguments)
		if err != nil || !r.IsError || text(r) != c.want {
			t.Errorf("%s %s: %v %s, want %s", c.tool, c.arguments, err, text(r), c.want)
		}
	}
	if _, err := call(t.Context(), s, "nonsense", `{}`); err == nil {
		t.Error("an unknown tool can be called")
	}
}

// bug is files that are read by workers with a bug.
type bug struct{}

func (bug) Open(string) (fs.File, error) {
	panic(pool.Each(context.Background(), 2, 2, func(int) { panic("secret") }))
}

// TestBug: a bug is a result that says so without its details, and the session goes on.
func TestBug(t *testing.T) {
	env := environment()
	env.Session.Hub = bug{}
	s := overHTTP(t, env, nil)
	r, err := call(t.Context(), s, "plan", strings.Replace(small, `"model":"`, `"model":"nobody/`, 1))
	if err != nil || !r.IsError || text(r) != "internal error: this is a bug in plimsoll" {
		t.Errorf("%v %v", err, r)
	}
	if r, err := call(t.Context(), s, "engines", "{}"); err != nil || r.IsError {
		t.Errorf("after a bug: %v %v", err, r)
	}
}

// TestCancel: a call that is cancelled ends soon, and the server answers the next.
func TestCancel(t *testing.T) {
	var reports atomic.Int64
	heard := make(chan struct{}, 1000)
	s := overHTTP(t, environment(), &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		if p := r.Params; !strings.Contains(p.Message, "comparing") || p.Total < 2 || p.Progress > p.Total {
			t.Errorf("progress is %g of %g, %q", p.Progress, p.Total, p.Message)
		}
		reports.Add(1)
		heard <- struct{}{}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	p := &sdk.CallToolParams{Name: "plan", Arguments: json.RawMessage(large)}
	p.SetProgressToken("p1")
	ended := make(chan error)
	go func() {
		_, err := s.CallTool(ctx, p)
		ended <- err
	}()
	<-heard
	cancel()
	if err := <-ended; err == nil {
		t.Error("a cancelled call has an answer")
	}
	start := time.Now()
	if r, err := call(t.Context(), s, "plan", small); err != nil || r.IsError {
		t.Errorf("after it: %v %v", err, r)
	}
	// A busy machine takes its time.
	if d := time.Since(start); d > 3*time.Minute {
		t.Errorf("the next call took %v", d)
	}
}

// TestConcurrentCalls: concurrent calls, a plan among them, are all answered. Run it under the race detector.
func TestConcurrentCalls(t *testing.T) {
	s := overHTTP(t, environment(), nil)
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			tool, arguments := "models", `{"q":"qwen3","limit":5}`
			switch {
			case i == 1:
				tool, arguments = "plan", `{"model":"Qwen/Qwen3-0.6B","systems":["h200_sxm"],"gpus":1,"engines":["vllm"],"modes":["agg"],"no_changes":true,"workloads":[{"isl":1000,"osl":32}],"limits":{"ttft_ms":40,"tpot_ms":3}}`
			case i%2 == 0:
				tool, arguments = "step", fmt.Sprintf(`{"deployment":{"model":"Qwen/Qwen3-8B","system":"h200_sxm"},"decode":true,"context_length":%d}`, 100+i)
			}
			if r, err := call(t.Context(), s, tool, arguments); err != nil || r.IsError {
				t.Errorf("%s: %v %v", tool, err, r)
			}
		})
	}
	wait.Wait()
}

// TestRefused: who may not ask gets no session.
func TestRefused(t *testing.T) {
	s := server(t, environment())
	for _, c := range []struct {
		what    string
		guard   *guard.Guard
		headers map[string]string
		body    string
		want    int
	}{
		{"a plain client", &guard.Guard{Loopback: true}, nil, initialize, http.StatusOK},
		{"a page of its own", &guard.Guard{Loopback: true}, map[string]string{"Origin": "http://localhost:1234"}, initialize, http.StatusOK},
		{"a foreign page", &guard.Guard{Loopback: true}, map[string]string{"Origin": "http://evil.example"}, initialize, http.StatusForbidden},
		{"a page without origin", &guard.Guard{Loopback: true}, map[string]string{"Origin": "null"}, initialize, http.StatusForbidden},
		{"another site", &guard.Guard{Loopback: true}, map[string]string{"Sec-Fetch-Site": "cross-site"}, initialize, http.StatusForbidden},
		{"a foreign name", &guard.Guard{Loopback: true}, map[string]string{"Host": "evil.example"}, initialize, http.StatusForbidden},
		{"no token", &guard.Guard{Token: "secret"}, nil, initialize, http.StatusUnauthorized},
		{"a wrong token", &guard.Guard{Token: "secret"}, map[string]string{"Authorization": "Bearer secre"}, initialize, http.StatusUnauthorized},
		{"the token", &guard.Guard{Token: "secret"}, map[string]string{"Authorization": "Bearer secret"}, initialize, http.StatusOK},
		{"too much", &guard.Guard{Loopback: true}, nil, strings.Repeat(" ", mcp.MaxBody+1), http.StatusRequestEntityTooLarge},
	} {
		c.guard.Body = mcp.MaxBody
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost:1234/mcp", strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range c.headers {
			r.Header.Set(k, v)
		}
		if host := c.headers["Host"]; host != "" {
			r.Host = host
		}
		w := httptest.NewRecorder()
		s.Handler(c.guard).ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d: %s", c.what, w.Code, c.want, w.Body)
		}
	}
}
