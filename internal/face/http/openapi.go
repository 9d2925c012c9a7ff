package http

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/job"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

const schemaPrefix = "#/components/schemas/"

// object is a JSON object.
type object = map[string]any

// describe makes the OpenAPI document of the table.
func (a *api) describe() ([]byte, error) {
	schemas := object{"Problem": problemSchema(), "Job": jobSchema()}
	for name, s := range a.schemas.Definitions(schemaPrefix) {
		schemas[name] = s
	}
	paths := object{}
	for i := range a.table {
		o := &a.table[i]
		if o.Writes {
			continue
		}
		request, response := a.schemas.Names(o)
		call := callOf(o.Name, o.Title, o.Description, content(jsonType, object{"$ref": schemaPrefix + response}))
		if lists(o) {
			if request != "" {
				call["parameters"] = []object{parameter("q", "words that an entry must contain", "string"), parameter("limit", "maximum number of entries", "integer")}
			}
			paths["/api/"+o.Name] = object{"get": call}
			continue
		}
		call["requestBody"] = object{"required": true, "content": content(jsonType, object{"$ref": schemaPrefix + request})}
		paths["/api/"+o.Name] = object{"post": call}
	}
	a.others(paths)
	var b bytes.Buffer
	err := document.Encode(&b, object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Plimsoll", "version": a.Version, "license": object{"name": "see LICENSE"},
			"description": "Plans the serving of language models. The same operations as the MCP server; times in requests are milliseconds.",
		},
		"servers": []object{{"url": "/"}}, "paths": paths, "components": object{"schemas": schemas},
	})
	return b.Bytes(), err
}

// others are the paths beside the operations.
func (a *api) others(paths object) {
	plan := operation.Lookup(a.table, "plan")
	request, _ := a.schemas.Names(plan)
	ask := func(name string) object {
		return object{"required": true, "content": content(jsonType, object{"$ref": schemaPrefix + name})}
	}
	text := object{"type": "string"}
	report := callOf("report", "Report", "A plan as one self-contained page.", object{
		"text/html": object{"schema": text}, "text/markdown": object{"schema": text},
	})
	report["requestBody"] = ask(request)
	report["parameters"] = []object{parameter("format", "html or md", "string")}
	paths["/api/report"] = object{"post": report}

	deployed, _ := a.schemas.Names(operation.Lookup(a.table, "write_files"))
	files := callOf("files", "Files", "The files that run a plan's best deployment, or a given one.", content("application/zip", object{"type": "string", "format": "binary"}))
	files["requestBody"] = object{"required": true, "content": content(jsonType, object{
		"anyOf": []object{{"$ref": schemaPrefix + deployed}, {"$ref": schemaPrefix + request}},
	})}
	paths["/api/files"] = object{"post": files}

	a.jobPaths(paths)
	paths["/api/openapi.json"] = object{"get": callOf("openapi", "OpenAPI", "This document.", content(jsonType, object{"type": "object"}))}
}

// jobPaths are those of jobs.
func (a *api) jobPaths(paths object) {
	text := object{"type": "string"}
	state := content(jsonType, object{"$ref": schemaPrefix + "Job"})
	for i := range a.table {
		o := &a.table[i]
		if !hasJobs(o) {
			continue
		}
		request, _ := a.schemas.Names(o)
		call := callOf(o.Name+"_job", o.Title+", as a job", "Starts a job, or joins that of an identical request. The job continues when the client disconnects.", state)
		call["requestBody"] = object{"required": true, "content": content(jsonType, object{"$ref": schemaPrefix + request})}
		answers := call["responses"].(object)
		answers["202"] = object{"description": "the job is running", "content": state}
		paths["/api/jobs/"+o.Name] = object{"post": call}
	}
	id := []object{{"name": "id", "in": "path", "required": true, "description": "of the job", "schema": text}}
	one := func(path, method, name, title, description string, answer object) {
		call := callOf(name, title, description, answer)
		call["parameters"] = id
		if paths["/api/jobs/{id}"+path] == nil {
			paths["/api/jobs/{id}"+path] = object{}
		}
		paths["/api/jobs/{id}"+path].(object)[method] = call
	}
	one("", "get", "job", "A job", "The state of a job.", state)
	one("", "delete", "cancel_job", "Leave a job", "Removes the client from the job. The work stops when no client is left; the answer so far is kept.", state)
	one("/events", "get", "job_events", "Events of a job", "The state of a job at every change, until its end, as server-sent events named status.", content("text/event-stream", text))
	one("/result", "get", "job_result", "The answer of a job", "The document of the operation; 409 until it is complete.", content(jsonType, object{"type": "object"}))
	one("/partial", "get", "job_partial", "The answer so far", "The document so far; the state of the job lists what is missing. 409 if there is nothing yet.", content(jsonType, object{"type": "object"}))
	one("/report", "get", "job_report", "The report so far", "The plan so far, as a page.", object{
		"text/html": object{"schema": text}, "text/markdown": object{"schema": text},
	})
	paths["/api/jobs/{id}/report"].(object)["get"].(object)["parameters"] = append(id, parameter("format", "html or md", "string"))
}

// jobSchema is that of [job.Status].
func jobSchema() object {
	text, number := object{"type": "string"}, object{"type": "integer"}
	return object{
		"type": "object", "description": "The state of a job.", "required": []string{"id", "operation", "state", "progress", "partial", "left", "seconds"},
		"properties": object{
			"id": text, "operation": text, "state": object{"enum": []job.State{job.Waiting, job.Running, job.Done, job.Failed, job.Cancelled, job.Stopped}},
			"progress": object{"anyOf": []object{{"type": "null"}, {
				"type": "object", "required": []string{"task", "done", "of", "what"},
				"properties": object{"task": text, "done": number, "of": number, "what": text},
			}}},
			"partial": object{"type": "boolean", "description": "part of the answer is available"},
			"left":    object{"type": "array", "items": text, "description": "the searches missing from that part"},
			"seconds": object{"type": "number"}, "detail": object{"type": "string", "description": "why there is no answer"},
		},
	}
}

// callOf is one call with its answers.
func callOf(name, title, description string, answer object) object {
	answers := object{"200": object{"description": "the answer", "content": answer}}
	for _, status := range []int{
		http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusServiceUnavailable,
	} {
		answers[strconv.Itoa(status)] = object{
			"description": http.StatusText(status), "content": content("application/problem+json", object{"$ref": schemaPrefix + "Problem"}),
		}
	}
	return object{"operationId": name, "summary": title, "description": strings.ReplaceAll(description, "\n", " "), "responses": answers}
}

func content(kind string, schema object) object { return object{kind: object{"schema": schema}} }

func parameter(name, description, kind string) object {
	return object{"name": name, "in": "query", "required": false, "description": description, "schema": object{"type": kind}}
}

func problemSchema() object {
	text := object{"type": "string"}
	return object{
		"type": "object", "description": "An error in the format of RFC 9457.", "required": []string{"type", "title", "status", "detail"},
		"properties": object{
			"type": text, "title": text, "status": object{"type": "integer"}, "detail": text,
			"fields": object{"type": "array", "items": text, "description": "the fields of the request that are wrong"},
			"errors": object{"type": "array", "items": object{"$ref": schemaPrefix + "Mistake"}, "description": "each error of the request"},
		},
	}
}
