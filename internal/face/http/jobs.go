package http

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	"github.com/plimsoll-project/plimsoll/internal/face/job"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

// jobRoutes are the addresses of jobs.
func (a *api) jobRoutes(mux *http.ServeMux) {
	for i := range a.table {
		if o := &a.table[i]; hasJobs(o) {
			mux.Handle("/api/jobs/"+o.Name, only(http.MethodPost, func(w http.ResponseWriter, r *http.Request) { a.startJob(w, r, o) }))
		}
	}
	of := func(do func(http.ResponseWriter, *http.Request, *job.Job)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			x := a.Jobs.Get(r.PathValue("id"))
			if x == nil {
				guard.Refuse(w, http.StatusNotFound, "no such job, or it has expired: start it again with POST /api/jobs/OPERATION")
				return
			}
			do(w, r, x)
		}
	}
	for path, get := range map[string]func(http.ResponseWriter, *http.Request, *job.Job){
		"result": a.jobResult, "partial": a.jobPartial, "report": a.jobReport, "events": a.jobEvents,
	} {
		mux.Handle("/api/jobs/{id}/"+path, only(http.MethodGet, of(get)))
	}
	mux.Handle("/api/jobs/{id}/cancel", only(http.MethodPost, of(func(w http.ResponseWriter, r *http.Request, x *job.Job) {
		x.Leave(guard.User(r))
		sendStatus(w, r, http.StatusOK, x)
	})))
	mux.HandleFunc("/api/jobs/{id}", func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodDelete, http.MethodGet, http.MethodHead:
			of(a.jobState)(w, r)
		default:
			w.Header().Set("Allow", "GET, DELETE")
			guard.Refuse(w, http.StatusMethodNotAllowed, "use GET or DELETE")
		}
	})
}

// jobState writes the state of a job, and deletes it if that is asked.
func (a *api) jobState(w http.ResponseWriter, r *http.Request, x *job.Job) {
	if r.Method == http.MethodDelete {
		a.Jobs.Delete(x, guard.User(r))
	}
	sendStatus(w, r, http.StatusOK, x)
}

// hasJobs reports whether an operation may take long.
func hasJobs(o *operation.Operation) bool { return !o.Writes && !o.Light }

// startJob makes a job of a request, or joins it.
func (a *api) startJob(w http.ResponseWriter, r *http.Request, o *operation.Operation) {
	data, ok := body(w, r)
	if !ok {
		return
	}
	var x *job.Job
	q, err := a.Runner.Ask(o, "", data, nil)
	if err == nil {
		x, err = a.Jobs.Start(q, guard.User(r))
	}
	if err != nil {
		refuse(w, r, err)
		return
	}
	w.Header().Set("Location", "/api/jobs/"+x.ID())
	sendStatus(w, r, http.StatusAccepted, x)
}

// sendStatus writes the state of a job; one that ended has status 200.
func sendStatus(w http.ResponseWriter, r *http.Request, code int, x *job.Job) {
	s, _ := x.Status()
	if s.Ended() {
		code = http.StatusOK
	}
	data, err := json.Marshal(s)
	if err != nil {
		refuse(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", jsonType)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(append(data, '\n')) // the client may be gone
}

// jobResult writes the answer, byte for byte that of the plain address.
func (a *api) jobResult(w http.ResponseWriter, r *http.Request, x *job.Job) {
	data, ended, err := x.Result()
	if !ended {
		w.Header().Set("Retry-After", "5")
		guard.Refuse(w, http.StatusConflict, "the job has no answer yet; /partial has the answer so far, /events reports when it ends")
		return
	}
	send(w, r, jsonType, data, err)
}

// jobPartial writes the answer as far as it is known.
func (a *api) jobPartial(w http.ResponseWriter, r *http.Request, x *job.Job) {
	if data := x.Partial(); data != nil {
		send(w, r, jsonType, data, nil)
		return
	}
	nothingYet(w)
}

// jobReport writes a plan, as far as it is known, as a page.
func (a *api) jobReport(w http.ResponseWriter, r *http.Request, x *job.Job) {
	if s, _ := x.Status(); s.Operation != "plan" {
		guard.Refuse(w, http.StatusNotFound, "plans have reports, "+s.Operation+" has none")
		return
	}
	if data := x.Partial(); data != nil {
		a.page(w, r, data)
		return
	}
	nothingYet(w)
}

func nothingYet(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	guard.Refuse(w, http.StatusConflict, "no part of the answer is available yet")
}

// The least time between two events of a stream, and the most: a comment keeps proxies from closing it.
const (
	betweenEvents = 200 * time.Millisecond
	heartbeat     = 15 * time.Second
)

// jobEvents streams the state of a job until it ends, as server-sent events.
func (a *api) jobEvents(w http.ResponseWriter, r *http.Request, x *job.Job) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would wait for more
	out := http.NewResponseController(w)
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	write := func(format string, args ...any) bool {
		_ = out.SetWriteDeadline(time.Now().Add(2 * heartbeat)) // a stream has no end of its own; recorders of tests have no deadline
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && out.Flush() == nil
	}
	_ = out.SetReadDeadline(time.Time{}) // as above
	if !write("retry: 2000\n\n") {
		return
	}
	for {
		s, changed := x.Status()
		data, err := json.Marshal(s)
		if err != nil || !write("event: status\ndata: %s\n\n", data) || s.Ended() {
			return
		}
		select {
		case <-time.After(betweenEvents):
		case <-r.Context().Done():
			return
		}
		for waiting := true; waiting; {
			select {
			case <-changed:
				waiting = false
			case <-tick.C:
				if x.Touch(); !write(": still running\n\n") {
					return
				}
			case <-r.Context().Done():
				return
			}
		}
	}
}
