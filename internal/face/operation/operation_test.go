package operation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/face/schema"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// environment works with what is built in.
func environment() *operation.Env {
	return &operation.Env{
		Session: &session.Session{}, Version: "test",
		Write: func(string, []launch.File) error { return nil },
	}
}

const (
	small   = `"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"gpus":2,"engines":["vllm"],"modes":["agg"],"workloads":[{"isl":512,"osl":8}]`
	vllmRun = `"deployment":{"model":"Qwen/Qwen3-8B","system":"h200_sxm","engine":{"name":"vllm"}}`
)

// requests are some of every operation.
func requests() map[string][]string {
	return map[string][]string{
		"models":  {``, `{"q":"qwen3 30b","limit":3}`, `{"q":"no such model"}`},
		"devices": {`{}`, `{"q":"nvidia","limit":2,"offset":1}`, `{"offset":9999}`},
		"engines": {`{}`},
		"plan": {
			`{` + small + `,"limits":{"tpot_ms":20}}`,
			`{` + small + `,"limits":{"tpot_ms":0.1},"no_changes":true}`,
			`{` + small + `,"no_limits":true,"no_changes":true}`,
			`{"model":"Qwen/Qwen3-8B","systems":["h200_sxm","l40s"],"rate":3,"engines":["vllm"],"modes":["agg"],"no_changes":true,"workloads":[{"preset":"chat"}],"limits":{"ttft_ms":"inf"}}`,
			`{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"daily":[1,5,2],"spare":1,"utilization":0.8,"cold_start_s":90,"no_changes":true,"engines":["vllm"],"modes":["agg"],"workloads":[{"isl":512,"osl":64,"share":2},{"name":"b","isl":99,"osl":9}]}`,
		},
		"diff": {`{"a":{` + small + `},"b":{` + small + `,"limits":{"tpot_ms":20}}}`, `{"a":{` + small + `},"b":{` + small + `}}`},
		"optimize": {
			`{"model":"Qwen/Qwen3-32B","devices":["TEST_DEVICE"],"num_devices":8,"input_length":3500,"output_length":1500,"limits":{"tpot_ms":50}}`,
			`{"model":"Qwen/Qwen3-8B","devices":["h200_sxm"],"num_devices":2,"length_distribution":{"bins":[{"min_tokens":100,"max_tokens":200,"weight":1}]},"output_length":64}`,
			`{"model":"Qwen/Qwen3-32B","pd_ratio":true,"prefill_devices_per_instance":4,"decode_devices_per_instance":4,"input_length":3500,"output_length":1500}`,
		},
		"explain":  {`{"model":"Qwen/Qwen3-32B","num_devices":8,"input_length":3500,"output_length":1500,"limits":{"tpot_ms":50}}`},
		"step":     {`{` + vllmRun + `,"decode":true,"num_queries":8,"context_length":1000}`},
		"simulate": {`{` + vllmRun + `,"concurrency":4,"input_length":100,"output_length":20,"num_prompts":20,"arrival":"poisson"}`, `{` + vllmRun + `,"rate":2,"num_prompts":20,"limits":{"ttft_ms":100}}`},
		"lint": {
			`{"command":"vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-num-seqs 64","device":"h200_sxm"}`,
			`{"files":[{"name":"run.sh","content":"#!/bin/sh\nvllm serve Qwen/Qwen3-8B --nonsense 3\n"}],"device":"h200_sxm"}`,
		},
		"check":   {`{"result":{"name":"r.json","content":"{\"backend\": \"vllm\", \"model_id\": \"Qwen/Qwen3-8B\", \"num_prompts\": 40, \"max_concurrency\": 4, \"duration\": 10.0, \"completed\": 40, \"total_input_tokens\": 4000, \"total_output_tokens\": 800, \"output_throughput\": 80.0, \"mean_ttft_ms\": 120.0, \"mean_tpot_ms\": 9.5}"},"expected":{` + vllmRun + `}}`},
		"support": {`{"model":"Qwen/Qwen3-32B","systems":["h200_sxm","ATLAS_800_A2_280T_64G"]}`},
		"validate": {
			`{"plan":{"model":"Qwen/Qwen3-8B","workloads":[]}}`, `{"plan":{` + small + `}}`,
			`{"optimize":{"model":"nonsense","output_length":-1,"disagg":true}}`,
			`{"optimize":{"model":"Qwen/Qwen3-32B","devices":["TEST_DEVICE"],"num_devices":8,"input_length":3500,"output_length":1500}}`,
		},
		"write_files": {`{"plan":{` + small + `},"folder":"x"}`, `{` + vllmRun + `,"isl":100,"osl":20,"concurrency":8,"targets":["plain","bench"]}`},
	}
}

