package operation_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

// TestConcurrentLanes: while searches fill their lane and its queue, a request with little work is answered, the same bytes as alone, and
// one with much work is refused. What decides is the estimate of its work, not its operation.
func TestConcurrentLanes(t *testing.T) {
	t.Parallel()
	const run = `"deployment":{"model":"Qwen/Qwen3-0.6B","system":"h200_sxm","engine":{"name":"vllm"}}`
	const search = `"model":"Qwen/Qwen3-0.6B","num_devices":2,"input_length":32,"output_length":4,"batch_range":[1,4]`
	d := operation.NewRunner(environment(), operation.Capacity{Searches: 1, Waiting: 1})
	table := operation.Table()
	blocked, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for _, kind := range []string{"runs", "waits"} {
		q, err := d.Ask(operation.Lookup(table, "plan"), kind, []byte(`{`+tiny+`}`), func(context.Context, *operation.Env, any) ([]byte, error) {
			close(blocked)
			<-release
			return nil, nil
		})
		if err != nil || q.Brief() {
			t.Fatalf("a plan is brief: %v", err)
		}
		call := d.Join(ctx, q, operation.Watch{})
		go func() { _, _ = call.Wait(ctx) }()
		if kind == "runs" {
			<-blocked
		}
	}
	for searches, _ := d.Load(); searches != (operation.Load{Running: 1, Waiting: 1}); searches, _ = d.Load() {
		time.Sleep(time.Millisecond)
	}
	for _, c := range []struct {
		name, request string
		brief         bool
	}{
		{"models", `{"q":"qwen3","limit":2}`, true},
		{"devices", `{"limit":2}`, true},
		{"engines", `{}`, true},
		{"validate", `{"plan":{` + tiny + `}}`, true},
		{"step", `{` + run + `,"decode":true}`, true},
		{"support", `{"model":"Qwen/Qwen3-0.6B","systems":["h200_sxm"]}`, true},
		{"lint", `{"command":"vllm serve Qwen/Qwen3-0.6B","device":"h200_sxm","static":true}`, true},
		{"lint", `{"command":"vllm serve Qwen/Qwen3-0.6B","device":"h200_sxm"}`, false},
		{"simulate", `{` + run + `,"concurrency":2,"input_length":32,"output_length":4,"num_prompts":4}`, true},
		{"simulate", `{` + run + `,"concurrency":2,"input_length":32,"output_length":4,"num_prompts":131072}`, false},
		{"simulate", `{` + run + `,"concurrency":13107}`, false},
		{"optimize", `{"devices":["TEST_DEVICE"],` + search + `}`, true},
		{"optimize", `{"devices":["TEST_DEVICE"],"model":"deepseek-ai/DeepSeek-V3","num_devices":64,"input_length":32,"output_length":4,"space":{"ep_sizes":[1,2,4,8],"pp_sizes":[1,2],"num_mtp_tokens":[0,1,2]}}`, false},
		{"optimize", `{"devices":["h200_sxm"],` + search + `}`, false},
		{"explain", `{"devices":["TEST_DEVICE"],` + search + `}`, true},
		{"plan", `{"model":"no/such","systems":["h200_sxm"]}`, true}, // refused
		{"diff", `{"a":{` + tiny + `},"b":{` + tiny + `}}`, false},
		{"write_files", `{"plan":{` + tiny + `}}`, false},
		{"write_files", `{` + run + `,"isl":32,"osl":4,"concurrency":2,"targets":["plain"]}`, true},
	} {
		o := operation.Lookup(table, c.name)
		data, err := answer(t.Context(), d, o, "", []byte(c.request), nil)
		if busy := errors.Is(err, operation.ErrBusy); busy == c.brief {
			t.Errorf("%s %s: %v, want brief %v", c.name, c.request, err, c.brief)
			continue
		}
		if !c.brief || err != nil {
			continue
		}
		alone, err := answer(t.Context(), operation.NewRunner(environment(), operation.Capacity{}), o, "", []byte(c.request), nil)
		if err != nil || !bytes.Equal(data, alone) {
			t.Errorf("%s %s: another answer than alone: %v", c.name, c.request, err)
		}
	}
}
