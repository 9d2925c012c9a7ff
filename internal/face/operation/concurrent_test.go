package operation_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// answer asks a runner.
func answer(ctx context.Context, d *operation.Runner, o *operation.Operation, kind string, data []byte, render func(context.Context, *operation.Env, any) ([]byte, error)) ([]byte, error) {
	q, err := d.Ask(o, kind, data, render)
	if err != nil {
		return nil, err
	}
	return d.Join(ctx, q, operation.Watch{}).Wait(ctx)
}

// tiny is a plan that takes little time even under the race detector.
const tiny = `"model":"Qwen/Qwen3-0.6B","systems":["h200_sxm"],"gpus":2,"engines":["vllm"],"modes":["agg"],"no_changes":true,"workloads":[{"isl":32,"osl":4}],"limits":{"ttft_ms":20,"tpot_ms":5}`

// TestConcurrentOperations: operations that run together, of one runner with one memory of simulations, have the answers they
// have alone. Run it under the race detector.
func TestConcurrentOperations(t *testing.T) {
	t.Parallel()
	const run = `"deployment":{"model":"Qwen/Qwen3-0.6B","system":"h200_sxm","engine":{"name":"vllm"}}`
	requests := map[string]string{
		"plan":        `{` + tiny + `}`,
		"diff":        `{"a":{` + tiny + `},"b":{` + tiny + `,"confidence":0.8}}`,
		"optimize":    `{"model":"Qwen/Qwen3-0.6B","devices":["h200_sxm"],"num_devices":2,"input_length":32,"output_length":4,"evaluate":"simulation","batch_range":[1,4]}`,
		"explain":     `{"model":"Qwen/Qwen3-0.6B","devices":["h200_sxm"],"num_devices":2,"input_length":32,"output_length":4,"batch_range":[1,4]}`,
		"step":        `{` + run + `,"decode":true,"num_queries":2,"context_length":32}`,
		"simulate":    `{` + run + `,"concurrency":2,"input_length":32,"output_length":4,"num_prompts":4}`,
		"lint":        `{"command":"vllm serve Qwen/Qwen3-0.6B --max-num-seqs 4","device":"h200_sxm"}`,
		"support":     `{"model":"Qwen/Qwen3-0.6B","systems":["h200_sxm"]}`,
		"write_files": `{` + run + `,"isl":32,"osl":4,"concurrency":2,"targets":["plain","bench"]}`,
	}
	table := operation.Table()
	env := environment()
	env.Session.Memo = &session.Memo{Size: 64}
	d := operation.NewRunner(env, operation.Capacity{Searches: 4})
	var wait sync.WaitGroup
	for name, request := range requests {
		o := operation.Lookup(table, name)
		answers := make([][]byte, 2)
		each := func(i int) {
			// Other kinds, so that the runner does not share one answer.
			data, err := answer(t.Context(), d, o, fmt.Sprint(i), []byte(request), func(ctx context.Context, env *operation.Env, request any) ([]byte, error) {
				doc, err := o.Run(ctx, env, request)
				if err != nil {
					return nil, err
				}
				var b bytes.Buffer
				err = document.Encode(&b, doc)
				return b.Bytes(), err
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			answers[i] = data
		}
		var both sync.WaitGroup
		for i := range answers {
			both.Go(func() { each(i) })
		}
		wait.Go(func() {
			both.Wait()
			if !bytes.Equal(answers[0], answers[1]) {
				t.Errorf("%s: two answers to one request", name)
			}
		})
	}
	wait.Wait()
}
