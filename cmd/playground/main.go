//go:build js && wasm

// Playground is the engine of the program for a page without a server: "make playground" builds it as WebAssembly, and
// "plimsoll pages --playground" writes the page around it. It runs in a worker of the page and gives the answers of "plimsoll
// serve" to what the page asks, without the packages of a server, which would make the download a third larger.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/face/web"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

func main() {
	e := newEngine(js.Global().Get("plimsollVersion").String())
	js.Global().Set("plimsollAsk", js.FuncOf(func(_ js.Value, args []js.Value) any {
		path, body, done := args[1].String(), args[2].String(), args[3]
		go func() {
			out, kind, err := e.ask(path, []byte(body))
			status := 200
			if err != nil {
				out, kind, status = problem(err), "application/problem+json", 422
			}
			data := js.Global().Get("Uint8Array").New(len(out))
			js.CopyBytesToJS(data, out)
			done.Invoke(status, kind, data)
		}()
		return nil
	}))
	js.Global().Call("plimsollReady")
	select {}
}

// engine answers requests.
type engine struct {
	runner *operation.Runner
	table  []operation.Operation
}

func newEngine(version string) *engine {
	return &engine{operation.NewRunner(&operation.Env{
		Session: &session.Session{Memo: &session.Memo{Size: 1024}}, Version: version, Jobs: 1,
	}, operation.Capacity{Searches: 1}), operation.OfPage()}
}

// ask answers what "plimsoll serve" answers at the same address. Progress is posted to the page: the worker takes no messages while
// it computes, so a page cannot ask for it.
func (e *engine) ask(path string, body []byte) (out []byte, kind string, err error) {
	name, query, _ := strings.Cut(strings.TrimPrefix(path, "/api/"), "?")
	switch name {
	case "report":
		record, err := e.answer("plan", body)
		if err != nil {
			return nil, "", err
		}
		write, kind := web.Report, "text/html; charset=utf-8"
		if query == "format=md" {
			write, kind = web.Markdown, "text/markdown; charset=utf-8"
		}
		out, err := report(record, write)
		return out, kind, err
	case "files":
		q, err := e.runner.AskFiles(body)
		if err != nil {
			return nil, "", err
		}
		out, err := e.wait(q)
		return out, "application/zip", err
	case "models", "devices", "engines":
		if body, err = list(query); err != nil {
			return nil, "", err
		}
	}
	if o := operation.Lookup(e.table, name); o == nil || o.Writes {
		return nil, "", fmt.Errorf("there is no %s here", path)
	}
	out, err = e.answer(name, body)
	return out, "application/json", err
}

// list is the request for a catalog: all that the query's words match.
func list(query string) ([]byte, error) {
	fields := map[string]any{}
	for part := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(part, "=")
		if n, err := strconv.Atoi(value); err == nil {
			fields[key] = n
		} else if key != "" {
			fields[key] = value
		}
	}
	return json.Marshal(fields)
}

// answer is the document of an operation.
func (e *engine) answer(name string, body []byte) ([]byte, error) {
	q, err := e.runner.Ask(operation.Lookup(e.table, name), "", body, nil)
	if err != nil {
		return nil, err
	}
	return e.wait(q)
}

func (e *engine) wait(q *operation.Question) ([]byte, error) {
	ctx := context.Background()
	return e.runner.Join(ctx, q, operation.Watch{Progress: post}).Wait(ctx)
}

// report is the page of a record.
func report(record []byte, write func(io.Writer, *plan.Response) error) ([]byte, error) {
	doc := &plan.Response{}
	if err := json.Unmarshal(record, doc); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := write(&b, doc)
	return b.Bytes(), err
}

// problem is an error as the page reads it, in the format of RFC 9457.
func problem(err error) []byte {
	out := map[string]any{"type": "about:blank", "title": "Unprocessable Entity", "status": 422, "detail": err.Error()}
	if wrong, ok := errors.AsType[*document.InputError](err); ok {
		out["fields"], out["errors"] = wrong.Fields, wrong.Mistakes
	}
	data, _ := json.Marshal(out) // of texts
	return data
}

// post says how far the work is.
func post(p session.Progress) { js.Global().Call("plimsollProgress", p.Task, p.Done, p.Of, p.What) }
