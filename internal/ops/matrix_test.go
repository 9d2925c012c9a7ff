package ops_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestMatrix: every model that AIConfigurator tests makes a deployment on every system and under every engine with 32 devices, unless
// their memory is too small. Every two of a model, a system and an engine meet; all three do not.
func TestMatrix(t *testing.T) {
	t.Parallel()
	engines := []string{"trtllm", "sglang", "vllm"}
	for i, model := range []string{
		"LLAMA2_7B", "LLAMA2_70B", "LLAMA3.1_8B", "LLAMA3.1_70B", "LLAMA3.1_405B", "MOE_Mixtral8x7B", "MOE_Mixtral8x22B", "DEEPSEEK_V3",
		"KIMI_K2", "QWEN2.5_7B", "QWEN2.5_72B", "QWEN3_0.6B", "QWEN3_8B", "QWEN3_32B", "QWEN3_30B_A3B", "QWEN3_235B", "QWEN3_480B",
		"GPT_OSS_120B", "Nemotron_super_v1.1",
	} {
		for j, system := range []string{"h100_sxm", "h200_sxm", "b200_sxm", "gb200_sxm", "a100_sxm", "l40s"} {
			engine := engines[(i+j)%len(engines)]
			e := experiment.Experiment{
				Name: "agg", Model: model, System: system, Devices: 32, Engine: deployment.Engine{Name: engine}, Input: 200, Output: 4,
			}
			r, err := configure.Generate(t.Context(), new(session.Session), e, session.Sources{})
			if err != nil {
				small := system == "h100_sxm" || system == "a100_sxm" || system == "l40s"
				if !small || !strings.Contains(err.Error(), "leave no room for a KV cache") {
					t.Errorf("%s on %s under %s: %v", model, system, engine, err)
				}
				continue
			}
			if o := &r.Results[0].Rows[0]; !(o.TTFT > 0) || !(o.Throughput > 0) || o.Used > 32 {
				t.Errorf("%s on %s under %s: %+v", model, system, engine, o)
			}
		}
	}
}
