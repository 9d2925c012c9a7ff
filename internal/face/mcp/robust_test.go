package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	"github.com/plimsoll-project/plimsoll/internal/face/mcp"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// initialize opens a session.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// TestBadLines: a line that is no message is answered with an error, and the server goes on.
func TestBadLines(t *testing.T) {
	in, typed := io.Pipe()
	out, answers := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- server(t, environment()).Serve(t.Context(), in, answers) }()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<22)
	say := func(line string) (answer struct {
		ID    any
		Error struct{ Code int }
	},
	) {
		t.Helper()
		if _, err := io.WriteString(typed, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatalf("no answer to %.60s: %v", line, lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	say(initialize)
	for i, bad := range []struct {
		line string
		code int
	}{
		{`hello`, -32700},
		{`{"jsonrpc":"2.0","id":7,`, -32700},
		{`42`, -32600},
		{`{}`, -32600},
		{`[]`, -32600},
		{`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, -32600},
		{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600},
		{"\xff\xfe", -32700},
		{`"` + strings.Repeat("x", mcp.MaxBody+1) + `"`, -32600},
	} {
		if got := say(bad.line); got.Error.Code != bad.code {
			t.Errorf("%.60q is answered with %+v, want code %d", bad.line, got, bad.code)
		}
		if got := say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i+10)); got.ID != float64(i+10) || got.Error.Code != 0 {
			t.Errorf("after %.60q: %+v", bad.line, got)
		}
	}
	_ = typed.Close()
	if err := <-ended; err != nil {
		t.Errorf("at the end: %v", err)
	}
}

// TestHostileCalls: arguments that ask for much are refused within their memory, and the server goes on.
func TestHostileCalls(t *testing.T) {
	in, typed := io.Pipe()
	out, answers := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- server(t, environment()).Serve(t.Context(), in, answers) }()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	say := func(line string) string {
		t.Helper()
		if _, err := io.WriteString(typed, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatalf("no answer to %.60s: %v", line, lines.Err())
		}
		return lines.Text()
	}
	say(initialize)
	if _, err := io.WriteString(typed, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat
	for name, c := range map[string]struct{ tool, arguments, want string }{
		"deep lists":    {"plan", `{"model":` + many("[", 9_000) + many("]", 9_000) + "}", "not a JSON-RPC message"},
		"objects":       {"plan", `{"workloads":[` + many("{},", 300_000) + "{}]}", "more than 32,768 objects and lists"},
		"fields":        {"plan", "{" + many(`"a":1,`, 100_000) + `"b":1}`, "more than 100 mistakes"},
		"detail":        {"plan", `{"detail":` + many("[", 500) + many("]", 500) + "}", "detail must be summary or full"},
		"long model":    {"plan", `{"model":"` + many("x", 900_000) + `","systems":["h200_sxm"],"gpus":1,"workloads":[{"isl":9,"osl":9}]}`, "is not in the catalog"},
		"parentheses":   {"lint", `{"command":"` + many("(", 900_000) + `"}`, "more than 1,000 parts of the syntax inside each other"},
		"doubled":       {"lint", `{"command":"x=aaaaaaaaaaaaaaaa` + many(";x=$x$x", 40) + `"}`, "more than 1,048,576 bytes"},
		"cycle":         {"lint", `{"files":[{"name":"a.yaml","content":"tensor_parallel_size: 2\nx: &a\n  y: *a\n"}]}`, "more than 100 values inside each other"},
		"result":        {"check", `{"result":{"name":"r.json","content":"` + many("[", 900_000) + `"},"expected":{"deployment":{"model":"Qwen/Qwen3-8B","system":"h200_sxm"}}}`, "more than 262,144 objects and lists"},
		"unknown files": {"step", `{"deployment":{"model":"Qwen/Qwen3-8B"},"query_length":1,"device_file":"/dev/zero"}`, "files cannot be read here"},
		"schema":        {"schema", `{"tool":"` + many("x", 900_000) + `"}`, "tool"},
		"models":        {"models", `{"query":"` + many("x", 900_000) + `","limit":-1}`, "limit"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + c.tool + `","arguments":` + c.arguments + `}}`)
		runtime.ReadMemStats(&after)
		if !strings.Contains(got, c.want) || !strings.Contains(got, "error") && !strings.Contains(got, `"isError":true`) {
			t.Errorf("%s: %.300s", name, got)
		}
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 250 {
			t.Errorf("%s took %d MiB", name, mib)
		}
	}
	if got := say(`{"jsonrpc":"2.0","id":8,"method":"ping"}`); !strings.Contains(got, `"id":8,"result"`) {
		t.Errorf("afterwards: %s", got)
	}
	_ = typed.Close()
	if err := <-ended; err != nil {
		t.Errorf("at the end: %v", err)
	}
}

// TestIdleSessions: sessions that nobody uses end.
func TestIdleSessions(t *testing.T) {
	s, err := mcp.New(mcp.Options{Runner: operation.NewRunner(environment(), operation.Capacity{}), Version: "test", Idle: time.Millisecond, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	handler := s.Handler(&guard.Guard{Loopback: true, Body: mcp.MaxBody})
	for range 3 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost:1234/mcp", strings.NewReader(initialize))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != http.StatusOK || w.Header().Get("Mcp-Session-Id") == "" {
			t.Fatalf("no session: %d %s", w.Code, w.Body)
		}
	}
	for s.Open() > 0 { // the test's own deadline ends a wait in vain
		time.Sleep(time.Millisecond)
	}
}

// TestFullOfIdlers: of too many sessions the one that was silent for the longest gives way, unless it works or was used just now.
func TestFullOfIdlers(t *testing.T) {
	u := mcp.NewUsage()
	open := []string{"a", "b", "c"}
	now := time.Now()
	if got := u.Idlest(open, now); got != "" {
		t.Errorf("a new session gives way: %q", got)
	}
	u.Begin("a")()
	working := u.Begin("b")
	later := now.Add(10 * time.Minute)
	if got := u.Idlest(open, later); got != "c" {
		t.Errorf("%q gives way, want c", got)
	}
	if got := u.Idlest([]string{"a", "b"}, later); got != "a" {
		t.Errorf("%q gives way, want a", got)
	}
	if got := u.Idlest([]string{"b"}, later); got != "" {
		t.Errorf("one that works gives way: %q", got)
	}
	working()
}

// TestProgressGrows: progress grows with every report and never passes its total.
func TestProgressGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c mcp.Counter
		last := 0.0
		for range rapid.IntRange(1, 50).Draw(t, "reports") {
			of := rapid.IntRange(0, 20).Draw(t, "of")
			at, total := c.Add(session.Progress{Task: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "task"), Done: rapid.IntRange(0, of).Draw(t, "done"), Of: of})
			if at <= last || at > total {
				t.Fatalf("%g of %g after %g", at, total, last)
			}
			last = at
		}
	})
}
