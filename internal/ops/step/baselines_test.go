package step_test

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestBaselines checks totals that TensorCast's own repository and its readers
// have published for whole passes, fused all-reduce among them. They have four
// to six digits; the DeepSeek figure is a re-run of a stale baseline.
func TestBaselines(t *testing.T) {
	const (
		a2     = "ATLAS_800_A2_376T_64G"
		a3     = "ATLAS_800_A3_752T_128G_DIE"
		a3slow = "ATLAS_800_A3_560T_128G_DIE"
	)
	for _, c := range []struct {
		name string
		want float64
		req  flat
	}{
		{"qwen3-8b prefill", 0.439006, flat{
			Model: "Qwen/Qwen3-8B", Device: a2, Layout: parallel.Layout{Devices: 2, TP: 2},
			Queries: 8, QueryLength: 1024, LinearAction: dtype.Disabled, MatMulAllReduce: true,
		}},
		{"qwen3-8b decode", 0.012735, flat{
			Model: "Qwen/Qwen3-8B", Device: a2, Layout: parallel.Layout{Devices: 2, TP: 2},
			Queries: 32, ContextLength: 1536, Decode: true, LinearAction: dtype.Disabled, MatMulAllReduce: true,
		}},
		{"qwen3-30b-a3b prefill", 0.153075, flat{
			Model: "Qwen/Qwen3-30B-A3B", Device: a3, Layout: parallel.Layout{Devices: 4, TP: 4},
			Queries: 1, QueryLength: 3200, LinearAction: dtype.Disabled,
		}},
		{"qwen3-30b-a3b prefill, fused all-reduce", 0.150387, flat{
			Model: "Qwen/Qwen3-30B-A3B", Device: a3, Layout: parallel.Layout{Devices: 4, TP: 4},
			Queries: 1, QueryLength: 3200, LinearAction: dtype.Disabled, MatMulAllReduce: true,
		}},
		{"qwen3-30b-a3b decode, experts one by one", 0.012706, flat{
			Model: "Qwen/Qwen3-30B-A3B", Device: a3, Layout: parallel.Layout{Devices: 4, TP: 4},
			Queries: 1, ContextLength: 3450, Decode: true, LinearAction: dtype.Disabled, MatMulAllReduce: true,
		}},
		{"deepseek-v3.1 decode, MTP 3, INT8 KV", 0.068608, flat{
			Model: "deepseek-ai/DeepSeek-V3.1", Device: a3slow, Layout: parallel.Layout{Devices: 32, TP: 1, EP: 32},
			Queries: 172, QueryLength: 4, ContextLength: 4200, Decode: true, MTP: 3, AttentionAction: dtype.AttentionInt8,
		}},
		{"qwen3-32b prefill, FP8, fused all-reduce", 0.259494, flat{
			Model: "Qwen/Qwen3-32B", Device: "TEST_DEVICE", Layout: parallel.Layout{Devices: 2, TP: 2},
			Queries: 2, QueryLength: 1000, LinearAction: dtype.FP8Action, MatMulAllReduce: true,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w session.Session
			c.req.Fusion = deployment.Compiled
			r, err := step.Run(t.Context(), &w, c.req.request())
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(r.Result.Time); math.Abs(got-c.want) > 2e-4*c.want {
				t.Errorf("want %.6f s, got %.6f", c.want, got)
			}
		})
	}
}
