package http_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	serve "github.com/plimsoll-project/plimsoll/internal/face/http"
	"github.com/plimsoll-project/plimsoll/internal/face/job"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

const small = `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"gpus":2,"engines":["vllm"],"modes":["agg"],"no_changes":true,` +
	`"workloads":[{"isl":512,"osl":8}],"limits":{"ttft_ms":1000,"tpot_ms":20}}`

const large = `{"model":"deepseek-ai/DeepSeek-V3","systems":["all"],"gpus":%d,"workloads":[{"isl":4000,"osl":1000}],"limits":{"tpot_ms":30}}`

func environment() *operation.Env {
	return &operation.Env{Session: &session.Session{}, Version: "test"}
}

func handler(t testing.TB, c operation.Capacity) http.Handler { return jobbing(t, c, job.Limits{}, 0) }

// jobbing is a handler with limits of its jobs.
func jobbing(t testing.TB, c operation.Capacity, l job.Limits, patience time.Duration) http.Handler {
	t.Helper()
	runner := operation.NewRunner(environment(), c)
	jobs := job.New(runner, l)
	t.Cleanup(jobs.Close)
	h, err := serve.New(serve.Options{
		Runner: runner, Jobs: jobs, Patience: patience, Version: "test", Loopback: true,
		Page: http.FileServerFS(fstest.MapFS{"index.html": {Data: []byte("the page")}}),
		HTML: func(w io.Writer, p *opsplan.Response) error { _, err := fmt.Fprintf(w, "<p>%s", p.Model); return err },
		Markdown: func(w io.Writer, p *opsplan.Response) error {
			if _, err := fmt.Fprintf(w, "# %s\n", p.Answer.Sentence); err != nil {
				return err
			}
			return json.NewEncoder(w).Encode(p)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask sends one request to a handler.
func ask(t testing.TB, h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestRoutes: every address answers in its kind, and refuses as RFC 9457 says.
func TestRoutes(t *testing.T) {
	h := handler(t, operation.Capacity{})
	run := `"deployment":{"model":"Qwen/Qwen3-8B","system":"h200_sxm"}`
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/", "", 200, "the page"},
		{"GET", "/api/models?q=qwen3&limit=2", "", 200, `"total"`},
		{"HEAD", "/api/models?q=qwen3&limit=2", "", 200, ""},
		{"GET", "/api/models?limit=x", "", 400, `"fields":["limit"]`},
		{"GET", "/api/models?nonsense=x", "", 400, `"fields":["nonsense"]`},
		{"POST", "/api/models", "", 405, "use GET"},
		{"GET", "/api/devices?q=h200", "", 200, `"h200_sxm"`},
		{"GET", "/api/engines", "", 200, `"vllm"`},
		{"POST", "/api/plan", small, 200, `"schema": "plimsoll/plan/2"`},
		{"GET", "/api/plan", "", 405, "use POST"},
		{"POST", "/api/plan", strings.Replace(small, `"gpus":2`, `"gpus":0.5`, 1), 400, `"detail":"gpus must be a whole number, got 0.5","fields":["gpus"]`},
		{"POST", "/api/plan", strings.Replace(small, `"tpot_ms":20`, `"tpot":50`, 1), 400, `"errors":[{"fields":["limits.tpot"],"detail":"unknown field limits.tpot with value 50; nearest: tpot_ms; allowed: ttft_ms, tpot_ms, latency_ms","value":"50","allowed":["ttft_ms","tpot_ms","latency_ms"],"nearest":"tpot_ms"}]`},
		{"POST", "/api/simulate", `{` + run + `,"concurrency":2,"num_prompts":16777216}`, 422, `"value":"16777216","allowed":["at most 131072"]`},
		{"POST", "/api/plan", strings.Repeat(" ", serve.MaxBody+1), 413, "too large"},
		{"POST", "/api/optimize", `{"model":"Qwen/Qwen3-32B","num_devices":8,"input_length":3500,"output_length":1500,"limits":{"tpot_ms":50}}`, 200, `"best"`},
		{"POST", "/api/explain", `{"model":"Qwen/Qwen3-32B","num_devices":8,"input_length":3500,"output_length":1500,"limits":{"tpot_ms":50}}`, 200, `"what_if"`},
		{"POST", "/api/step", `{` + run + `,"decode":true}`, 200, `"total_s"`},
		{"POST", "/api/simulate", `{` + run + `,"concurrency":2,"num_prompts":5}`, 200, `"ttft_ms"`},
		{"POST", "/api/lint", `{"command":"vllm serve Qwen/Qwen3-8B","device":"h200_sxm"}`, 200, `"findings"`},
		{"POST", "/api/validate", `{"plan":{"model":"Qwen/Qwen3-8B"}}`, 200, `"gpus"`},
		{"POST", "/api/support", `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"]}`, 200, `"rows"`},
		{"POST", "/api/write_files", `{}`, 404, "no such path: /api/write_files"},
		{"POST", "/api/report?format=md", small, 200, "# "},
		{"POST", "/api/report?format=html", small, 200, "<p>Qwen/Qwen3-8B"},
		{"POST", "/api/report?format=pdf", small, 400, "html or md"},
		{"POST", "/api/report?format=", small, 400, "html or md"},
		{"POST", "/api/support", "", 400, "the request has no body"},
		{"POST", "/api/plan", strings.Replace(small, "Qwen3-8B", "Qwen3-8", 1), 422, "nearest: Qwen/Qwen3-8B"},
		{"POST", "/api/simulate", `{` + run + `,"concurrency":2,"rate":1}`, 422, "give one of concurrency, rate and trace"},
		{"GET", "/api/models?limit=1&offset=2", "", 200, `"next_offset": 3`},
		{"POST", "/api/files", `{"plan":` + small + `,"contender":"nonsense"}`, 422, "contender must be one of h200_sxm vllm agg"},
		{"POST", "/api/files", `{"plan":` + small + `,"site":{"served_model_name":"$(touch x)"}}`, 422, `"fields":["site.served_model_name"]`},
		{"POST", "/api/files", `{"plan":` + small + `,"site":{"port":65536}}`, 400, "site.port must be between 0 and 65535, got 65536"},
		{"GET", "/api/nonsense", "", 404, "no such path: /api/nonsense"},
		{"GET", "/debug/pprof/", "", 404, ""},
	} {
		w := ask(t, h, c.method, c.path, c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s: %d %.300s, want %d %s", c.method, c.path, w.Code, w.Body, c.status, c.want)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: headers are missing", c.path)
		}
		if w.Code >= 400 && strings.HasPrefix(c.path, "/api/") { // others are the page's
			var p guard.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code || p.Title == "" || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s: no problem document: %s", c.path, w.Body)
			}
		}
	}
}

// bug is files that are read by workers with a bug.
type bug struct{}

func (bug) Open(string) (fs.File, error) {
	panic(pool.Each(context.Background(), 2, 2, func(int) { panic("secret") }))
}

// TestBug: a bug in a worker is 500 without its details, and the server goes on.
func TestBug(t *testing.T) {
	env := environment()
	env.Session.Hub = bug{}
	runner := operation.NewRunner(env, operation.Capacity{Searches: 1})
	jobs := job.New(runner, job.Limits{})
	t.Cleanup(jobs.Close)
	h, err := serve.New(serve.Options{Runner: runner, Jobs: jobs, Version: "test", Loopback: true, Page: http.NotFoundHandler()})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w := ask(t, h, "POST", "/api/plan", strings.Replace(small, `"model":"`, `"model":"nobody/`, 1))
		if got := w.Body.String(); w.Code != 500 || !strings.Contains(got, "internal error") || strings.Contains(got, "secret") {
			t.Errorf("status %d: %s", w.Code, got)
		}
	}
	if w := ask(t, h, "GET", "/api/engines", ""); w.Code != 200 {
		t.Errorf("after a bug: status %d: %s", w.Code, w.Body)
	}
}

// TestSamePlan: the document is the one that package operation makes, byte by byte.
func TestSamePlan(t *testing.T) {
	o := operation.Lookup(operation.Table(), "plan")
	request, err := o.Decode([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := o.Run(t.Context(), environment(), request)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := document.Encode(&want, doc); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, handler(t, operation.Capacity{}), "POST", "/api/plan", " "+small); got.Body.String() != want.String() {
		t.Error("the document differs")
	}
}

// TestSameReport: a report after the plan is the one without it.
func TestSameReport(t *testing.T) {
	const path = "/api/report?format=md"
	h := handler(t, operation.Capacity{})
	fresh := ask(t, handler(t, operation.Capacity{}), "POST", path, small).Body.String()
	record := ask(t, h, "POST", "/api/plan", small).Body.String()
	if after := ask(t, h, "POST", path, small).Body.String(); after != fresh {
		t.Errorf("got %s, want %s", after, fresh)
	}
	h = handler(t, operation.Capacity{})
	ask(t, h, "POST", path, small)
	if after := ask(t, h, "POST", "/api/plan", small).Body.String(); after != record {
		t.Error("the record after the report differs")
	}
}

// TestFiles: the archive has the files, the scripts among them can be run.
func TestFiles(t *testing.T) {
	w := ask(t, handler(t, operation.Capacity{}), "POST", "/api/files", `{"plan":`+small+`,"targets":["plain","kubernetes"]}`)
	if plain := ask(t, handler(t, operation.Capacity{}), "POST", "/api/files", small); plain.Code != http.StatusOK {
		t.Errorf("a plan as it is: %s", plain.Body)
	}
	if w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, ".sh") && f.Mode()&0o100 != 0 {
			scripts++
		}
	}
	if scripts == 0 || len(z.File) < 2 {
		t.Errorf("%d files, %d scripts", len(z.File), scripts)
	}
}

