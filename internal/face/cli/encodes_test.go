package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestDocumentsEncode: whatever small request is made, --json prints JSON or one says what is wrong with the request; figures
// that do not exist, like the time of a second token where there is none, never keep a document from being written.
func TestDocumentsEncode(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 0))
	one := func(words ...string) string { return words[random.IntN(len(words))] }
	for i := range 21 {
		isl, osl, gpus := one("1", "2", "17", "900"), strconv.Itoa(1+i/7), one("1", "2") // each command with 1, 2 and 3 output tokens
		model := one("Qwen/Qwen3-0.6B", "Qwen/Qwen3-8B")
		limits := one("", "--tpot 1e-9", "--ttft 1", "--ttft 1e9 --tpot 1e9", "--request-latency 500")
		line := []string{
			fmt.Sprintf("cli default --model-path %s --system h200_sxm --total-gpus %s --isl %s --osl %s %s --serving-mode %s", model, gpus, isl, osl, limits, one("agg", "disagg")),
			fmt.Sprintf("cli default --model-path %s --system h200_sxm --target-request-rate %s --isl %s --osl %s %s", model, one("1e-3", "7"), isl, osl, limits),
			fmt.Sprintf("cli estimate --model-path %s --system h200_sxm --isl %s --osl %s --batch-size %s", model, isl, osl, gpus),
			fmt.Sprintf("plan %s --system h200_sxm --gpus %s --isl %s --osl %s %s --engine vllm --serving-mode agg --no-changes", model, gpus, isl, osl, limits),
			fmt.Sprintf("simulate %s --system h200_sxm --input-length %s --output-length %s %s", model, isl, osl, one("--concurrency 3", "--rate 1e-3", "--rate 50")),
			fmt.Sprintf("throughput-optimizer %s --device h200_sxm --num-devices %s --input-length %s --output-length %s --batch-range 1 8 %s", model, gpus, isl, osl,
				one("", "--tpot-limit 1e-9", "--disagg --tpot-limit 50", "--evaluate simulation")),
			fmt.Sprintf("step %s --device h200_sxm --query-length %s --context-length %s", model, one("1", "17"), one("0", "900")),
		}[i%7]
		env, stdout, stderr := testEnv(t, append(strings.Fields(line), "--json"), nil)
		code := Main(env)
		switch wrong := stderr.String(); {
		case strings.Contains(wrong, "json:") || code != ExitOK && code != ExitUsage:
			t.Errorf("%s: exit %d: %s", line, code, wrong)
		case code == ExitOK && !json.Valid(stdout.Bytes()):
			t.Errorf("%s: prints no JSON", line)
		}
	}
}
