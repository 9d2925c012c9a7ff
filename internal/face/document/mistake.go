package document

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// InputError is what is wrong with a request, for the caller to correct.
type InputError struct {
	// Mistakes are each error of the request, Fields all fields that they name.
	Mistakes []Mistake
	Fields   []string

	cause error
}

// Mistake is one thing wrong with a request.
type Mistake struct {
	// Fields are named as in JSON: "deployment.pools[0].layout.tp". There are none where
	// the mistake is in a file.
	Fields []string `json:"fields"`
	Detail string   `json:"detail"`
	// Value is the given value, Allowed the allowed words or range, Nearest the closest allowed
	// word; left out if unknown.
	Value   string   `json:"value,omitempty"`
	Allowed []string `json:"allowed,omitempty"`
	Nearest string   `json:"nearest,omitempty"`
}

// Error says what is wrong, a line for each mistake.
func (e *InputError) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i := range e.Mistakes {
		lines[i] = e.Mistakes[i].Detail
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the cause, such as the error of a file that cannot be read.
func (e *InputError) Unwrap() error { return e.cause }

// NewInputError puts an error about the request of an operation into the names of its JSON.
func NewInputError(err error, operation string) *InputError {
	return inputError(err, Mistakes(err, operation))
}

// Under is the error of an operation whose request is a part of another one: the names of fields begin with the part's.
func Under(part string, err error, operation string) error {
	if _, input := errors.AsType[*session.InputError](err); !input {
		return fmt.Errorf("%s: %w", part, err)
	}
	return inputError(err, mistakes(err, operation, part+"."))
}

func inputError(cause error, all []Mistake) *InputError {
	out := &InputError{cause: cause, Mistakes: all}
	for i := range out.Mistakes {
		for _, f := range out.Mistakes[i].Fields {
			if !slices.Contains(out.Fields, f) {
				out.Fields = append(out.Fields, f)
			}
		}
	}
	return out
}

// Wrong is an [*InputError] about fields.
func Wrong(detail string, fields ...string) *InputError {
	return &InputError{Mistakes: []Mistake{{Fields: append([]string{}, fields...), Detail: detail}}, Fields: fields}
}

// corrected is an operation's error: one about its request as an [*InputError], others as they are.
func corrected(err error, operation string) error {
	_, done := errors.AsType[*InputError](err)
	if _, input := errors.AsType[*session.InputError](err); !input || done {
		return err
	}
	return NewInputError(err, operation)
}

// Run runs an operation. A mistake in its request is an [*InputError].
func Run[Request, Response any](ctx context.Context, operation string, r Request, run func(context.Context, Request) (*Response, error)) (*Response, error) {
	if err := ctx.Err(); err != nil { // short work would not look
		return nil, err
	}
	out, err := run(ctx, r)
	if err != nil {
		return nil, corrected(err, operation)
	}
	return out, nil
}

// Mistakes are what is wrong with the request of an operation, one by one.
func Mistakes(err error, operation string) []Mistake { return mistakes(err, operation, "") }

// mistakes are those of a request that is below a path.
func mistakes(err error, operation, under string) []Mistake {
	said := false
	say := func(name field.Name) string {
		said = true
		return under + JSONName(operation, name)
	}
	var out []Mistake
	for _, err := range field.Each(err) {
		said = false
		m := Mistake{Fields: []string{}, Detail: field.Say(err, say)}
		if under != "" && !said {
			m.Detail = strings.TrimSuffix(under, ".") + ": " + m.Detail
		}
		add := func(place string) {
			if !slices.Contains(m.Fields, place) {
				m.Fields = append(m.Fields, place)
			}
		}
		for _, e := range field.Errors(err) {
			if e.Path != "" {
				add(under + e.Path)
			}
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

// JSONName is the path of a field in the request of an operation.
func JSONName(operation string, name field.Name) string {
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

// FilesOfDeployment is write_files for a deployment that is given, and not a plan's.
const FilesOfDeployment = "write_files of a deployment"

// places maps the names of fields in messages to their paths in JSON, where they differ.
func places() map[string]map[field.Name]string {
	plan := map[field.Name]string{
		"system": "systems", "device": "systems", "serving_mode": "modes", "price": "prices", "engine": "engines",
		"isl": "workloads.isl", "osl": "workloads.osl", "prefix": "workloads.prefix", "preset": "workloads.preset",
		"trace": "workloads.trace", "length_ratio_low": "workloads.length_ratio_low", "ttft": "limits.ttft_ms", "tpot": "limits.tpot_ms", "cold_start": "cold_start_s",
	}
	files := maps.Clone(plan)
	all := map[field.Name]string{
		"ttft_limit": "limits.ttft_ms", "tpot_limit": "limits.tpot_ms", "request_latency": "limits.latency_ms", "serving_cost": "serving_cost_s",
		"mxfp4_group_size": "formats.mxfp4_group", "quantize_linear_action": "formats.linear", "speculative_method": "draft.method",
		"quantize_non_expert_linear_action": "formats.non_expert", "quantize_attention_action": "formats.attention",
		"gemm_quant_mode": "formats.gemm", "moe_quant_mode": "formats.moe", "kvcache_quant_mode": "formats.kv", "kv_cache": "formats.kv", "weights": "formats.checkpoint",
		"num_mtp_tokens": "space.num_mtp_tokens", "perf_engine": "perf_data.engine", "perf_data": "perf_data.dir",
	}
	deployed := map[field.Name]string{
		"device": "deployment.system", "engine": "deployment.engine.name", "model": "deployment.model", "pools": "deployment.pools", "num_mtp_tokens": "deployment.pools.mtp",
		"mtp_acceptance_rates": "deployment.pools.acceptance_rates", "replicas": "deployment.pools.replicas", "prefill_replicas": "deployment.pools.replicas",
		"num_devices": "deployment.pools.layout.devices", "policy": "deployment.modelling.policy", "pricing": "deployment.modelling.pricing",
	}
	for _, size := range []string{"tp", "dp", "pp", "ep", "moe_tp", "moe_dp", "dcp"} {
		deployed[field.Name(size+"_size")] = "deployment.pools.layout." + size
	}
	for name, place := range all {
		if strings.HasPrefix(place, "formats.") {
			deployed[name] = "deployment." + place
		}
	}
	run := maps.Clone(deployed) // files of a deployment
	for _, name := range []field.Name{"namespace", "served_model_name", "model_path", "image", "port"} {
		files[name], run[name] = "site."+string(name), "site."+string(name)
	}
	optimized := map[field.Name]string{"device": "devices", "engine": "engine.name"}
	supported := map[field.Name]string{"device": "systems", "engine": "engines"}
	return map[string]map[field.Name]string{
		"": all, "plan": plan, "validate": plan, "write_files": files, FilesOfDeployment: run, "optimize": optimized, "explain": optimized, "step": deployed, "simulate": deployed, "support": supported,
	}
}