// TestForeign: pages of others, and names of others for this machine, are refused.
func TestForeign(t *testing.T) {
	h := handler(t, operation.Capacity{})
	for name, change := range map[string]func(*http.Request){
		"origin": func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"site":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"host":   func(r *http.Request) { r.Host = "evil.example" },
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/api/plan", strings.NewReader(small))
		change(r)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

// TestLink: a link on another page may lead to the page.
func TestLink(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/?model=x", nil)
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	if handler(t, operation.Capacity{}).ServeHTTP(w, r); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestOpenAPI: the document is OpenAPI 3.1 as far as we use it, every reference leads
// somewhere, and what the server answers is as it says.
func TestOpenAPI(t *testing.T) {
	h := handler(t, operation.Capacity{})
	doc, err := jsonschema.UnmarshalJSON(ask(t, h, "GET", "/api/openapi.json", "").Body)
	if err != nil {
		t.Fatal(err)
	}
	root := doc.(map[string]any)
	if root["openapi"] != "3.1.0" || len(root["paths"].(map[string]any)) < 12 {
		t.Errorf("openapi %v", root["openapi"])
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	for name := range root["components"].(map[string]any)["schemas"].(map[string]any) {
		if _, err := c.Compile("openapi.json#/components/schemas/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	references(t, c, root)
	state, err := c.Compile("openapi.json#/components/schemas/Job/properties/state")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []job.State{job.Waiting, job.Running, job.Done, job.Failed, job.Cancelled, job.Stopped} {
		if err := state.Validate(string(s)); err != nil {
			t.Error(err)
		}
	}
	plan, err := c.Compile("openapi.json#/paths/~1api~1plan/post/responses/200/content/application~1json/schema")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := jsonschema.UnmarshalJSON(ask(t, h, "POST", "/api/plan", small).Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Validate(answer); err != nil {
		t.Error(err)
	}
}

// references follows every $ref.
func references(t *testing.T, c *jsonschema.Compiler, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			if _, err := c.Compile("openapi.json" + ref); err != nil {
				t.Errorf("%s: %v", ref, err)
			}
		}
		for _, x := range v {
			references(t, c, x)
		}
	case []any:
		for _, x := range v {
			references(t, c, x)
		}
	}
}

// live starts a server and returns its address.
func live(t testing.TB, h http.Handler, limits serve.Limits) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve.Serve(ctx, l, h, limits) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func post(ctx context.Context, url, body string) (int, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	_, _ = io.Copy(io.Discard, w.Body) // who left does not read it
	return w.StatusCode, w.Header, w.Body.Close()
}

// patience is how long a server on a busy machine may take to notice what its clients do.
const patience = 3 * time.Minute

// TestOverload: beyond the queue requests are refused at once, and those who leave make
// room for others.
func TestOverload(t *testing.T) {
	url := "http://" + live(t, handler(t, operation.Capacity{Searches: 1, Waiting: 1}), serve.Limits{})
	ctx, leave := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() { _, _, _ = post(ctx, url+"/api/plan", fmt.Sprintf(large, 8*(i+1))) })
	}
	busy, start := false, time.Now()
	for i := 0; !busy && time.Since(start) < patience; i++ {
		short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		status, header, _ := post(short, url+"/api/plan", fmt.Sprintf(large, 100+i))
		stop()
		if busy = status == http.StatusServiceUnavailable; busy && header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	if !busy {
		t.Error("nothing was refused")
	}
	if status, _, err := post(t.Context(), url+"/api/validate", `{"plan":{}}`); status != http.StatusOK {
		t.Errorf("what is no search: %d %v", status, err)
	}
	leave()
	wait.Wait()
	start = time.Now()
	for { // those who left are noticed soon
		status, _, err := post(t.Context(), url+"/api/plan", small)
		if status == http.StatusOK {
			break
		}
		if time.Since(start) > patience {
			t.Fatalf("after all left: %d %v", status, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestSlowClients: clients that send nothing, or half a request, lose their connection,
// and others are served meanwhile.
func TestSlowClients(t *testing.T) {
	addr := live(t, handler(t, operation.Capacity{}), serve.Limits{Header: 200 * time.Millisecond, Read: 300 * time.Millisecond, Write: time.Minute, Idle: time.Second})
	var dialer net.Dialer
	var all []net.Conn
	for i := range 50 {
		c, err := dialer.DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
		_, _ = io.WriteString(c, []string{"", "POST /api/plan HT", "POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"}[i%3])
	}
	if status, _, err := post(t.Context(), "http://"+addr+"/api/plan", small); status != http.StatusOK {
		t.Errorf("beside slow clients: %d %v", status, err)
	}
	for i, c := range all {
		if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); os.IsTimeout(err) {
			t.Errorf("client %d is still connected", i)
		}
		_ = c.Close()
	}
}
