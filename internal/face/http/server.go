package http

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	"github.com/plimsoll-project/plimsoll/internal/face/job"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/face/schema"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// Options are what a server is made of.
type Options struct {
	Runner  *operation.Runner
	Jobs    *job.Jobs
	Version string
	// Patience is how long a plain request may take before it goes on as a job; 0 = 75 s, less than a client may wait.
	Patience time.Duration
	// Page serves "/" and what it needs.
	Page http.Handler
	// HTML and Markdown write the report of a plan.
	HTML, Markdown func(io.Writer, *plan.Response) error
	// Loopback says that the server listens on this machine only.
	Loopback bool
	// Access says who may use the server and how much; nil = everybody, as much as they like.
	Access *guard.Guard
	// Ready says that the server takes new clients; nil = always.
	Ready func() bool
	// Log gets a record of every request; nil = none.
	Log *slog.Logger
	// Profile adds /debug/pprof, on loopback alone.
	Profile bool
}

// Limits are how long a client may take; 0 is the usual time, and -1 none: answers may be streams without an end.
type Limits struct{ Header, Read, Write, Idle time.Duration }

// MaxBody is the largest request in bytes.
const MaxBody = 1 << 20

// api is the JSON API.
type api struct {
	Options

	table   []operation.Operation
	schemas *schema.Set
	openAPI []byte
	meter   meter
}

// patience is how long a plain request may take.
func (a *api) patience() time.Duration { return cmp.Or(a.Patience, 75*time.Second) }

// New makes the handler of a server.
func New(o Options) (http.Handler, error) {
	a := &api{Options: o, table: operation.Table()}
	var err error
	if a.schemas, err = schema.New(a.table); err != nil {
		return nil, err
	}
	if a.openAPI, err = a.describe(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for i := range a.table {
		if op := &a.table[i]; !op.Writes {
			mux.Handle("/api/"+op.Name, a.operation(op))
		}
	}
	a.jobRoutes(mux)
	mux.Handle("/api/report", only(http.MethodPost, a.report))
	mux.Handle("/api/files", only(http.MethodPost, a.files))
	mux.Handle("/api/openapi.json", only(http.MethodGet, func(w http.ResponseWriter, r *http.Request) { send(w, r, jsonType, a.openAPI, nil) }))
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		guard.Refuse(w, http.StatusNotFound, "no such path: "+r.URL.Path+"; /api/openapi.json lists all paths")
	})
	if o.Profile && o.Loopback {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	mux.Handle("/healthz", only(http.MethodGet, func(w http.ResponseWriter, r *http.Request) { send(w, r, "text/plain", []byte("ok\n"), nil) }))
	mux.Handle("/readyz", only(http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		if o.Ready != nil && !o.Ready() {
			guard.Refuse(w, http.StatusServiceUnavailable, "this server is shutting down")
			return
		}
		send(w, r, "text/plain", []byte("ready\n"), nil)
	}))
	mux.Handle("/metrics", only(http.MethodGet, a.metrics))
	mux.Handle("/", o.Page)
	g := o.Access
	if g == nil {
		g = &guard.Guard{}
	}
	g.Loopback, g.Body, g.Open, g.Inner = o.Loopback, MaxBody, probes(), []string{"/metrics"}
	origins := http.NewCrossOriginProtection()
	if g.UserHeader != "" { // a proxy may give the host another name; the guard has checked the origin
		origins.AddInsecureBypassPattern("/")
	}
	return a.observe(headers(g.Handler(origins.Handler(inside(mux))))), nil
}

// probes are the addresses of health and readiness.
func probes() []string { return []string{"/healthz", "/readyz"} }

// headers adds the headers of every response.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "+
			"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}

// only accepts one method.
func only(method string, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method && (method != http.MethodGet || r.Method != http.MethodHead) {
			w.Header().Set("Allow", method)
			guard.Refuse(w, http.StatusMethodNotAllowed, "use "+method)
			return
		}
		next(w, r)
	})
}

// Serve answers on a listener until ctx is done, then lets requests under way finish.
func Serve(ctx context.Context, l net.Listener, h http.Handler, limits Limits) error {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: cmp.Or(limits.Header, 5*time.Second), ReadTimeout: cmp.Or(limits.Read, 15*time.Second),
		WriteTimeout: cmp.Or(limits.Write, 90*time.Second), IdleTimeout: cmp.Or(limits.Idle, 2*time.Minute), MaxHeaderBytes: 16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	const patience = 5 * time.Second
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := s.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.Close()
	}
	<-ended
	return err
}
