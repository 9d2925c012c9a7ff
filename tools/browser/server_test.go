package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"
)

// server answers as the real one does, with figures that follow the request.
type server struct {
	*httptest.Server

	report string

	mu       sync.Mutex
	requests []map[string]any
	joined   int
	compared int
	alone    int    // questions of some modes
	state    string // of the job, at its end
}

func serve(t *testing.T) *server {
	t.Helper()
	report, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{report: string(report)}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir("../../internal/face/web/assets")))
	mux.HandleFunc("GET /api/models", static(`{"models":[{"id":"Qwen/Qwen3-32B"},{"id":"deepseek-ai/DeepSeek-V3"}]}`))
	mux.HandleFunc("GET /api/devices", static(`{"devices":[{"name":"h100_sxm","vendor":"nvidia","price":{"usd_per_hour":10}},
		{"name":"h200_sxm","vendor":"nvidia","price":{"usd_per_hour":10}},{"name":"l40s","vendor":"nvidia","price":{"usd_per_hour":3.5}},
		{"name":"mi300x","vendor":"amd","price":{}}]}`))
	mux.HandleFunc("GET /api/engines", static(`{"engines":[{"name":"vllm","title":"vLLM v1"},{"name":"sglang","title":"SGLang"}],
		"presets":[{"name":"chat","mean_isl":1024.4,"mean_osl":256,"prefix":512},
		{"name":"agentic","mean_isl":8596,"mean_osl":182,"session":{"system":5072,"turns":64,"first":3916,"user":120,"output":202,"length_ratio_low":0.8,"think_s":2}}]}`))
	mux.HandleFunc("POST /api/plan", s.answer)
	mux.HandleFunc("POST /api/report", s.answer)
	mux.HandleFunc("POST /api/files", s.answer)
	mux.HandleFunc("POST /api/diff", s.compare)
	mux.HandleFunc("POST /api/jobs/plan", s.startJob)
	mux.HandleFunc("GET /api/jobs/one/events", s.jobEvents)
	mux.HandleFunc("GET /api/jobs/one/report", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, s.with("The answer of a job, as far as it is known."))
	})
	mux.HandleFunc("POST /api/jobs/one/cancel", func(http.ResponseWriter, *http.Request) { s.step("cancelled") })
	mux.HandleFunc("DELETE /api/jobs/one", func(http.ResponseWriter, *http.Request) { s.step("stopped") })
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func static(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	var request map[string]any
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, request)
	s.mu.Unlock()
	switch request["model"] {
	case "no/such":
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"title":"The request is not valid","detail":"model \"no/such\" is not in the catalog; nearest: Qwen/Qwen3-32B","fields":["model"]}`)
		return
	case "Qwen/Qwen3-32B-FP8": // that of the golden file
		if s.first(request["modes"]) { // of a contender alone: busy at first
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, s.report)
		return
	case "long": // until the client has made it a job
		<-r.Context().Done()
		return
	case "slow":
		time.Sleep(700 * time.Millisecond) // until a later question has made this one void
	}
	if request["gpus"] == 1.0 { // too few: the golden file of a model that does not fit
		http.ServeFile(w, r, tooSmall)
		return
	}
	limits, _ := request["limits"].(map[string]any)
	sentence := fmt.Sprintf("%v GPUs for %v, %v ms.", request["gpus"], request["model"], limits["tpot_ms"])
	fmt.Fprint(w, s.with(sentence))
}

// first says that a question is the first one of some modes.
func (s *server) first(modes any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if modes == nil {
		return false
	}
	s.alone++
	return s.alone == 1
}

// all are the requests so far.
func (s *server) all() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[:len(s.requests):len(s.requests)]
}

// last is the request that came last.
func (s *server) last() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		return nil
	}
	return s.requests[len(s.requests)-1]
}

// with is the report with another sentence.
func (s *server) with(sentence string) string {
	out := regexp.MustCompile(`(<h1 id="sentence">)[^<]*`).ReplaceAllString(s.report, "${1}"+sentence)
	return regexp.MustCompile(`("sentence":")[^"]*`).ReplaceAllString(out, "${1}"+sentence)
}

// startJob counts the clients that start or join the job.
func (s *server) startJob(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.joined++
	s.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprint(w, `{"id":"one","state":"running","progress":null,"partial":false,"left":[]}`)
}

// step makes the job end.
func (s *server) step(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// jobEvents says that a part is known, and when the job ends.
func (s *server) jobEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for r.Context().Err() == nil {
		s.mu.Lock()
		state := s.state
		s.mu.Unlock()
		if state == "" {
			state = "running"
		}
		fmt.Fprintf(w, "event: status\ndata: {\"id\":\"one\",\"state\":%q,\"progress\":{\"task\":\"comparing\",\"done\":3,\"of\":8,\"what\":\"searches\"},\"partial\":true,\"left\":[\"a vllm agg\"]}\n\n", state)
		_ = http.NewResponseController(w).Flush() // the client may be gone
		if state != "running" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// compare answers what differs between two questions.
func (s *server) compare(w http.ResponseWriter, r *http.Request) {
	var asked struct{ A, B map[string]any }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compared++; s.compared == 1 { // busy at first
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintf(w, `{"causes":[],"fields":[{"field":"gpus","a":"%v","b":"%v","ratio":1.25}],"best":["one","two"],"changed":true,"contenders":[],
		"figures":[{"name":"GPUs","a":%v,"b":%v,"within_error":false},{"name":"TTFT ms","a":100,"b":110,"within_error":true}]}`,
		asked.A["gpus"], asked.B["gpus"], asked.A["gpus"], asked.B["gpus"])
}
