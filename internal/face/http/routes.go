package http

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	"github.com/plimsoll-project/plimsoll/internal/face/job"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

const jsonType = "application/json"

// lists reports whether an operation uses GET, with its fields in the query.
func lists(o *operation.Operation) bool {
	return o.Name == "models" || o.Name == "devices" || o.Name == "engines"
}

// operation answers an operation.
func (a *api) operation(o *operation.Operation) http.Handler {
	if lists(o) {
		return only(http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			if o.Name == "models" && !query.Has("limit") { // a page has room for all of them
				query.Set("limit", "100000")
			}
			data, err := fromQuery(query, o.Request)
			if err != nil {
				refuse(w, r, err)
				return
			}
			a.answer(w, r, o, data)
		})
	}
	return only(http.MethodPost, func(w http.ResponseWriter, r *http.Request) {
		data, ok := body(w, r)
		if ok {
			a.answer(w, r, o, data)
		}
	})
}

// fromQuery is the request in a query. Decoding it refuses what should be a number and is none.
func fromQuery(query url.Values, request reflect.Type) ([]byte, error) {
	fields := map[string]any{}
	for name, values := range query {
		fields[name] = values[0]
	}
	for f := range request.Fields() {
		name := field.JSON(f)
		if n, err := strconv.Atoi(query.Get(name)); f.Type.Kind() == reflect.Int && err == nil {
			fields[name] = n
		}
	}
	return json.Marshal(fields)
}

// body reads a request.
func body(w http.ResponseWriter, r *http.Request) (data []byte, ok bool) {
	data, err := io.ReadAll(r.Body)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		guard.Refuse(w, http.StatusRequestEntityTooLarge, "the request is larger than 1 MiB")
		return nil, false
	}
	if err != nil {
		guard.Refuse(w, http.StatusBadRequest, "the request ended too early")
		return nil, false
	}
	if len(bytes.TrimSpace(data)) == 0 {
		guard.Refuse(w, http.StatusBadRequest, "the request has no body; want a JSON object")
		return nil, false
	}
	return data, true
}

// answer writes the document of an operation.
func (a *api) answer(w http.ResponseWriter, r *http.Request, o *operation.Operation, data []byte) {
	out, err := a.document(w, r, o, data)
	send(w, r, jsonType, out, err)
}

// document is that of an operation.
func (a *api) document(w http.ResponseWriter, r *http.Request, o *operation.Operation, data []byte) ([]byte, error) {
	q, err := a.Runner.Ask(o, "", data, nil)
	if err != nil {
		return nil, err
	}
	return a.wait(w, r, q)
}

// wait is the answer to a question. What takes longer than a client may wait goes on as a job.
func (a *api) wait(w http.ResponseWriter, r *http.Request, q *operation.Question) ([]byte, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	call := a.Runner.Join(ctx, q, operation.Watch{})
	adopted := make(chan *job.Job, 1)
	timer := time.AfterFunc(a.patience(), func() {
		if x, err := a.Jobs.Adopt(q, guard.User(r)); err == nil {
			adopted <- x
		}
		cancel()
	})
	defer timer.Stop()
	out, err := call.Wait(ctx)
	if err == nil || r.Context().Err() != nil || ctx.Err() == nil {
		return out, err
	}
	select {
	case x := <-adopted:
		w.Header().Set("Location", "/api/jobs/"+x.ID())
		return nil, &laterError{x.ID()}
	default:
		return nil, operation.ErrBusy
	}
}

// laterError is an answer that goes on as a job.
type laterError struct{ id string }

// Error says where to find it.
func (e *laterError) Error() string {
	return "the answer takes longer than a request may; it continues as a job: retry, or poll /api/jobs/" + e.id
}

// send writes an answer or an error.
func send(w http.ResponseWriter, r *http.Request, kind string, data []byte, err error) {
	if err != nil {
		refuse(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // the client may be gone
}

// refuse writes an error.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	wrong, ok := errors.AsType[*document.InputError](err)
	switch {
	case ok && wrong.Form:
		guard.Write(w, guard.Problem{Status: http.StatusBadRequest, Detail: wrong.Error(), Fields: wrong.Fields, Errors: wrong.Mistakes})
	case ok:
		guard.Write(w, guard.Problem{Status: http.StatusUnprocessableEntity, Detail: wrong.Error(), Fields: wrong.Fields, Errors: wrong.Mistakes})
	case errors.Is(err, operation.ErrBusy), errors.Is(err, job.ErrFull):
		w.Header().Set("Retry-After", "1")
		guard.Refuse(w, http.StatusServiceUnavailable, err.Error())
	case errors.As(err, new(*laterError)):
		w.Header().Set("Retry-After", "5")
		guard.Refuse(w, http.StatusServiceUnavailable, err.Error())
	case r.Context().Err() != nil:
		const clientClosedRequest = 499 // the client is gone
		w.WriteHeader(clientClosedRequest)
	case pool.Bug(err) != nil:
		guard.Refuse(w, http.StatusInternalServerError, "internal error: this is a bug in plimsoll")
	default:
		guard.Refuse(w, http.StatusUnprocessableEntity, err.Error())
	}
}

// report writes a plan as a page.
func (a *api) report(w http.ResponseWriter, r *http.Request) {
	if _, _, ok := a.format(w, r); !ok {
		return
	}
	data, ok := body(w, r)
	if !ok {
		return
	}
	record, err := a.document(w, r, operation.Lookup(a.table, "plan"), data)
	if err != nil {
		refuse(w, r, err)
		return
	}
	a.page(w, r, record)
}

// format is how a report is written; ok is false if the request was refused.
func (a *api) format(w http.ResponseWriter, r *http.Request) (write func(io.Writer, *plan.Response) error, kind string, ok bool) {
	format := r.URL.Query().Get("format")
	switch {
	case format == "html" || !r.URL.Query().Has("format"):
		return a.HTML, "text/html; charset=utf-8", true
	case format == "md":
		return a.Markdown, "text/markdown; charset=utf-8", true
	default:
		guard.Refuse(w, http.StatusBadRequest, "format must be html or md, got "+strconv.Quote(format), "format")
		return nil, "", false
	}
}

// page writes the record of a plan as a page: reports are made from the record alone.
func (a *api) page(w http.ResponseWriter, r *http.Request, record []byte) {
	write, kind, ok := a.format(w, r)
	if !ok {
		return
	}
	doc := &plan.Response{}
	var b bytes.Buffer
	err := json.Unmarshal(record, doc)
	if err == nil {
		err = write(&b, doc)
	}
	if err == nil { // a page of its own, whose script and style are inside
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox allow-scripts")
	}
	send(w, r, kind, b.Bytes(), err)
}

// files writes the files that run a deployment, as an archive.
func (a *api) files(w http.ResponseWriter, r *http.Request) {
	data, ok := body(w, r)
	if !ok {
		return
	}
	q, err := a.Runner.AskFiles(data)
	if err != nil {
		refuse(w, r, err)
		return
	}
	out, err := a.wait(w, r, q)
	if err == nil {
		w.Header().Set("Content-Disposition", `attachment; filename="deploy.zip"`)
	}
	send(w, r, "application/zip", out, err)
}
