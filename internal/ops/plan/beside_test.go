package plan_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestBeside: a plan on Ascend's devices runs the engines of those devices and has the guide's figures beside its own; beside other systems it
// says which formats are compared, unless they are the same.
func TestBeside(t *testing.T) {
	t.Parallel()
	const a3 = "ATLAS_800_A3_752T_128G_DIE"
	w := &session.Session{Memo: new(session.Memo)}
	q := plan.Request{
		Model: "Qwen/Qwen3-8B", Systems: []string{"h200_sxm", a3}, Engines: []string{"vllm"}, Modes: []experiment.ServingMode{experiment.Aggregated}, Devices: 1,
		Workloads: []session.Workload{{Input: 1000, Output: 20}}, NoChanges: true,
	}
	out, err := plan.Run(t.Context(), w, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range out.Contenders {
		want := map[string]string{"h200_sxm": "vllm", a3: "vllm-ascend"}[c.System]
		if c.Engine != want || (c.Guide != nil) != (c.System == a3) {
			t.Errorf("%s runs %s, the guide says %+v", c.System, c.Engine, c.Guide)
		}
	}
	notes := strings.Join(out.Notes, "\n")
	for _, want := range []string{"formulas of Ascend's guide", "h200_sxm computes in bf16, " + a3 + " computes in w8a8 int8", "a GPU of " + a3 + " is a die"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	q.Formats = deployment.Formats{Linear: "DISABLED"}
	if out, err = plan.Run(t.Context(), w, q); err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(out.Notes, "\n"); strings.Contains(notes, "formats differ") {
		t.Errorf("both in 16 bits:\n%s", notes)
	}
	q.Systems, q.Engines = []string{"h200_sxm"}, []string{"vllm-ascend"}
	if out, err = plan.Run(t.Context(), w, q); err == nil && len(out.Contenders) > 0 {
		t.Error("vllm-ascend on a GPU of NVIDIA")
	}
}
