package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestConcurrentCommands: commands whose work several workers share answer while others run. Under the race detector this shows
// that workers share nothing else; the inputs are small for its sake.
func TestConcurrentCommands(t *testing.T) {
	const load = " --system h200_sxm --isl 32 --osl 4 --ttft 10 --tpot 5 --jobs 4 --json"
	for name, line := range map[string]string{
		"plan":      "plan Qwen/Qwen3-0.6B --gpus 2 --engine vllm --no-changes" + load,
		"recommend": "cli recommend --model-path Qwen/Qwen3-0.6B --target-request-rate 40 --backend vllm --serving-mode agg" + load,
		"configure": "cli default --model-path Qwen/Qwen3-0.6B --total-gpus 2 --backend vllm" + load,
		"optimize":  "throughput-optimizer Qwen/Qwen3-0.6B --device h200_sxm TEST_DEVICE --num-devices 2 --input-length 32 --output-length 4 --batch-range 1 4 --jobs 4 --json",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, stdout, stderr := testEnv(t, strings.Fields(line), nil)
			if code := Main(env); code != ExitOK || !json.Valid(stdout.Bytes()) {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
}
