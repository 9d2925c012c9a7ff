package http

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
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
			data, err := fromQuery(query)
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

// fromQuery is the request in a query. Decoding it refuses a limit that is not a number.
func fromQuery(query url.Values) ([]byte, error) {
	fields := map[string]any{}
	for name, values := range query {
		fields[name] = values[0]
		if n, err := strconv.Atoi(values[0]); name == "limit" && err == nil {
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
	return data, true
}

// answer writes the document of an operation.
func (a *api) answer(w http.ResponseWriter, r *http.Request, o *operation.Operation, data []byte) {
	out, err := a.Desk.Answer(r.Context(), o, "", data, nil)
	send(w, r, jsonType, out, err)
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
	case ok:
		guard.Write(w, guard.Problem{Status: http.StatusUnprocessableEntity, Detail: wrong.Error(), Fields: wrong.Fields, Errors: wrong.Mistakes})
	case errors.Is(err, operation.ErrBusy):
		w.Header().Set("Retry-After", "1")
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
	format := r.URL.Query().Get("format")
	write, kind := a.HTML, "text/html; charset=utf-8"
	switch format {
	case "html", "":
	case "md":
		write, kind = a.Markdown, "text/markdown; charset=utf-8"
	default:
		guard.Refuse(w, http.StatusUnprocessableEntity, "format must be html or md, got "+strconv.Quote(format), "format")
		return
	}
	data, ok := body(w, r)
	if !ok {
		return
	}
	plan := operation.Lookup(a.table, "plan")
	out, err := a.Desk.Answer(r.Context(), plan, "report "+kind, data, func(ctx context.Context, k *operation.Kit, request any) ([]byte, error) {
		doc, err := a.Desk.Plan(ctx, k, plan, request)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = write(&b, doc)
		return b.Bytes(), err
	})
	if err == nil { // a page of its own, whose script and style are inside
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox allow-scripts")
	}
	send(w, r, kind, out, err)
}

// files writes the files that run a deployment, as an archive.
func (a *api) files(w http.ResponseWriter, r *http.Request) {
	data, ok := body(w, r)
	if !ok {
		return
	}
	data = plainPlan(data)
	o := operation.Lookup(a.table, "write_files")
	out, err := a.Desk.Answer(r.Context(), o, "zip", data, func(ctx context.Context, k *operation.Kit, request any) ([]byte, error) {
		made, err := operation.MakeFiles(ctx, k, request.(operation.FilesRequest))
		if err != nil {
			return nil, err
		}
		return archive(made)
	})
	if err == nil {
		w.Header().Set("Content-Disposition", `attachment; filename="deploy.zip"`)
	}
	send(w, r, "application/zip", out, err)
}

// plainPlan puts the request of a plan, sent as it is, where a request for files has it.
func plainPlan(data []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields["model"] == nil {
		return data
	}
	return slices.Concat([]byte(`{"plan":`), data, []byte(`}`))
}

// archive packs files. It has no times in it: the same files are the same bytes.
func archive(made *operation.Files) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range made.Data() {
		h := &zip.FileHeader{Name: f.Path, Method: zip.Deflate}
		h.SetMode(fs.FileMode(f.Mode))
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// document writes the description of the API.
func (a *api) document(w http.ResponseWriter, r *http.Request) { send(w, r, jsonType, a.openAPI, nil) }
