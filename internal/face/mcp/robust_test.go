package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
	go func() { ended <- server(t, kit()).Serve(t.Context(), in, answers) }()
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

// TestIdleSessions: sessions that nobody uses end.
func TestIdleSessions(t *testing.T) {
	s, err := mcp.New(mcp.Options{Desk: operation.NewDesk(kit(), operation.Capacity{}), Version: "test", Idle: time.Millisecond, Now: time.Now})
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
