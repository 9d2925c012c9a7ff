package table_test

import (
	"testing"
	"testing/fstest"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
)

// TestSamples: every shape once, at its fastest believable kernel, as the
// operators that a graph would hold.
func TestSamples(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "gemm/vllm/1.0/gemm", gemmRow{"a", "bfloat16", 64, 4096, 4096, 0.1}, gemmRow{"a", "fp8", 64, 4096, 4096, 0.1})
	put(t, dir, "gemm/sglang/0.5/gemm", gemmRow{"b", "bfloat16", 64, 4096, 4096, 0.05}, gemmRow{"c", "bfloat16", 4096, 4096, 4096, 0.05}) // c cannot be
	put(t, dir, "mla/trtllm/1.0/generation_mla",
		latentRow{"k", "bfloat16", "bfloat16", 8, 1, 16, 4095, 0.2}, latentRow{"k", "bfloat16", "bfloat16", 8, 1, 2, 4095, 0.2}) // no products of 2 heads
	put(t, dir, "mla_bmm/trtllm/1.0/mla_bmm",
		absorbedRow{"b", "mla_gen_pre", "bfloat16", 8, 16, 0.01}, absorbedRow{"b", "mla_gen_post", "bfloat16", 8, 16, 0.02})
	put(t, dir, "attention/vllm/1.0/context_attention",
		attentionRow{"fa", "bfloat16", "bfloat16", 1, 1024, 8, 2, 128, 0, 0, 0.5}, attentionRow{"fa", "bfloat16", "bfloat16", 1, 1024, 8, 2, 64, 0, 0, 0.4})
	put(t, dir, "moe/vllm/1.0/moe",
		moeRow{"grouped", "bfloat16", "power_law_1.01", 64, 4096, 1024, 8, 128, 1, 4, 1}, moeRow{"grouped", "bfloat16", "power_law_1.01", 64, 2048, 1024, 8, 128, 1, 4, 1})
	put(t, dir, "comm/nccl/2.27/nccl", messageRow{"NCCL", "alltoall", "half", 8, 1 << 20, 0.09})
	samples, err := open(t, dir).tables.Samples()
	if err != nil {
		t.Fatal(err)
	}
	type what struct {
		form, format string
		kind         op.Kind
		ops          int
	}
	seconds := map[what][]float64{}
	for _, s := range samples {
		w := what{s.Form, s.Format, s.Ops[0].Kind, len(s.Ops)}
		seconds[w] = append(seconds[w], float64(s.Seconds/ms))
	}
	for w, want := range map[what][]float64{
		{table.FormProduct, "bfloat16", op.GEMM, 1}:                      {0.05},
		{table.FormProduct, "fp8", op.GEMM, 1}:                           {0.1},
		{table.FormLatent, "cache bfloat16", op.Latent, 1}:               {0.23},
		{table.FormPrefill, "bfloat16, cache bfloat16", op.Attention, 1}: {0.4, 0.5},
		{table.FormComm, "all_to_all", op.Collective, 1}:                 {0.09},
		{table.FormExperts, "bfloat16", op.GroupedGEMM, 2}:               {0.997, 0.997}, // less what runs beside
	} {
		got := seconds[w]
		if len(got) != len(want) {
			t.Errorf("%+v: want %v, got %v", w, want, got)
			continue
		}
		for i := range want {
			if got[i] > want[i]*1.001 || got[i] < want[i]*0.99 {
				t.Errorf("%+v: want %v, got %v", w, want, got)
			}
		}
		delete(seconds, w)
	}
	if len(seconds) > 0 {
		t.Errorf("and %v", seconds)
	}
}
