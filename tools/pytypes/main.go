// Pytypes writes the types of the Python package (python/plimsoll/types.py) from the program's own OpenAPI document: a TypedDict for
// each schema that plan, predict and lint use.
//
//	go -C tools run ./pytypes
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const file = "python/plimsoll/types.py"

func main() {
	text, err := generate("..")
	if err == nil {
		err = os.WriteFile(filepath.Join("..", file), []byte(text), 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pytypes:", err)
		os.Exit(1)
	}
}

// schema is the part of JSON Schema that the document uses.
type schema struct {
	Ref         string `json:"$ref"`
	Type        any
	Description string
	Properties  map[string]*schema
	Required    []string
	Items       *schema
	AnyOf       []*schema
	Const       any
	Enum        []any
	Additional  json.RawMessage `json:"additionalProperties"`
}

// generate builds the program at root, asks its server, and writes the types.
func generate(root string) (string, error) {
	dir, err := os.MkdirTemp("", "pytypes")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of the system's own
	program := filepath.Join(dir, "plimsoll")
	build := exec.Command("go", "build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-o", program, "./cmd/plimsoll")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	schemas, err := ask(program)
	if err != nil {
		return "", err
	}
	return write(schemas), nil
}

var listening = regexp.MustCompile(`http://[0-9.:]+`)

// ask starts the server on a free port, and reads its schemas.
func ask(program string) (map[string]*schema, error) {
	server := exec.Command(program, "serve", "--addr", "127.0.0.1:0")
	talk, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	var at string
	for s := bufio.NewScanner(talk); at == "" && s.Scan(); {
		at = listening.FindString(s.Text())
	}
	if at == "" {
		return nil, errors.New("the server does not listen")
	}
	go io.Copy(io.Discard, talk) //nolint:errcheck // what it says later is of no interest
	client := http.Client{Timeout: time.Minute}
	answer, err := client.Get(at + "/api/openapi.json")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it is read only
	var document struct {
		Components struct{ Schemas map[string]*schema }
	}
	err = json.NewDecoder(answer.Body).Decode(&document)
	return document.Components.Schemas, err
}

// writer writes classes, each once.
type writer struct {
	schemas map[string]*schema
	out     map[string]string
}

// write makes the module.
func write(schemas map[string]*schema) string {
	w := writer{schemas, map[string]string{}}
	for _, operation := range []string{"Plan", "Simulate", "Lint"} {
		w.class(operation+"Request", schemas[operation+"Request"])
		w.class(operation+"Response", schemas[operation+"Response"])
	}
	var b strings.Builder
	b.WriteString(`"""Requests and answers, as the program's OpenAPI document describes them.

Written by "go -C tools run ./pytypes".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Literal, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

`)
	names := slices.Sorted(maps.Keys(w.out))
	b.WriteString("__all__ = [\n")
	for _, name := range names {
		fmt.Fprintf(&b, "    %q,\n", name)
	}
	b.WriteString("]\n")
	for _, name := range names {
		b.WriteString("\n\n" + w.out[name])
	}
	return b.String()
}

// keywords of Python cannot be attributes of a class; a TypedDict with such a key is made by a call.
var keywords = []string{"and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"}

// class writes a TypedDict.
func (w *writer) class(name string, s *schema) {
	if _, done := w.out[name]; done {
		return
	}
	w.out[name] = "" // a type may hold itself
	var b strings.Builder
	begin, line, end := "class %s(TypedDict):\n", "    %s: %s\n", ""
	call := slices.ContainsFunc(keywords, func(word string) bool { return s.Properties[word] != nil })
	if call {
		begin, line, end = "%[1]s = TypedDict(\n    %[1]q,\n    {\n", "    %q: %q,\n", "    },\n)\n"
	}
	fmt.Fprintf(&b, begin, name)
	if s.Description != "" && !call {
		fmt.Fprintf(&b, "    \"\"\"%s\"\"\"\n\n", strings.ReplaceAll(s.Description, `"`, `'`))
	}
	if len(s.Properties) == 0 {
		b.WriteString("    pass\n")
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[key]
		text := w.typeOf(p, name+camel(key))
		if !slices.Contains(s.Required, key) {
			text = "NotRequired[" + text + "]"
		}
		if p.Description != "" {
			fmt.Fprintf(&b, "    # %s\n", strings.Join(strings.Fields(p.Description), " "))
		}
		fmt.Fprintf(&b, line, key, text)
	}
	b.WriteString(end)
	w.out[name] = b.String()
}

// typeOf names the type of a schema; an object within is a class named by its place.
func (w *writer) typeOf(s *schema, place string) string {
	switch {
	case s.Ref != "":
		name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		w.class(name, w.schemas[name])
		return name
	case len(s.AnyOf) > 0:
		var all []string
		for _, one := range s.AnyOf {
			all = append(all, w.typeOf(one, place))
		}
		return "Union[" + strings.Join(all, ", ") + "]"
	case s.Const != nil:
		return literal([]any{s.Const})
	}
	var names []string
	switch t := s.Type.(type) {
	case string:
		names = []string{t}
	case []any:
		for _, one := range t {
			names = append(names, one.(string))
		}
	}
	null := slices.Contains(names, "null")
	names = slices.DeleteFunc(names, func(n string) bool { return n == "null" })
	text := "object"
	switch {
	case len(names) == 0 && null:
		return "None"
	case len(names) == 1:
		text = w.plain(names[0], s, place)
	}
	if null {
		text = "Optional[" + text + "]"
	}
	return text
}

// plain is a type that is not null.
func (w *writer) plain(name string, s *schema, place string) string {
	var values schema
	switch {
	case len(s.Enum) > 0:
		return literal(s.Enum)
	case name == "object" && len(s.Properties) > 0:
		w.class(place, s)
		return place
	case name == "object" && json.Unmarshal(s.Additional, &values) == nil && (values.Type != nil || values.Ref != ""):
		return "Dict[str, " + w.typeOf(&values, place) + "]"
	case name == "object":
		return "Dict[str, object]"
	case name == "array" && s.Items != nil:
		return "List[" + w.typeOf(s.Items, place) + "]"
	}
	return map[string]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "List[object]"}[name]
}

// literal is one of some values.
func literal(values []any) string {
	var all []string
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // it was JSON
		}
		all = append(all, string(text))
	}
	return "Literal[" + strings.Join(all, ", ") + "]"
}

// camel writes a key as part of a class's name.
func camel(key string) string {
	var out string
	for part := range strings.SplitSeq(key, "_") {
		if part != "" {
			out += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return out
}
