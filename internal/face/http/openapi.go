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
			call["parameters"] = []object{parameter("q", "words that an entry must contain", "string"), parameter("limit", "maximum number of entries", "integer")}
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
	start["responses"].(object)["202"] = object{"description": "the job is running", "content": content(jsonType, "Job")}
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
	for _, status := range []int{
		http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusServiceUnavailable,
	} {
		answers[strconv.Itoa(status)] = object{"description": http.StatusText(status), "content": content("application/problem+json", "Problem")}
	}
	call["responses"] = answers
}

func content(kind, schema string) object {
	return object{kind: object{"schema": object{"$ref": schemaPrefix + schema}}}
}

func parameter(name, description, kind string) object {
	return object{"name": name, "in": "query", "required": false, "description": description, "schema": object{"type": kind}}
}