// compiled is a schema, ready to validate.
func compiled(t *testing.T, schema any) *jsonschema.Schema {
	t.Helper()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	out, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func validates(t *testing.T, s *jsonschema.Schema, what string, data []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestSchemas: requests and documents of every operation are as their schemas say.
func TestSchemas(t *testing.T) {
	table := operation.Table()
	schemas, err := schema.New(table)
	if err != nil {
		t.Fatal(err)
	}
	for i := range table {
		o := &table[i]
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			in, out := compiled(t, schemas.Request(o)), compiled(t, schemas.Response(o))
			if len(requests()[o.Name]) == 0 {
				t.Error("no request is tested")
			}
			for _, text := range requests()[o.Name] {
				if text != "" {
					validates(t, in, "request "+text, []byte(text))
				}
				r, err := o.Decode([]byte(text))
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				doc, err := o.Run(t.Context(), environment(), r)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				var b bytes.Buffer
				if err := document.Encode(&b, doc); err != nil {
					t.Fatal(err)
				}
				validates(t, out, "document of "+text, b.Bytes())
			}
		})
	}
}

// TestMistakes: what is wrong with a request is said with the fields' names in JSON.
func TestMistakes(t *testing.T) {
	const rest = `"model":"m","systems":["s"],"workloads":[{}]`
	table := operation.Table()
	for _, c := range []struct{ name, request, want, fields string }{
		{"plan", `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"workloads":[{"isl":1,"osl":1}]}`, "gpus, rate or daily is missing", "gpus rate daily"},
		{"plan", `{}`, "workloads is missing\nmodel or config is missing\nsystems or device_file is missing\ngpus, rate or daily is missing", "workloads model config systems device_file gpus rate daily"},
		{"plan", `{` + rest + `,"gpus":"many"}`, "gpus must be a whole number, got a string", "gpus"},
		{"plan", `{` + rest + `,"gpus":1.5}`, "gpus must be a whole number, got 1.5", "gpus"},
		{"plan", `{"model":"m","systems":["s"],"gpus":1,"workloads":[{"isl":[]}]}`, "workloads[0].isl must be a whole number, got a list", "workloads[0].isl"},
		{"plan", `{"model":"m","gpus":1,"workloads":[{}],"device_file":1}`, "device_file must be a string, got a number", "device_file"},
		{"models", `{"limits":3}`, `unknown field limits with value 3; nearest: limit; allowed: q, limit, offset`, "limits"},
		{
			"optimize", `{"model":"Qwen/Qwen3-8B","input_length":1,"output_length":1,"limits":{"tpot":50}}`,
			"unknown field limits.tpot with value 50; nearest: tpot_ms; allowed: ttft_ms, tpot_ms, latency_ms", "limits.tpot",
		},
		{
			"step", `{"deployment":{"model":"Qwen/Qwen3-8B","pools":[{"layout":{"tp":1}},{"layout":{"tps":2}}]},"decode":true}`,
			"unknown field deployment.pools[1].layout.tps with value 2; nearest: tp; allowed: devices, tp, dp, pp, ep, moe_tp, moe_dp, dcp",
			"deployment.pools[1].layout.tps",
		},
		{
			"check", `{"result":{"name":"r","content":""},"expected":{"deployment":{"model":"m","engine":{"nam":"vllm"}}}}`,
			`unknown field expected.deployment.engine.nam with value "vllm"; nearest: name; allowed: name, version, preset, settings`,
			"expected.deployment.engine.nam",
		},
		{"optimize", `{"model":"m","input_length":1,"output_length":1,"limits":{"tpot_ms":"50"}}`, `limits.tpot_ms: a limit is a number of milliseconds or "inf", got "50"`, "limits.tpot_ms"},
		{"simulate", `{` + vllmRun + `,"arrival":"poison"}`, `arrival: must be poisson, gamma or constant, got "poison"`, "arrival"},
		{"plan", `[]`, "the JSON value must be an object, got a list", ""},
		{"plan", `{`, "not JSON: it ends too early", ""},
		{"plan", `{} {}`, "unexpected data after the JSON value", ""},
		{"plan", `{` + small + `,"limits":{"tpot_ms":-1}}`, "limits.tpot_ms must be above 0 and at most 1000000000000, got -1", "limits.tpot_ms"},
		{
			"plan", `{` + small + `,"no_limits":true,"limits":{"tpot_ms":9}}`,
			"no_limits excludes limits.ttft_ms, limits.tpot_ms and limits.latency_ms", "no_limits limits.ttft_ms limits.tpot_ms limits.latency_ms",
		},
		{"plan", `{` + small + `,"spare":1}`, "spare and utilization need rate or daily", "spare utilization rate daily"},
		{"plan", `{` + small + `,"cold_start_s":1}`, "cold_start_s needs daily", "cold_start_s daily"},
		{"plan", `{` + small + `,"device_file":"/etc/passwd"}`, "give device_file or systems", "device_file systems"},
		{"simulate", `{"deployment":{"model":"Qwen/Qwen3-8B"},"device_file":"x.yaml","concurrency":1}`, "device_file x.yaml: files cannot be read here", "device_file"},
		{"optimize", `{"model":"Qwen/Qwen3-8B","output_length":0,"input_length":1}`, "output_length must be between 1 and 100000000, got 0", "output_length"},
		{"plan", strings.Replace(`{`+small+`}`, `"agg"`, `"aggr"`, 1), `modes[0] must be one of agg, disagg, got "aggr"; nearest: agg`, "modes[0]"},
		{
			"optimize", `{"model":"Qwen/Qwen3-8B","input_length":1,"output_length":1,"evaluate":"formula"}`,
			`evaluate must be one of formulas, simulation, got "formula"; nearest: formulas`, "evaluate",
		},
		{"diff", `{"a":{` + strings.Replace(small, `"agg"`, `"aggr"`, 1) + `},"b":{` + small + `}}`, `a.modes[0] must be one of agg, disagg, got "aggr"; nearest: agg`, "a.modes[0]"},
		{
			"diff", `{"a":{` + small + `},"b":{` + small + `,"no_limits":true,"limits":{"ttft_ms":1}}}`,
			"b.no_limits excludes b.limits.ttft_ms, b.limits.tpot_ms and b.limits.latency_ms", "b.no_limits b.limits.ttft_ms b.limits.tpot_ms b.limits.latency_ms",
		},
		{"lint", `{}`, "", ""},
		{"validate", `{}`, "plan or optimize is missing", "plan optimize"},
		{"validate", `{"plan":{},"optimize":{}}`, "give one of plan and optimize", "plan optimize"},
		{"validate", `{"plan":null}`, "plan must be an object, got null", "plan"},
		{"plan", `{` + small + `,"energy_price":null,"rate":null}`, "rate must be a number, got null", "rate"},
		{"plan", strings.Replace(`{`+small+`}`, `"gpus":2`, `"gpus":2e0,"spare":1.0`, 1), "spare and utilization need rate or daily", "spare utilization rate daily"},
		{"plan", `{` + small + `,"prices":{"h200_sxm":0}}`, "prices.h200_sxm must be above 0 and at most 1000000, got 0", "prices.h200_sxm"},
		{"optimize", `{"model":"","input_length":1,"output_length":1}`, "model is empty", "model"},
		{"optimize", `{"model":"m","input_length":1,"output_length":1,"batch_range":[1,2,3]}`, "batch_range must have at most 2 entries, got 3", "batch_range"},
		{
			"optimize", `{"model":"m","output_length":1,"length_distribution":{"bins":[{"min_tokens":9,"max_tokens":9,"weight":1}]}}`,
			"length_distribution.bins[0].max_tokens must be above min_tokens 9, got 9", "length_distribution.bins[0].max_tokens",
		},
		{"models", `{"limit":-1}`, "limit must be between 0 and 1000000, got -1", "limit"},
		{"models", `{"offset":-1}`, "offset must be between 0 and 1000000, got -1", "offset"},
	} {
		o := operation.Lookup(table, c.name)
		r, err := o.Decode([]byte(c.request))
		if err == nil {
			_, err = o.Run(t.Context(), environment(), r)
		}
		var wrong *document.InputError
		if !errors.As(err, &wrong) {
			t.Errorf("%s %s: got %v", c.name, c.request, err)
			continue
		}
		if got := strings.Join(wrong.Fields, " "); c.want != "" && (wrong.Error() != c.want || got != c.fields) {
			t.Errorf("%s %s:\ngot  %q (%s)\nwant %q (%s)", c.name, c.request, wrong.Error(), got, c.want, c.fields)
		}
		if m := wrong.Mistakes[0]; strings.Contains(c.want, "must be one of") && (m.Value == "" || len(m.Allowed) < 2) {
			t.Errorf("%s %s: the value and the allowed words are missing: %+v", c.name, c.request, m)
		}
	}
}

