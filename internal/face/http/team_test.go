package http_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	serve "github.com/plimsoll-project/plimsoll/internal/face/http"
	"github.com/plimsoll-project/plimsoll/internal/face/job"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

// team is a server for two users.
type team struct {
	http.Handler

	log     bytes.Buffer
	leaving atomic.Bool
}

const annToken, bobToken = "ann-0123456789abcdef", "bob-0123456789abcdef"

func newTeam(t *testing.T) *team {
	t.Helper()
	out := &team{}
	runner := operation.NewRunner(environment(), operation.Capacity{})
	jobs := job.New(runner, job.Limits{})
	t.Cleanup(jobs.Close)
	h, err := serve.New(serve.Options{
		Runner: runner, Jobs: jobs, Version: "test", Page: http.NotFoundHandler(), Ready: func() bool { return !out.leaving.Load() },
		Access: &guard.Guard{Users: map[string]string{"ann": annToken, "bob": bobToken}}, Log: slog.New(slog.NewJSONHandler(&out.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	out.Handler = h
	return out
}

// as is a request of a user.
func (x *team) as(t *testing.T, token, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://plan.example.com"+path, strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	x.ServeHTTP(w, r)
	return w
}

// TestProbes: health and readiness need no user; a server that ends is not ready and still healthy.
func TestProbes(t *testing.T) {
	x := newTeam(t)
	for range 2 {
		for path, want := range map[string]int{"/healthz": 200, "/readyz": map[bool]int{false: 200, true: 503}[x.leaving.Load()], "/metrics": 401, "/api/engines": 401} {
			if w := x.as(t, "", "GET", path, ""); w.Code != want {
				t.Errorf("%s: %d, want %d", path, w.Code, want)
			}
		}
		x.leaving.Store(true)
	}
}

// TestSharedJob: a job of two users goes on until both have left it.
func TestSharedJob(t *testing.T) {
	x := newTeam(t)
	body := fmt.Sprintf(large, 4096)
	var s job.Status
	for _, token := range []string{annToken, bobToken} {
		if err := json.Unmarshal(x.as(t, token, "POST", "/api/jobs/plan", body).Body.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
	}
	state := func(method, token string) job.Status {
		if err := json.Unmarshal(x.as(t, token, method, "/api/jobs/"+s.ID, "").Body.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	state("DELETE", annToken) // which deletes nothing of the other's
	if s := state("GET", bobToken); s.Ended() {
		t.Errorf("after the first left: %+v", s)
	}
	if w := x.as(t, bobToken, "POST", "/api/jobs/"+s.ID+"/cancel", ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for s := state("GET", bobToken); !s.Ended(); s = state("GET", bobToken) {
		time.Sleep(5 * time.Millisecond)
	}
	if s.State != job.Cancelled {
		t.Errorf("after both left: %+v", s)
	}
}

// TestLog: every request but the probes is a record with its user, without its query.
func TestLog(t *testing.T) {
	x := newTeam(t)
	x.as(t, annToken, "GET", "/api/models?q=secret", "")
	x.as(t, "", "GET", "/api/plan", "")
	x.as(t, "", "GET", "/healthz", "")
	lines := strings.Split(strings.TrimSpace(x.log.String()), "\n")
	if len(lines) != 2 || strings.Contains(x.log.String(), "secret") || strings.Contains(x.log.String(), annToken) {
		t.Fatalf("%s", x.log.String())
	}
	var first, second struct {
		ID, Method, Path, User string
		Status, Bytes          int
		Seconds                float64
	}
	if json.Unmarshal([]byte(lines[0]), &first) != nil || json.Unmarshal([]byte(lines[1]), &second) != nil {
		t.Fatal(lines)
	}
	if first.User != "ann" || first.Path != "/api/models" || first.Status != 200 || first.Bytes == 0 || first.ID == "" || second.Status != 401 || second.User != "" {
		t.Errorf("%+v\n%+v", first, second)
	}
}

// TestMetrics: every line is of the text format of Prometheus, counts fit together, and routes are bounded.
func TestMetrics(t *testing.T) {
	x := newTeam(t)
	x.as(t, annToken, "GET", "/api/models?q=qwen3", "")
	x.as(t, annToken, "GET", "/api/jobs/a", "")
	x.as(t, annToken, "GET", "/api/jobs/b", "")
	x.as(t, annToken, "GET", "/nothing/"+strings.Repeat("x", 50), "")
	x.as(t, "", "GET", "/api/plan", "")
	w := x.as(t, annToken, "GET", "/metrics", "")
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Error(w.Header())
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? [-+0-9.e]+)$`)
	for l := range strings.Lines(w.Body.String()) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("line %q", l)
		}
	}
	for _, want := range []string{
		`plimsoll_build_info{version="test"} 1`, `plimsoll_http_requests_total{route="/api/models",code="200"} 1`, `plimsoll_http_requests_total{route="/api/jobs/{id}",code="404"} 2`,
		`plimsoll_http_requests_total{route="/",code="404"} 1`, `plimsoll_http_requests_total{route="",code="401"} 1`, `plimsoll_http_request_seconds_bucket{route="/api/models",le="+Inf"} 1`,
		`plimsoll_http_request_seconds_count{route="/api/models"} 1`, `plimsoll_http_requests_in_flight 1`, `plimsoll_jobs{state="running"} 0`, `plimsoll_searches_waiting 0`, "go_goroutines ",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in\n%s", want, w.Body)
		}
	}
}

// TestCopies: two copies behind one address give the same answers; a job that one of them started is found again by asking the other.
func TestCopies(t *testing.T) {
	copies := []http.Handler{handler(t, operation.Capacity{}), handler(t, operation.Capacity{})}
	turn := 0
	balanced := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turn++
		copies[turn%2].ServeHTTP(w, r)
	})
	first, second := startJob(t, balanced, small), startJob(t, balanced, small)
	if first.ID != second.ID {
		t.Fatalf("ids %s and %s", first.ID, second.ID)
	}
	for _, one := range copies {
		until(t, one, first.ID, ended)
	}
	var all []string
	for range 2 {
		all = append(all, ask(t, balanced, "GET", "/api/jobs/"+first.ID+"/result", "").Body.String(), ask(t, balanced, "POST", "/api/plan", small).Body.String())
	}
	for _, x := range all {
		if x != all[0] || !strings.Contains(x, "plimsoll/plan/2") {
			t.Error("copies differ")
		}
	}
}
