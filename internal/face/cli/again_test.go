package cli_test

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
)

// again are command lines whose answers must say how to ask for them again.
func again() []string {
	const small = " --num-devices 2 --input-length 512 --output-length 64"
	return []string{
		"throughput-optimizer Qwen/Qwen3-32B --tpot-limit 50" + load,
		"throughput-optimizer Qwen/Qwen3-30B-A3B --tp-sizes --ep-sizes 1 2 --moe-dp-sizes 1 --tpot-limit 50.1 --quantize-linear-action W4A8_DYNAMIC --quantize-attention-action INT8" + load,
		"throughput-optimizer Qwen/Qwen3-32B --device TEST_DEVICE h200_sxm --disagg --ttft-limit 2000 --tpot-limit inf --serving-cost 3" + load,
		"throughput-optimizer Qwen/Qwen3-32B --ttft-limit 2000 --enable-optimize-prefill-decode-ratio --prefill-devices-per-instance 4 --decode-devices-per-instance 4" + load,
		"throughput-optimizer Qwen/Qwen3-32B --max-batched-tokens auto --batch-range 2 8 --accounting steady --prefix-cache-hit-rate 0.25 --reserved-memory-gb 2.5" + load,
		"throughput-optimizer Qwen/Qwen3-32B --num-devices 8 --length-distribution --output-length 150 --ttft-limit 5000 --disagg",
		"throughput-optimizer deepseek-ai/DeepSeek-V3.1 --num-devices 16 --input-length 100 --output-length 1 --num-mtp-tokens 0 1 --mtp-acceptance-rates 0.8 0.5 --compile --compilation-config enable_sequence_parallel",
		"throughput-optimizer Qwen/Qwen3-32B --speculative-method dflash --acceptance-length 3 --ttft-limit 900 --disagg --tpot-limit 100" + load,
		"throughput-optimizer Qwen/Qwen2.5-VL-7B-Instruct --num-devices 2 --input-length 999 --output-length 99 --image-height 1080 --image-width 1920 --disagg --ttft-limit 9000",
		"explain Qwen/Qwen3-8B --device h200_sxm --engine sglang --set max_sequences=64 --batch-range 1 4 --confidence 0.7 --price 3.5 --length-ratio-low 0.5 --tpot-limit 20" + small,
		"throughput-optimizer Qwen/Qwen3-8B --device h200_sxm --evaluate formulas --policy tensorcast --no-compile --word-embedding-tp row --max-batched-tokens 4096" + small,
		"step Qwen/Qwen3-32B --query-length 100 --prefix-cache-hit-rate 0.5 --num-devices 4 --tp-size 2",
		"step deepseek-ai/DeepSeek-V3.1 --num-devices 16 --ep-size 16 --decode --num-queries 256 --compile --compilation-config enable_multistream",
		"step Qwen/Qwen3-8B --device h200_sxm --decode --engine vllm --reserved-memory-gb 4",
		"simulate Qwen/Qwen3-8B --device h200_sxm --concurrency 16 --num-prompts 40 --input-length 300 --output-length 30 --tpot-limit 20 --seed 5",
		"simulate Qwen/Qwen3-30B-A3B --device h200_sxm --tp-size 2 --ep-size 2 --prefill-replicas 1 --replicas 2 --rate 2 --arrival gamma --arrival-variation 2 --num-prompts 40 --length-ratio-low 0.5 --engine sglang --set max_sequences=32 --prefill-set max_sequences=4",
	}
}

// TestAgain: an answer in JSON carries the command and the request behind it, and both
// give that answer again.
func TestAgain(t *testing.T) {
	for _, line := range again() {
		first := run(t, strings.Fields(line+json))
		var said struct {
			Command string
			Request stdjson.RawMessage
		}
		decode(t, first, &said)
		words := strings.Fields(strings.ReplaceAll(said.Command, "'", ""))
		if second := run(t, append(words[1:], "--json")); second != first {
			t.Errorf("%s\nsays to run\n%s\nwhich differs:\n%s", line, said.Command, cmp.Diff(first, second))
		}
		got, err := ask(words[1], said.Request)
		if err != nil {
			t.Errorf("%s: the request cannot be asked again: %v", line, err)
			continue
		}
		var want map[string]any
		decode(t, first, &want)
		delete(want, "command")
		var have map[string]any
		decode(t, got, &have)
		delete(have, "command")
		if d := cmp.Diff(want, have, cmp.FilterPath(commands, cmp.Ignore())); d != "" {
			t.Errorf("%s: its request gives another answer:\n%s", line, d)
		}
	}
}

// commands are the command lines inside a document, which only the command line writes.
func commands(p cmp.Path) bool {
	i, ok := p.Last().(cmp.MapIndex)
	return ok && i.Key().String() == "command"
}

// ask asks for a request in JSON without the command line.
func ask(command string, request []byte) (string, error) {
	w := &session.Session{}
	ctx := context.Background()
	var doc any
	var err error
	switch command {
	case "step":
		var r step.Request
		var a *step.Response
		if err = strict(request, &r); err == nil {
			if a, err = step.Run(ctx, w, r); err == nil {
				doc = a
			}
		}
	case "simulate":
		var r simulate.Request
		var a *simulate.Response
		if err = strict(request, &r); err == nil {
			if a, err = simulate.Run(ctx, w, r); err == nil {
				doc = a
			}
		}
	default:
		var r optimize.Request
		var a *optimize.Response
		if err = strict(request, &r); err == nil {
			if a, err = optimize.Run(ctx, w, r); err == nil {
				doc = a
			}
		}
	}
	if err != nil {
		return "", err
	}
	out, err := document.Compact(doc)
	return string(out), err
}

// strict decodes, and refuses fields that a request does not have.
func strict(data []byte, into any) error {
	d := stdjson.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
