package http

import (
	"bytes"
	_ "embed" // of the fixed part
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

//go:embed openapi.yaml
var fixedPart []byte

const schemaPrefix = "#/components/schemas/"

// object is a JSON object.
type object = map[string]any

// describe makes the OpenAPI document: the fixed part, and the operations of the table.
func (a *api) describe() ([]byte, error) {
	doc, err := embedded.YAML[object](fixedPart)
	if err != nil {
		return nil, err
	}
	doc["info"].(object)["version"] = a.Version
	schemas := doc["components"].(object)["schemas"].(object)
	for name, s := range a.schemas.Definitions(schemaPrefix) {
		schemas[name] = s
	}
	paths := doc["paths"].(object)
	for i := range a.table {
		if o := &a.table[i]; !o.Writes {
			a.describeOperation(paths, o)
		}
	}
	for _, path := range paths {
		for _, call := range path.(object) {
			withErrors(call.(object))
		}
	}
	var b bytes.Buffer
	err = document.Encode(&b, doc)
	return b.Bytes(), err
}

// describeOperation adds the paths of an operation.
func (a *api) describeOperation(paths object, o *operation.Operation) {
	request, response := a.schemas.Names(o)
	call := callOf(o.Name, o.Title, o.Description, response)
	if lists(o) {
		if request != "" {
			call["parameters"] = a.schemas.Parameters(o)
		}
		paths["/api/"+o.Name] = object{"get": call}
		return
	}
	body := object{"required": true, "content": content(jsonType, request)}
	call["requestBody"] = body
	paths["/api/"+o.Name] = object{"post": call}
	if !hasJobs(o) {
		return
	}
	start := callOf(o.Name+"_job", o.Title+", as a job", "Starts a job, or joins that of an identical request. The job continues when the client disconnects.", "Job")
	started := object{"description": "the job has started", "content": content(jsonType, "Job"), "headers": object{
		"Location": object{"description": "the address of the job", "required": true, "schema": object{"type": "string"}},
	}}
	ended := maps.Clone(started)
	ended["description"] = "the job has ended"
	start["responses"] = object{"200": ended, "202": started}
	start["requestBody"] = body
	paths["/api/jobs/"+o.Name] = object{"post": start}
}

// callOf is one call with its answer, a document of a schema.
func callOf(name, title, description, schema string) object {
	return object{
		"operationId": name, "summary": title, "description": strings.ReplaceAll(description, "\n", " "),
		"responses": object{"200": object{"description": "the answer", "content": content(jsonType, schema)}},
	}
}

// withErrors adds the answers of errors to a call. Calls may share their answers.
func withErrors(call object) {
	answers := maps.Clone(call["responses"].(object))
	for status, when := range map[int]string{
		http.StatusBadRequest:            "the request is not as its schema says, or the body ended early",
		http.StatusUnauthorized:          "a token or a user is needed",
		http.StatusForbidden:             "the host or the origin of the request is foreign",
		http.StatusNotFound:              "there is no such address or job",
		http.StatusMethodNotAllowed:      "the address has other methods",
		http.StatusConflict:              "the job has no answer yet",
		http.StatusRequestEntityTooLarge: "the body is larger than 1 MiB",
		http.StatusUnprocessableEntity:   "the request is as its schema says, but its values contradict each other, name what is not known, or ask for too much",
		http.StatusTooManyRequests:       "the client asks too much, or presents wrong tokens",
		http.StatusInternalServerError:   "a bug of the program",
		http.StatusServiceUnavailable:    "too many searches wait, or the answer continues as a job",
	} {
		answers[strconv.Itoa(status)] = object{"description": when, "content": content("application/problem+json", "Problem")}
	}
	call["responses"] = answers
}

func content(kind, schema string) object {
	return object{kind: object{"schema": object{"$ref": schemaPrefix + schema}}}
}
