package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestEstimateIsSimulate: "cli estimate" prints the figures of "simulate" and of the row
// of "cli default", to the digit, in all spellings of its flags.
func TestEstimateIsSimulate(t *testing.T) {
	type answer = map[string]any
	get := func(command string) answer { return parse(t, run(t, strings.Fields(command))).(answer) }
	const model = " --model-path Qwen/Qwen3-8B --system h200_sxm --isl 300 --osl 40 -q --json"
	rows := get("cli default --total-gpus 2 --backend vllm --serving-mode agg" + model)["experiments"].([]any)[0].(answer)["rows"].([]any)
	row := rows[0].(answer)
	pool := row["deployment"].(answer)["pools"].([]any)[0].(answer)
	tp, copies := fmt.Sprint(pool["layout"].(answer)["tp"]), fmt.Sprint(pool["replicas"])
	bs, concurrency, budget := fmt.Sprint(row["batch_size"]), fmt.Sprint(row["concurrency"]), fmt.Sprint(row["token_budget"])
	var settings strings.Builder
	for _, s := range pool["settings"].([]any) {
		settings.WriteString(" " + s.(string))
	}
	simulated := get("simulate Qwen/Qwen3-8B --system h200_sxm --engine vllm --input-length 300 --output-length 40 --json --tp-size " + tp +
		" --replicas " + copies + " --concurrency " + concurrency + " --set" + settings.String() + " token_budget=" + budget)
	for _, spelling := range []string{" --tp %tp --bs %bs", " --tp-size %tp --batch-size %bs", " --tp_size %tp --batch_size %bs --attention-dp-size 1 --pp 1"} {
		flags := strings.NewReplacer("%tp", tp, "%bs", bs).Replace(spelling)
		got := get("cli estimate --backend vllm --workers " + copies + " --concurrency " + concurrency + " --ctx-tokens " + budget + flags + model)
		limits := cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return k == "chance_within_limits" }) // which only the row has
		for name, want := range map[string]any{
			"tokens_per_second": simulated["output_tokens_per_s"], "judged": simulated["judged"],
		} {
			if d := cmp.Diff(want, got[name], limits); d != "" {
				t.Errorf("%s: %s differs (-simulated +got):\n%s", flags, name, d)
			}
		}
		if rate := got["request_rate"].(answer)["value"]; rate != simulated["requests_per_s"] {
			t.Errorf("%s: the request rate is %v, simulated %v", flags, rate, simulated["requests_per_s"])
		}
		for _, name := range []string{"judged", "tokens_per_second", "tokens_per_second_gpu", "tokens_per_second_user", "basis"} {
			if d := cmp.Diff(row[name], got[name], limits); d != "" {
				t.Errorf("%s: %s differs (-row +got):\n%s", flags, name, d)
			}
		}
	}
}