// numbers is a list of the first n.
func numbers(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i + 1)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// TestServerLimits: what costs a server too much is refused before any work, with the limit.
func TestServerLimits(t *testing.T) {
	table := operation.Table()
	many := func(n int, one string) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	var names []string
	for i := range operation.MaxNames + 1 {
		names = append(names, fmt.Sprintf("%q", fmt.Sprint("system", i)))
	}
	for _, c := range []struct{ name, request, want, fields string }{
		{"simulate", `{` + vllmRun + `,"concurrency":8,"num_prompts":16777216}`, "num_prompts must be at most 131072, got 16777216", "num_prompts"},
		{"simulate", `{` + vllmRun + `,"concurrency":1000000}`, "concurrency without num_prompts must be at most 13107, got 1000000", "concurrency"},
		{"simulate", `{` + vllmRun + `,"concurrency":100000}`, "concurrency without num_prompts must be at most 13107, got 100000", "concurrency"},
		{"write_files", `{` + vllmRun + `,"concurrency":100000}`, "concurrency without num_prompts must be at most 13107, got 100000", "concurrency"},
		{"check", `{"result":{"name":"r","content":""},"expected":{` + vllmRun + `,"rate":1,"num_prompts":16777216}}`, "expected.num_prompts must be at most 131072, got 16777216", "expected.num_prompts"},
		{
			"simulate", `{"deployment":{"model":"Qwen/Qwen3-8B","pools":[{"replicas":30000}]},"concurrency":8}`,
			"deployment.pools[0].replicas must be at most 4096, got 30000", "deployment.pools[0].replicas",
		},
		{"plan", `{"model":"m","gpus":1,"workloads":[{}],"systems":` + many(50_000, `"h200_sxm"`) + `}`, "systems must have at most 256 entries, got 50000", "systems"},
		{"plan", `{"model":"m","gpus":1,"workloads":[{}],"systems":` + many(2, `"h200_sxm"`) + `}`, "systems has h200_sxm twice", "systems"},
		{"support", `{"systems":[` + strings.Join(names, ",") + `]}`, "systems must have at most 256 entries, got 257", "systems"},
		{"plan", `{"model":"m","gpus":1,"systems":["s"],"workloads":` + many(2049, `{}`) + `}`, "workloads must have at most 2048 entries, got 2049", "workloads"},
		{
			"optimize", `{"model":"m","input_length":1,"output_length":1,"space":{"tp_sizes":` + numbers(64) + `,"pp_sizes":` + numbers(64) + `,"ep_sizes":` + numbers(8) + `}}`,
			"space must have at most 16384 combinations of sizes, got 32768 or more", "space",
		},
		{"optimize", `{"model":"m","input_length":1,"output_length":1,"space":{"tp_sizes":[1,2,1]}}`, "space.tp_sizes has 1 twice", "space.tp_sizes"},
	} {
		_, err := operation.Lookup(table, c.name).Decode([]byte(c.request))
		wrong, ok := errors.AsType[*document.InputError](err)
		if !ok || wrong.Error() != c.want || strings.Join(wrong.Fields, " ") != c.fields {
			t.Errorf("%s %.100s:\ngot  %v\nwant %s (%s)", c.name, c.request, err, c.want, c.fields)
		}
	}
}

