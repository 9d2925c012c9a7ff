package operation

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops"
)

// Error is what is wrong with a request, for who asked to correct.
type Error struct {
	// Detail is a line for each mistake, Fields the fields they name, as JSON has them.
	Detail   string
	Fields   []string
	Mistakes []Mistake
}

// Mistake is one thing wrong with a request.
type Mistake struct {
	Fields []string `json:"fields"`
	Detail string   `json:"detail"`
	// Value is what was given, Allowed the words or the range that would be right, Nearest
	// the one of them that was most likely meant; left out where they are not known.
	Value   string   `json:"value,omitempty"`
	Allowed []string `json:"allowed,omitempty"`
	Nearest string   `json:"nearest,omitempty"`
}

// Error returns the mistakes.
func (e *Error) Error() string { return e.Detail }

// refusal is an error of several mistakes.
func refusal(mistakes ...Mistake) *Error {
	out := &Error{Mistakes: mistakes}
	var lines []string
	for _, m := range mistakes {
		lines = append(lines, m.Detail)
		for _, f := range m.Fields {
			if !slices.Contains(out.Fields, f) {
				out.Fields = append(out.Fields, f)
			}
		}
	}
	out.Detail = strings.Join(lines, "\n")
	return out
}

// wrong is an error about fields, in words.
func wrong(detail string, fields ...string) *Error {
	return refusal(Mistake{Fields: append([]string{}, fields...), Detail: detail})
}

// Encode writes a document as every face does: the same document is the same bytes.
func Encode(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document)
}

// decode reads JSON into a request, and refuses what no server takes.
func decode(data []byte, into any, operation string) error {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	err := field.Decode(data, into)
	if err == nil {
		err = atTheDoor(reflect.ValueOf(into).Elem(), "")
	}
	if err == nil {
		return nil
	}
	return refusal(mistakes(err, operation)...)
}

// mistake turns an error about a request into an [*Error]; others stay.
func mistake(err error, operation string) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*ops.InputError](err); !ok {
		return err
	}
	return refusal(mistakes(err, operation)...)
}

// mistakes are what is wrong with the request of an operation, one by one.
func mistakes(err error, operation string) []Mistake {
	say := func(name field.Name) string { return jsonName(operation, name) }
	var out []Mistake
	for _, err := range field.Each(err) {
		m := Mistake{Fields: []string{}, Detail: field.Say(err, say)}
		add := func(place string) {
			if place != "" && !slices.Contains(m.Fields, place) {
				m.Fields = append(m.Fields, place)
			}
		}
		for _, e := range field.Errors(err) {
			add(e.Path)
			for _, n := range e.Names {
				add(say(n))
			}
			if m.Value == "" && m.Allowed == nil {
				m.Value, m.Allowed, m.Nearest = e.Value, e.Allowed, e.Nearest
			}
		}
		out = append(out, m)
	}
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
	deployed := map[field.Name]string{"device": "deployment.system", "num_mtp_tokens": "deployment.pools.mtp"}
	return map[string]map[field.Name]string{
		"": {
			"ttft_limit": "limits.ttft_ms", "tpot_limit": "limits.tpot_ms", "serving_cost": "serving_cost_s",
			"mxfp4_group_size": "formats.mxfp4_group", "quantize_linear_action": "formats.linear", "speculative_method": "draft.method",
			"quantize_non_expert_linear_action": "formats.non_expert", "quantize_attention_action": "formats.attention",
			"gemm_quant_mode": "formats.gemm", "moe_quant_mode": "formats.moe", "kvcache_quant_mode": "formats.kv",
			"num_mtp_tokens": "space.num_mtp_tokens", "perf_engine": "perf_data.engine", "perf_data": "perf_data.dir",
		},
		"plan": plan, "validate": plan, "write_files": plan,
		"optimize": {"device": "devices"}, "explain": {"device": "devices"},
		"step": deployed, "simulate": deployed,
	}
}
