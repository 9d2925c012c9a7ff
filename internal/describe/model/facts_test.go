package model

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

func TestKVBytesPerToken(t *testing.T) {
	for _, c := range []struct {
		id     string
		format dtype.Format
		want   float64
	}{
		{"meta-llama/Llama-3.1-8B", dtype.BF16, 32 * 2 * 8 * 128 * 2},
		{"meta-llama/Llama-3.1-8B", dtype.FP8, 32 * 2 * 8 * 128},
		{"deepseek-ai/DeepSeek-V3", dtype.BF16, 61 * (512 + 64) * 2},
		{"deepseek-ai/DeepSeek-V3.2", dtype.BF16, 61 * (512 + 64 + 128) * 2},    // with the indexer's keys
		{"zai-org/GLM-5.2", dtype.BF16, (78*(512+64) + 21*128) * 2},             // 21 layers have their own
		{"Qwen/Qwen3-Next-80B-A3B-Instruct", dtype.BF16, 12 * 2 * 2 * 256 * 2},  // a quarter of the layers
		{"nvidia/Nemotron-H-56B-Base-8K", dtype.BF16, 10 * 2 * 8 * 128 * 2},     // ten attention layers
		{"XiaomiMiMo/MiMo-V2-Flash", dtype.FP8, 9*4*(192+128) + 39*8*(192+128)}, // keys wider than values
		{"deepseek-ai/DeepSeek-V4-Flash", dtype.FP8, 2*512 + 21*640.0/4 + 20*512.0/128},
	} {
		if got := float64(lookup(t, c.id).KVBytesPerToken(c.format)); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s in %s: want %g, got %g", c.id, c.format, c.want, got)
		}
	}
}

func TestStateBytes(t *testing.T) {
	for id, want := range map[string]float64{
		"Qwen/Qwen3-32B": 0,
		// 36 layers: 32 heads of 128 × 128 in float32, three inputs of a convolution
		// 2·16·128 + 32·128 wide in bf16.
		"Qwen/Qwen3-Next-80B-A3B-Instruct": 36 * (32*128*128*4 + 3*8192*2),
		// 54 layers: 256 heads of 64 × 256, convolution 256·64 + 2·8·256 wide.
		"nvidia/Nemotron-H-56B-Base-8K": 54 * (256*64*256*4 + 3*20480*2),
	} {
		if got := float64(lookup(t, id).StateBytes()); got != want {
			t.Errorf("%s: want %g, got %g", id, want, got)
		}
	}
}

func TestWeightBytes(t *testing.T) {
	for _, c := range []struct {
		id   string
		want float64 // size of the published files, without MTP
		off  float64
	}{
		{"meta-llama/Llama-3.1-8B", 16060522496, 1e-9},   // 2 bytes a parameter
		{"Qwen/Qwen3-32B-FP8", 34.3e9, 0.01},             // 7 shards, 34.3 GB
		{"openai/gpt-oss-120b", 65.3e9, 0.01},            // 65.25 GB of safetensors
		{"openai/gpt-oss-20b", 13.76e9, 0.01},            // 13.76 GB
		{"moonshotai/Kimi-K2-Thinking", 594e9, 0.01},     // model card: 594 GB
		{"nvidia/DeepSeek-R1-NVFP4", 396e9, 0.02},        // files of 413 GB, of which MTP in bf16 some 17
		{"deepseek-ai/DeepSeek-V3", 671e9 + 2.9e9, 0.01}, // one byte each, embedding and head two
	} {
		if got := float64(lookup(t, c.id).Facts().Weights.Checkpoint); math.Abs(got/c.want-1) > c.off {
			t.Errorf("%s: want %.4g bytes, got %.4g", c.id, c.want, got)
		}
	}
}

// Narrower formats never take more space, and every figure is there.
func TestFactsLaws(t *testing.T) {
	for _, e := range IDs() {
		f := lookup(t, e.ID).Facts()
		w := f.Weights
		if !(w.BF16 > w.FP8 && w.FP8 >= w.INT8 && w.INT8 > w.NVFP4 && w.NVFP4 > w.INT4 && w.INT4 > 0) {
			t.Errorf("%s: %+v", e.ID, w)
		}
		if w.Checkpoint > w.BF16*1.001 || w.Checkpoint < w.INT4/2 {
			t.Errorf("%s: checkpoint %v of %v", e.ID, w.Checkpoint, w.BF16)
		}
		if f.KV.FP8*2 != f.KV.BF16 || f.KV.Windowed > f.KV.BF16 {
			t.Errorf("%s: %+v", e.ID, f.KV)
		}
		n := 0
		for _, k := range f.Kinds {
			n += k.Count
		}
		if n != f.Layers || f.Parameters < f.Active || f.Active <= 0 {
			t.Errorf("%s: %d layers in kinds of %d, %d parameters, %d active", e.ID, n, f.Layers, f.Parameters, f.Active)
		}
	}
}

func TestFactsJSON(t *testing.T) {
	b, err := json.Marshal(lookup(t, "Qwen/Qwen3-8B").Facts())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"id":"Qwen/Qwen3-8B"`, `"parameters":8190735360`, `"active_parameters":8190735360`,
		`"kv_bytes_per_token":{"checkpoint":147456,`, `"dtype":"bf16"`,
		`"storage":{"attention":"bf16","dense":"bf16","head":"bf16","kv":"bf16"}`,
		`"layer_kinds":[{"count":36,"description":"32/8 heads of 128, MLP 12288",`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("want %s in %s", want, b)
		}
	}
}
