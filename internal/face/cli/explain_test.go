package cli_test

import (
	stdjson "encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// explained is the part of an answer that says where time goes.
type explained struct {
	Devices []struct {
		Passes []struct {
			Phase, Evaluation string
			Best              struct {
				Prefill float64 `json:"prefill_step_ms"`
				Decode  float64 `json:"decode_step_ms"`
			}
		}
	}
	Explanations []struct {
		Steps []struct {
			Phase   string
			TotalS  float64 `json:"total_s"`
			Command string
		}
	}
}

// TestExplainedSteps: the step an explanation shows is the one behind the row,
// and the command beside it evaluates the same step.
func TestExplainedSteps(t *testing.T) {
	const fitted = " --num-devices 4 --input-length 2000 --output-length 20 --tp-sizes 4"
	kernels := " --device h200_sxm --perf-engine vllm --perf-data " + tablesDir(t)
	for _, c := range []struct {
		flags string
		steps int
		other bool // the row's prefill is no single step
	}{
		{"Qwen/Qwen3-32B --tpot-limit 50" + load, 2, false},
		{"Qwen/Qwen3-32B --tpot-limit 50 --num-devices 2 --input-length 512 --output-length 64 --compile" + kernels, 2, false},
		{"Qwen/Qwen3-32B --tpot-limit 50 --device h200_sxm" + fitted, 2, false},
		{"Qwen/Qwen3-32B --tpot-limit 50 --device h200_sxm --no-compile" + fitted, 2, false},
		{"Qwen/Qwen3-32B --tpot-limit 50 --device h200_sxm --pricing roofline" + fitted, 2, false},
		{"Qwen/Qwen3-32B --tpot-limit 50 --device h200_sxm --policy tensorcast --compile" + fitted, 2, false},
		{"Qwen/Qwen3-32B --tpot-limit 50 --device h200_sxm TEST_DEVICE --no-compile" + fitted, 4, false},
		{"Qwen/Qwen3-32B --disagg --ttft-limit 2000 --tpot-limit 50 --device TEST_DEVICE h200_sxm" + load, 4, false},
		{"Qwen/Qwen3-30B-A3B --ep-sizes 4 --moe-dp-sizes 2 --tp-sizes 4 --tpot-limit 50" + load, 2, false},
		{"Qwen/Qwen3-32B --tp-sizes 8 --compilation-config enable_sequence_parallel enable_matmul_allreduce" + load, 2, false},
		{"Qwen/Qwen3-32B --pp-sizes 2 --tp-sizes 2 --tpot-limit 50" + load, 2, true}, // waits for the pipeline to fill
		{"Qwen/Qwen3-32B --tp-sizes 8 --dcp-sizes 1 --prefix-cache-hit-rate 0.5" + load, 2, false},
		{"deepseek-ai/DeepSeek-V3.1 --num-devices 16 --input-length 999 --output-length 99 --num-mtp-tokens 2 --compile --tp-sizes 4 --dcp-sizes 2", 2, false},
		{"deepseek-ai/DeepSeek-V3.1 --num-devices 16 --input-length 999 --output-length 99 --compile --compilation-config enable_dispatch_ffn_combine enable_sequence_parallel --tp-sizes 2", 2, false},
		{"Qwen/Qwen3-8B --num-devices 4 --input-length 999 --output-length 99 --word-embedding-tp row --policy physical --tp-sizes 4", 2, false},
		{"Qwen/Qwen3-8B --num-devices 4 --input-length 999 --output-length 99 --quantize-linear-action MXFP4 --mxfp4-group-size 64 --quantize-attention-action INT8 --quantize-non-expert-linear-action W4A8_STATIC", 2, false},
		{"Qwen/Qwen2.5-VL-7B-Instruct --num-devices 2 --input-length 999 --output-length 99 --image-height 1080 --image-width 1920 --disagg --ttft-limit 9000", 1, false},
		{"Qwen/Qwen2.5-VL-7B-Instruct --num-devices 2 --input-length 999 --output-length 99 --image-height 108 --image-width 192 --image-batch-size 3 --disagg --ttft-limit 9000", 1, false},
		{"Qwen/Qwen3-32B --max-batched-tokens 1024 --tpot-limit 50 --tp-sizes 8" + load, 2, true},
	} {
		var x explained
		decode(t, run(t, strings.Fields("explain --json "+c.flags)), &x)
		n := 0
		for _, e := range x.Explanations {
			for _, s := range e.Steps {
				n++
				var alone struct {
					TotalS struct{ Value float64 } `json:"total_s"`
				}
				if s.Command == "" {
					t.Errorf("%s: no command for the %s step", c.flags, s.Phase)
					continue
				}
				decode(t, run(t, append(strings.Fields(s.Command)[1:], "--json")), &alone)
				near(t, s.Command, alone.TotalS.Value, s.TotalS)
			}
		}
		if n != c.steps {
			t.Errorf("%s: %d steps, want %d", c.flags, n, c.steps)
		}
		at := 0
		for _, d := range x.Devices {
			for _, p := range d.Passes {
				for _, s := range x.Explanations[at].Steps {
					if p.Evaluation == "simulation" {
						continue // its steps differ
					}
					row := map[string]float64{"prefill": p.Best.Prefill, "decode": p.Best.Decode}[s.Phase]
					if !c.other || s.Phase == "decode" {
						near(t, c.flags+": "+s.Phase+" of the row", row/1e3, s.TotalS)
					}
				}
				at++
			}
		}
	}
}

// TestExplainedStepsWithoutCommand: "plimsoll step" has no draft models.
func TestExplainedStepsWithoutCommand(t *testing.T) {
	var x explained
	decode(t, run(t, strings.Fields("explain --json Qwen/Qwen3-32B --speculative-method dspark"+load)), &x)
	for _, s := range x.Explanations[0].Steps {
		if s.Command != "" || s.TotalS <= 0 {
			t.Errorf("%g s, %q", s.TotalS, s.Command)
		}
	}
	near(t, "prefill", x.Devices[0].Passes[0].Best.Prefill/1e3, x.Explanations[0].Steps[0].TotalS)
}

// TestSimulatedRow: the best row of simulated candidates is what a simulation of
// the same deployment shows.
func TestSimulatedRow(t *testing.T) {
	const common = " Qwen/Qwen3-8B --device h200_sxm --input-length 512 --output-length 64 --json"
	var searched struct {
		Devices []struct {
			Passes []struct {
				Best struct {
					figures.Record

					Concurrency int
					Settings    []string `json:"engine_settings"`
				}
			}
		}
	}
	decode(t, run(t, strings.Fields("throughput-optimizer --evaluate simulation --num-devices 2 --tp-sizes 2 --ttft-limit 200"+common)), &searched)
	best := searched.Devices[0].Passes[0].Best
	type times struct{ Mean float64 }
	var alone struct {
		Throughput figures.Estimate `json:"output_tokens_per_s"`
		TTFT       times            `json:"ttft_ms"`
		TPOT       times            `json:"tpot_ms"`
	}
	decode(t, run(t, strings.Fields("simulate"+common+" --tp-size 2 --concurrency "+strconv.Itoa(best.Concurrency)+" --set "+strings.Join(best.Settings, " "))), &alone)
	near(t, "throughput", alone.Throughput.Value, best.Tokens.Value)
	near(t, "TTFT", alone.TTFT.Mean, best.Judged.TTFT.Value)
	near(t, "TPOT", alone.TPOT.Mean, best.Judged.TPOT.Value)
	if best.Concurrency < 2 || best.Judged.TTFT.Value > 200 {
		t.Errorf("the best row is no search's: %+v", best)
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := stdjson.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func near(t *testing.T, what string, want, got float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s: want %g, got %g", what, want, got)
	}
}
