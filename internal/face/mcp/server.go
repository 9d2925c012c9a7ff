package mcp

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/face/schema"
)

// Options are what a server is made of.
type Options struct {
	Runner  *operation.Runner
	Version string
	// Docs are the files NAME.md to be read as resources; nil = none.
	Docs fs.FS
	// Writes allows operations that write files.
	Writes bool
	// Idle is how long a session over HTTP may be silent; 0 = 30 minutes. Sessions is how many there may be; 0 = 64.
	Idle     time.Duration
	Sessions int
	// Now is the clock by which sessions are idle.
	Now func() time.Time
}

// Server serves agents.
type Server struct {
	runner  *operation.Runner
	records *records
	server  *sdk.Server
	table   []operation.Operation
	schemas *schema.Set
	idle    time.Duration
	most    int
	use     *usage
}

// The bounds of a server over HTTP.
const (
	MaxBody     = 1 << 20
	maxSessions = 64
	idleSession = 30 * time.Minute
)

// New makes a server.
func New(o Options) (*Server, error) {
	table := operation.Table()
	schemas, err := schema.New(table)
	if err != nil {
		return nil, err
	}
	s := &Server{
		runner: o.Runner, records: &records{at: map[string]string{}}, table: table, schemas: schemas,
		idle: cmp.Or(o.Idle, idleSession), most: cmp.Or(o.Sessions, maxSessions), use: newUsage(o.Now),
	}
	s.server = sdk.NewServer(
		&sdk.Implementation{Name: "plimsoll", Title: "Plimsoll", Version: o.Version},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}},
	)
	for i := range table {
		if table[i].Writes && !o.Writes {
			continue
		}
		s.addTool(&table[i])
	}
	s.addSchema()
	addPrompts(s.server)
	s.addRecords()
	return s, addDocs(s.server, o.Docs)
}

// Serve serves one client over streams, until they end.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	answers := &lockedWriter{w: out}
	return s.server.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(onlyMessages(in, answers)), Writer: nopCloser{answers}, MaxLineLength: MaxBody})
}

// nopCloser leaves a stream open.
type nopCloser struct{ io.Writer }

// Close does nothing.
func (nopCloser) Close() error { return nil }

// Handler serves clients by streamable HTTP under /mcp.
func (s *Server) Handler(g *guard.Guard) http.Handler {
	streams := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.server }, &sdk.StreamableHTTPOptions{
		SessionTimeout: s.idle, MaxRequestBodyBytes: MaxBody, PropagateRequestCancellation: true,
	})
	limited := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(sessionHeader)
		if id == "" && !s.room() {
			w.Header().Set("Retry-After", "60")
			guard.Refuse(w, http.StatusServiceUnavailable, "too many sessions are open")
			return
		}
		if id != "" && r.Method != http.MethodGet { // a stream that only listens is no use
			defer s.use.begin(id)()
		}
		streams.ServeHTTP(w, r)
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", limited)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		guard.Refuse(w, http.StatusNotFound, "the server is at /mcp")
	})
	return g.Handler(mux)
}

const instructions = `Plimsoll predicts how to serve a language model on given hardware; it needs neither the hardware nor the weights.
Ask the user only for what "validate" says is missing; never fill in values silently; show its assumptions with their sources and its
command, and run "plan" or "optimize" after the user agreed. Times in requests are milliseconds. Figures are predictions with 80 %
intervals: end with the caution of the answer. Answers are summaries; "detail": "full" gives everything, "schema" every field of a tool.
The prompts "plan" and "plan_zh" contain the whole dialogue.`