// TestCancelled: work ends with its context, before it begins and on the way.
func TestCancelled(t *testing.T) {
	for _, c := range []struct{ name, request string }{
		{"plan", `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"rate":1e6,"workloads":[{"isl":100,"osl":10}]}`},
		{"optimize", `{"model":"Qwen/Qwen3-8B","devices":["h200_sxm"],"num_devices":64,"input_length":3500,"output_length":1500}`},
		{"simulate", `{` + vllmRun + `,"rate":1000,"num_prompts":131072,"length_ratio_low":0.5}`},
		{"validate", `{"plan":{"model":"Qwen/Qwen3-8B"}}`},
		{"step", `{` + vllmRun + `,"decode":true}`},
		{"support", `{}`},
	} {
		o := operation.Lookup(operation.Table(), c.name)
		r, err := o.Decode([]byte(c.request))
		if err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		d := operation.NewRunner(environment(), operation.Capacity{})
		if _, err := d.Run(ended, o, r, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s in an ended context: %v", c.name, err)
		}
		if c.name == "validate" || c.name == "step" || c.name == "support" {
			continue // too short to say how far they are
		}
		ctx, stop := context.WithCancel(t.Context())
		if _, err := d.Run(ctx, o, r, func(session.Progress) { stop() }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled on its way: %v", c.name, err)
		}
		stop()
	}
}

