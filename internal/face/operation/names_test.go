package operation_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

// TestUnknownNames: a device or an engine that nobody knows is a mistake of the field that names it, in every operation.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	given := func(request, from, to string) string { return strings.Replace(request, from, to, 1) }
	const (
		device, wrongDevice = `"h200_sxm"`, `"h2000"`
		engine, wrongEngine = `"vllm"`, `"vlm"`
		optimize            = `{"model":"Qwen/Qwen3-8B","devices":["h200_sxm"],"engine":{"name":"vllm"},"num_devices":2,"input_length":100,"output_length":20}`
		simulate            = `{` + vllmRun + `,"concurrency":4,"input_length":100,"output_length":20,"num_prompts":20}`
		step                = `{` + vllmRun + `,"decode":true,"num_queries":8,"query_length":1,"context_length":1000}`
		support             = `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"engines":["vllm"]}`
		files               = `{` + vllmRun + `,"isl":100,"osl":20,"concurrency":8,"targets":["plain"]}`
	)
	table := operation.Table()
	for _, c := range []struct{ operation, request, field string }{
		{"plan", given(`{`+small+`}`, device, wrongDevice), "systems"},
		{"plan", given(`{`+small+`}`, engine, wrongEngine), "engines"},
		{"diff", `{"a":{` + small + `},"b":` + given(`{`+small+`}`, device, wrongDevice) + `}`, "b.systems"},
		{"optimize", given(optimize, device, wrongDevice), "devices"},
		{"optimize", given(optimize, engine, wrongEngine), "engine.name"},
		{"explain", given(optimize, device, wrongDevice), "devices"},
		{"explain", given(optimize, engine, wrongEngine), "engine.name"},
		{"simulate", given(simulate, device, wrongDevice), "deployment.system"},
		{"simulate", given(simulate, engine, wrongEngine), "deployment.engine.name"},
		{"step", given(step, device, wrongDevice), "deployment.system"},
		{"step", given(step, engine, wrongEngine), "deployment.engine.name"},
		{"support", given(support, device, wrongDevice), "systems"},
		{"support", given(support, engine, wrongEngine), "engines"},
		{"lint", `{"command":"vllm serve Qwen/Qwen3-8B","device":"h2000"}`, "device"},
		{"write_files", given(files, device, wrongDevice), "deployment.system"},
		{"write_files", given(files, engine, wrongEngine), "deployment.engine.name"},
	} {
		o := operation.Lookup(table, c.operation)
		r, err := o.Decode([]byte(c.request))
		if err == nil {
			_, err = o.Run(t.Context(), environment(), r)
		}
		wrong, ok := errors.AsType[*document.InputError](err)
		if !ok || !slices.ContainsFunc(wrong.Mistakes, func(m document.Mistake) bool {
			return slices.Contains(m.Fields, c.field) && strings.Contains(m.Detail, "nearest: ")
		}) {
			t.Errorf("%s: %v, want a mistake of %s with the nearest name\n%s", c.operation, err, c.field, c.request)
		}
	}
}
