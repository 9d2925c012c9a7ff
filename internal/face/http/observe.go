package http

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
)

// seen is what is known of a request at its end.
type seen struct {
	route string // the pattern of its address; "" if it was refused before
	user  string
}

// seenKey is the key of seen in the context of a request.
type seenKey struct{}

// inside notes the route and the user of requests that the guard accepted.
func inside(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r)
		if s, ok := r.Context().Value(seenKey{}).(*seen); ok {
			s.route, s.user = r.Pattern, guard.User(r)
		}
	})
}

// recorder notes the status and the size of a response.
type recorder struct {
	http.ResponseWriter

	status int
	bytes  int64
}

// WriteHeader notes the status.
func (w *recorder) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
	w.ResponseWriter.WriteHeader(status)
}

// Write notes the size.
func (w *recorder) Write(data []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	n, err := w.ResponseWriter.Write(data)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets an [http.ResponseController] flush.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// observe counts requests and logs them. The log has no queries and no bodies.
func (a *api) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		s, out := &seen{}, &recorder{ResponseWriter: w}
		id := requestID(r)
		w.Header().Set("X-Request-Id", id)
		a.meter.begin()
		next.ServeHTTP(out, r.WithContext(context.WithValue(r.Context(), seenKey{}, s)))
		took := time.Since(start)
		status := cmp.Or(out.status, http.StatusOK)
		a.meter.end(s.route, status, took)
		if a.Log == nil || slices.Contains(probes(), r.URL.Path) { // probes come all day
			return
		}
		a.Log.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("id", id), slog.String("method", r.Method), slog.String("path", r.URL.Path),
			slog.Int("status", status), slog.Int64("bytes", out.bytes), slog.Float64("seconds", took.Seconds()),
			slog.String("user", s.user), slog.String("client", r.RemoteAddr), slog.String("forwarded_for", r.Header.Get("X-Forwarded-For")))
	})
}

// requestID is the one that a proxy or client gave, or a new one.
func requestID(r *http.Request) string {
	given := r.Header.Get("X-Request-Id")
	plain := func(c rune) bool {
		return c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	}
	if given != "" && len(given) <= 64 && strings.IndexFunc(given, func(c rune) bool { return !plain(c) }) < 0 {
		return given
	}
	return rand.Text()
}

// meter counts requests by route and status.
type meter struct {
	mu      sync.Mutex
	running int
	codes   map[[2]string]int64 // by route and status
	times   map[string]*histogram
}

// histogram counts times below each of the bounds.
type histogram struct {
	below [len(bounds)]int64
	count int64
	sum   float64
}

// bounds, in seconds, of the histogram: a page, a drag, a plan, a long one.
var bounds = [...]float64{0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 75} //nolint:gochecknoglobals // an array cannot be a constant

func (m *meter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running++
}

func (m *meter) end(route string, status int, took time.Duration) {
	if _, path, ok := strings.Cut(route, " "); ok { // without its method
		route = path
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running--
	if m.codes == nil {
		m.codes, m.times = map[[2]string]int64{}, map[string]*histogram{}
	}
	m.codes[[2]string{route, strconv.Itoa(status)}]++
	if strings.HasSuffix(route, "/events") { // a stream lasts as long as its job
		return
	}
	h := m.times[route]
	if h == nil {
		h = &histogram{}
		m.times[route] = h
	}
	h.count++
	h.sum += took.Seconds()
	for i, b := range bounds {
		if took.Seconds() <= b {
			h.below[i]++
		}
	}
}

// metrics writes the metrics of the server in the text format of Prometheus, version 0.0.4.
func (a *api) metrics(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	family := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	one := func(name, kind, help string, value float64) {
		family(name, kind, help)
		fmt.Fprintf(&b, "%s %g\n", name, value)
	}
	family("plimsoll_build_info", "gauge", "The version of the program.")
	fmt.Fprintf(&b, "plimsoll_build_info{version=%q} 1\n", a.Version)
	a.meter.write(&b, family)
	searches, brief := a.Runner.Load()
	one("plimsoll_searches_running", "gauge", "Searches running.", float64(searches.Running))
	one("plimsoll_searches_waiting", "gauge", "Requests waiting for a search.", float64(searches.Waiting))
	one("plimsoll_brief_running", "gauge", "Brief requests running, which wait for no search.", float64(brief.Running))
	one("plimsoll_brief_waiting", "gauge", "Brief requests waiting for others.", float64(brief.Waiting))
	family("plimsoll_jobs", "gauge", "Jobs in memory, by state.")
	count := a.Jobs.Count()
	for _, state := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&b, "plimsoll_jobs{state=%q} %d\n", state, count[state])
	}
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(sample)
	one("go_goroutines", "gauge", "Goroutines of the process.", float64(runtime.NumGoroutine()))
	one("go_memory_bytes", "gauge", "Memory held by the Go runtime.", float64(sample[0].Value.Uint64()))
	one("go_cpu_user_seconds_total", "counter", "CPU time of Go code, as of the last garbage collection.", sample[1].Value.Float64())
	send(w, r, "text/plain; version=0.0.4; charset=utf-8", b.Bytes(), nil)
}

// write writes the counts of requests.
func (m *meter) write(b *bytes.Buffer, family func(name, kind, help string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	family("plimsoll_http_requests_in_flight", "gauge", "Requests in progress, including streams.")
	fmt.Fprintf(b, "plimsoll_http_requests_in_flight %d\n", m.running)
	family("plimsoll_http_requests_total", "counter", "Requests by route and status; the route of rejected requests is empty.")
	for _, k := range slices.SortedFunc(maps.Keys(m.codes), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		fmt.Fprintf(b, "plimsoll_http_requests_total{route=%q,code=%q} %d\n", k[0], k[1], m.codes[k])
	}
	const name = "plimsoll_http_request_seconds"
	family(name, "histogram", "Request duration by route, without streams.")
	for _, route := range slices.Sorted(maps.Keys(m.times)) {
		h := m.times[route]
		for i, bound := range bounds {
			fmt.Fprintf(b, "%s_bucket{route=%q,le=\"%g\"} %d\n", name, route, bound, h.below[i])
		}
		fmt.Fprintf(b, "%s_bucket{route=%q,le=\"+Inf\"} %d\n%s_sum{route=%q} %g\n%s_count{route=%q} %d\n", name, route, h.count, name, route, h.sum, name, route, h.count)
	}
}