// TestConcurrentDesk: equal requests share the work, the queue is bounded, a bug is an error, and
// work without a waiting client ends.
func TestConcurrentDesk(t *testing.T) {
	d := operation.NewRunner(environment(), operation.Capacity{Searches: 1, Waiting: 1})
	table := operation.Table()
	o := operation.Lookup(table, "plan")
	var runs atomic.Int64
	begun, release := make(chan struct{}, 9), make(chan struct{})
	slow := func(ctx context.Context, _ *operation.Env, _ any) ([]byte, error) {
		runs.Add(1)
		begun <- struct{}{}
		select {
		case <-release:
			return []byte("done"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	ask := func(ctx context.Context, n int) error {
		_, err := answer(ctx, d, o, fmt.Sprint(n), []byte(`{`+small+`}`), slow)
		return err
	}
	var wait sync.WaitGroup
	for range 5 {
		wait.Go(func() {
			if err := ask(t.Context(), 1); err != nil {
				t.Error(err)
			}
		})
	}
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	queued := make(chan error)
	go func() {
		err := ask(ctx, 2)
		for errors.Is(err, operation.ErrBusy) { // a request 3 waits just now
			err = ask(ctx, 2)
		}
		queued <- err
	}()
	for busy := false; !busy; { // until the queue is full
		short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		busy = errors.Is(ask(short, 3), operation.ErrBusy)
		stop()
	}
	cancel()
	if err := <-queued; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it waited: %v", err)
	}
	close(release)
	wait.Wait()
	if n := runs.Load(); n != 1 {
		t.Errorf("five equal requests ran %d times", n)
	}
	if err := ask(t.Context(), 1); err != nil || runs.Load() != 1 {
		t.Errorf("the answer was not kept: %v", err)
	}
}

// TestBugs: a panic, of the request's own goroutine or of a worker, is an error that is logged with its stack, and the runner
// goes on.
func TestBugs(t *testing.T) {
	var logged []*pool.PanicError
	env := environment()
	env.Bug = func(e *pool.PanicError) { logged = append(logged, e) }
	d := operation.NewRunner(env, operation.Capacity{Searches: 1})
	o := operation.Lookup(operation.Table(), "models")
	for i, render := range []func(context.Context, *operation.Env, any) ([]byte, error){
		func(context.Context, *operation.Env, any) ([]byte, error) { panic("oops") },
		func(ctx context.Context, _ *operation.Env, _ any) ([]byte, error) {
			return nil, pool.Each(ctx, 2, 2, func(int) { panic("oops") })
		},
	} {
		_, err := answer(t.Context(), d, o, fmt.Sprint("bug", i), nil, render)
		if _, ok := errors.AsType[*pool.PanicError](err); !ok || err.Error() != "internal error: oops" {
			t.Errorf("a bug is %v", err)
		}
		if len(logged) != i+1 || !bytes.Contains(logged[i].Stack, []byte("operation_test.go")) {
			t.Errorf("logged %v", logged)
		}
	}
	if _, err := answer(t.Context(), d, o, "", nil, nil); err != nil {
		t.Errorf("after a bug: %v", err)
	}
}

// TestUsualLimits: what is checked before a plan without limits names the limits that it takes and their source.
func TestUsualLimits(t *testing.T) {
	o := operation.Lookup(operation.Table(), "validate")
	for request, want := range map[string]string{
		`{"plan":{` + small + `}}`:                  "Usual for chat: TTFT 2000 ms and TPOT 100 ms",
		`{"plan":{` + small + `,"no_limits":true}}`: "",
	} {
		r, err := o.Decode([]byte(request))
		if err != nil {
			t.Fatal(err)
		}
		out, err := o.Run(t.Context(), environment(), r)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, a := range out.(*operation.Validation).Assumptions {
			if a.Field == "limits" {
				got = a.Value
				if !strings.HasPrefix(a.Source, "MLPerf Inference, ") {
					t.Errorf("source %q", a.Source)
				}
			}
		}
		if got != want {
			t.Errorf("%s: limits %q, want %q", request, got, want)
		}
	}
}
