package operation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"unicode"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Error is a mistake in a request, which who asked can correct.
type Error struct {
	// Detail is a line for each mistake, Fields the fields they name, as JSON has them.
	Detail string
	Fields []string
}

// Error returns the mistakes.
func (e *Error) Error() string { return e.Detail }

// Encode writes a document as every face does: the same document is the same bytes.
func Encode(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document)
}

// decode reads JSON into a request.
func decode(data []byte, into any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return unreadable(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &Error{Detail: "the request is one JSON object: more follows it"}
	}
	return nil
}

// unreadable says what is wrong with JSON, without words of Go.
func unreadable(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		name := jsonPath(wrong.Field)
		if name == "" {
			return &Error{Detail: "the request is a JSON object, got " + article(wrong.Value)}
		}
		return &Error{fmt.Sprintf("%s must be %s, got %s", name, kindOf(wrong), article(wrong.Value)), []string{name}}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		return &Error{fmt.Sprintf("there is no field %q", name), []string{name}}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Detail: "the request is not JSON: it ends too early"}
	}
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &Error{Detail: fmt.Sprintf("the request is not JSON: %v at byte %d", bad, bad.Offset)}
	}
	return &Error{Detail: err.Error()}
}

// jsonPath leaves Go's names of embedded structs out of a path.
func jsonPath(path string) string {
	var out []string
	for part := range strings.SplitSeq(path, ".") {
		if part != "" && !unicode.IsUpper(rune(part[0])) {
			out = append(out, part)
		}
	}
	return strings.Join(out, ".")
}

// kindOf is the type that a field wants, in the words of JSON.
func kindOf(e *json.UnmarshalTypeError) string {
	switch kind := e.Type.Kind().String(); {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "bool":
		return "true or false"
	case kind == "slice":
		return "a list"
	case kind == "string":
		return "a string"
	}
	return "an object"
}

// article is a JSON value's kind in a sentence.
func article(value string) string {
	switch kind, number, _ := strings.Cut(value, " "); kind {
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "number":
		if number != "" {
			return number
		}
		return "a number"
	default:
		return "a " + kind
	}
}

// mistake turns an error about a request into an [*Error]; others stay.
func mistake(err error, operation string) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*session.InputError](err); !ok {
		return err
	}
	out := &Error{}
	seen := map[string]bool{}
	out.Detail = field.Say(err, func(name field.Name) string {
		word := jsonName(operation, name)
		if !seen[word] {
			seen[word] = true
			out.Fields = append(out.Fields, word)
		}
		return word
	})
	return out
}

// jsonName is where the request of an operation has a field that messages name.
func jsonName(operation string, name field.Name) string {
	if places, ok := places()[operation]; ok {
		if at, ok := places[name]; ok {
			return at
		}
	}
	if at, ok := places()[""][name]; ok {
		return at
	}
	return string(name)
}

// places are fields that stand elsewhere than the messages' name for them says.
func places() map[string]map[field.Name]string {
	plan := map[field.Name]string{
		"system": "systems", "device": "systems", "serving_mode": "modes", "price": "prices", "engine": "engines",
		"isl": "workloads.isl", "osl": "workloads.osl", "prefix": "workloads.prefix", "preset": "workloads.preset",
		"trace": "workloads.trace", "length_ratio_low": "workloads.length_ratio_low",
	}
	files := maps.Clone(plan)
	for _, name := range []field.Name{"namespace", "served_model_name", "model_path", "image", "port"} {
		files[name] = "site." + string(name)
	}
	deployed := map[field.Name]string{"device": "deployment.system", "num_mtp_tokens": "deployment.pools.mtp"}
	return map[string]map[field.Name]string{
		"": {
			"ttft_limit": "limits.ttft_ms", "tpot_limit": "limits.tpot_ms", "serving_cost": "serving_cost_s",
			"mxfp4_group_size": "formats.mxfp4_group", "quantize_linear_action": "formats.linear", "speculative_method": "draft.method",
			"quantize_non_expert_linear_action": "formats.non_expert", "quantize_attention_action": "formats.attention",
			"gemm_quant_mode": "formats.gemm", "moe_quant_mode": "formats.moe", "kvcache_quant_mode": "formats.kv",
			"num_mtp_tokens": "space.num_mtp_tokens", "perf_engine": "perf_data.engine", "perf_data": "perf_data.dir",
		},
		"plan": plan, "validate": plan, "write_files": files,
		"optimize": {"device": "devices"}, "explain": {"device": "devices"},
		"step": deployed, "simulate": deployed,
	}
}
