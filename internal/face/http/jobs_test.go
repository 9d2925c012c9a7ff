package http_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	serve "github.com/plimsoll-project/plimsoll/internal/face/http"
	"github.com/plimsoll-project/plimsoll/internal/face/job"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// startJob starts a job and returns its state.
func startJob(t *testing.T, h http.Handler, body string) job.Status {
	t.Helper()
	w := ask(t, h, "POST", "/api/jobs/plan", body)
	var s job.Status
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != 200 && w.Code != 202 || w.Header().Get("Location") != "/api/jobs/"+s.ID {
		t.Fatalf("%d %s %v", w.Code, w.Body, err)
	}
	return s
}

// look is the state of a job.
func look(t *testing.T, h http.Handler, id string) job.Status {
	t.Helper()
	w := ask(t, h, "GET", "/api/jobs/"+id, "")
	var s job.Status
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s %v", w.Code, w.Body, err)
	}
	return s
}

// until waits for a state.
func until(t *testing.T, h http.Handler, id string, is func(*job.Status) bool) job.Status {
	t.Helper()
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if s := look(t, h, id); is(&s) {
			return s
		} else if time.Since(start) > patience {
			t.Fatalf("still %+v", s)
		}
	}
}

func ended(s *job.Status) bool { return s.Ended() }

// TestJob: a job's answer is that of the plain address, byte by byte; equal requests are one job, its client need not wait, and
// another server gives it the same id and answer.
func TestJob(t *testing.T) {
	h := handler(t, operation.Capacity{})
	s := startJob(t, h, small)
	if again := startJob(t, h, " "+small); again.ID != s.ID {
		t.Error("an equal request is another job")
	}
	done := until(t, h, s.ID, ended)
	if done.State != job.Done || done.Progress == nil || done.Progress.Done != done.Progress.Of || len(done.Left) != 0 || done.Detail != "" {
		t.Errorf("at the end: %+v", done)
	}
	got := ask(t, h, "GET", "/api/jobs/"+s.ID+"/result", "").Body.String()
	other := handler(t, operation.Capacity{})
	if plain := ask(t, other, "POST", "/api/plan", small).Body.String(); got != plain {
		t.Error("the answer of a job differs from that of another server")
	}
	if there := startJob(t, other, small); there.ID != s.ID {
		t.Error("another server gives another id")
	}
	if page := ask(t, h, "GET", "/api/jobs/"+s.ID+"/report", "").Body.String(); page != ask(t, h, "POST", "/api/report", small).Body.String() {
		t.Errorf("the report of a job is %.100s", page)
	}
	if w := ask(t, h, "POST", "/api/jobs/"+s.ID, ""); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, DELETE" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/api/jobs/nonsense", "/api/jobs/nonsense/events", "/api/jobs/nonsense/result"} {
		if w := ask(t, h, "GET", path, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := ask(t, h, "POST", "/api/jobs/plan", ""); w.Code != http.StatusBadRequest {
		t.Errorf("without a body: %d %s", w.Code, w.Body)
	}
	if w := ask(t, h, "POST", "/api/jobs/plan", strings.Replace(small, `"gpus"`, `"gpu"`, 1)); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"fields":["gpu",`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestJobFails: a mistake that only the work finds is the answer's status.
func TestJobFails(t *testing.T) {
	h := handler(t, operation.Capacity{})
	s := startJob(t, h, strings.Replace(small, `"gpus":2`, `"gpus":2,"spare":1`, 1))
	failed := until(t, h, s.ID, ended)
	if failed.State != job.Failed || !strings.Contains(failed.Detail, "spare and utilization need") {
		t.Errorf("%+v", failed)
	}
	if w := ask(t, h, "GET", "/api/jobs/"+s.ID+"/result", ""); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `"fields":["spare",`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(t, h, "GET", "/api/jobs/"+s.ID+"/partial", ""); w.Code != http.StatusConflict {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestJobCancel: a job has a partial answer with what is left, and a client that cancels it stops the CPU and keeps what is known. One
// that deletes it stops it too, and nothing of it is left.
func TestJobCancel(t *testing.T) {
	h := handler(t, operation.Capacity{})
	s := startJob(t, h, fmt.Sprintf(large, 4096))
	path := "/api/jobs/" + s.ID
	if w := ask(t, h, "GET", path+"/result", ""); w.Code != http.StatusConflict {
		t.Errorf("before its end: %d", w.Code)
	}
	until(t, h, s.ID, func(s *job.Status) bool { return s.Partial })
	var some opsplan.Response
	if w := ask(t, h, "GET", path+"/partial", ""); json.Unmarshal(w.Body.Bytes(), &some) != nil || len(some.Contenders) == 0 || some.Answer.Sentence == "" || some.Command == "" {
		t.Errorf("partial: %d %.300s", w.Code, w.Body)
	}
	if w := ask(t, h, "GET", path+"/report", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<p>") {
		t.Errorf("report: %d %.300s", w.Code, w.Body)
	}
	if w := ask(t, h, "POST", path+"/cancel", ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	now := until(t, h, s.ID, ended)
	if now.State != job.Cancelled || !now.Partial || len(now.Left) == 0 || now.Progress.Done >= now.Progress.Of {
		t.Errorf("cancelled: %+v", now)
	}
	if w := ask(t, h, "GET", path+"/partial", ""); w.Code != http.StatusOK {
		t.Errorf("partial after it: %d", w.Code)
	}
	idle(t)
	if again := startJob(t, h, fmt.Sprintf(large, 4096)); again.Ended() || again.ID != s.ID {
		t.Errorf("again: %+v", again)
	}
	if w := ask(t, h, "DELETE", path, ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), s.ID) {
		t.Errorf("deleted: %d %s", w.Code, w.Body)
	}
	for _, at := range []string{"", "/partial", "/result", "/events"} {
		if w := ask(t, h, "GET", path+at, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s after it was deleted: %d", at, w.Code)
		}
	}
	idle(t)
}

// idle fails the test unless the process stops using its cores.
func idle(t *testing.T) {
	t.Helper()
	used := func() float64 {
		s := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}}
		metrics.Read(s)
		return s[0].Value.Float64()
	}
	for start := time.Now(); time.Since(start) < patience; {
		runtime.GC() // the figures are those of the last collection
		before := used()
		time.Sleep(200 * time.Millisecond)
		runtime.GC()
		if used()-before < 0.05 { // of two cores' 0.4 s
			return
		}
	}
	t.Error("the work goes on")
}

// TestJobEvents: a stream says what comes, up to the end.
func TestJobEvents(t *testing.T) {
	h := handler(t, operation.Capacity{})
	url := "http://" + live(t, h, serve.Limits{Write: time.Second})
	s := startJob(t, h, fmt.Sprintf(large, 4096))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/jobs/"+s.ID+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	if w.Header.Get("Content-Type") != "text/event-stream" {
		t.Error(w.Header)
	}
	var all []job.Status
	lines := bufio.NewScanner(w.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var s job.Status
		if err := json.Unmarshal([]byte(data), &s); err != nil {
			t.Fatal(err)
		}
		if all = append(all, s); len(all) == 3 { // after the time that a plain answer has
			ask(t, h, "DELETE", "/api/jobs/"+s.ID, "")
		}
	}
	if err := lines.Err(); err != nil || len(all) < 3 || all[len(all)-1].State != job.Cancelled {
		t.Fatalf("%v, %d events: %+v", err, len(all), all)
	}
	for i := 1; i < len(all); i++ {
		a, b := all[i-1].Progress, all[i].Progress
		if a != nil && b != nil && (b.Done < a.Done || b.Of < a.Of) {
			t.Errorf("progress fell from %v to %v", a, b)
		}
	}
}

// TestLongPlain: a plain request that takes too long goes on as a job, which the next one joins.
func TestLongPlain(t *testing.T) {
	h := jobbing(t, operation.Capacity{}, job.Limits{}, 20*time.Millisecond)
	w := ask(t, h, "POST", "/api/plan", fmt.Sprintf(large, 4096))
	path := w.Header().Get("Location")
	if w.Code != http.StatusServiceUnavailable || !strings.HasPrefix(path, "/api/jobs/") || w.Header().Get("Retry-After") == "" {
		t.Fatalf("%d %s %v", w.Code, w.Body, w.Header())
	}
	if w := ask(t, h, "POST", "/api/report", fmt.Sprintf(large, 4096)); w.Header().Get("Location") != path {
		t.Errorf("the next is %s, the first %s", w.Header().Get("Location"), path)
	}
	if s := until(t, h, strings.TrimPrefix(path, "/api/jobs/"), func(s *job.Status) bool { return s.Progress != nil }); s.State != job.Running {
		t.Errorf("%+v", s)
	}
	ask(t, h, "DELETE", path, "")
}

// TestJobLimits: jobs are bounded in number, in time and in what they keep.
func TestJobLimits(t *testing.T) {
	one := jobbing(t, operation.Capacity{}, job.Limits{Most: 1}, 0)
	s := startJob(t, one, fmt.Sprintf(large, 4096))
	if w := ask(t, one, "POST", "/api/jobs/plan", small); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("beyond the most: %d %s", w.Code, w.Body)
	}
	ask(t, one, "POST", "/api/jobs/"+s.ID+"/cancel", "")
	until(t, one, s.ID, ended)
	startJob(t, one, small) // takes the place of the one that ended
	if w := ask(t, one, "GET", "/api/jobs/"+s.ID, ""); w.Code != http.StatusNotFound {
		t.Errorf("the job that was replaced: %d", w.Code)
	}
	for name, l := range map[string]job.Limits{"time": {Longest: 50 * time.Millisecond}, "nobody asks": {Idle: 50 * time.Millisecond}} {
		h := jobbing(t, operation.Capacity{}, l, 0)
		s := startJob(t, h, fmt.Sprintf(large, 4096))
		if name != "time" {
			time.Sleep(time.Second)
		}
		if s := until(t, h, s.ID, ended); s.State != job.Stopped || s.Detail == "" {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for name, l := range map[string]job.Limits{"old": {Keep: time.Nanosecond}, "large": {Bytes: 1}} {
		h := jobbing(t, operation.Capacity{}, l, 0)
		s := startJob(t, h, small)
		for start := time.Now(); ask(t, h, "GET", "/api/jobs/"+s.ID, "").Code != http.StatusNotFound; time.Sleep(5 * time.Millisecond) {
			if time.Since(start) > patience {
				t.Fatalf("%s: still there", name)
			}
		}
	}
}

// TestJobsClose: with the server its jobs and their streams end.
func TestJobsClose(t *testing.T) {
	runner := operation.NewRunner(environment(), operation.Capacity{})
	jobs := job.New(runner, job.Limits{})
	h, err := serve.New(serve.Options{Runner: runner, Jobs: jobs, Version: "test", Loopback: true, Page: http.NotFoundHandler()})
	if err != nil {
		t.Fatal(err)
	}
	s := startJob(t, h, fmt.Sprintf(large, 4096))
	time.AfterFunc(50*time.Millisecond, jobs.Close)
	stream := ask(t, h, "GET", "/api/jobs/"+s.ID+"/events", "")
	if got, _ := io.ReadAll(stream.Body); !strings.Contains(string(got), `"state":"stopped"`) {
		t.Errorf("%s", got)
	}
	if w := ask(t, h, "POST", "/api/jobs/plan", small); w.Code == http.StatusAccepted {
		t.Error("a closed server takes jobs")
	}
}
