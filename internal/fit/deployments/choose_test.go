package deployments

import (
	"math"
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// remembering is a system of a memory alone, whose rows are those of the subjects and ask for values of kernels and of prompts.
func remembering(subjects []calibration.Subject, values [][2]float64) (*system, []calibrate.Equation, []float64) {
	rows := make([]measured.Prepared, len(subjects))
	for i := range rows {
		rows[i] = measured.Prepared{Row: &measured.Row{}, Subject: subjects[i]}
	}
	s := newSystem(rows, func(*calibration.Subject, int) []calibration.Group { return nil })
	var all []calibrate.Equation
	m := s.memory
	for i := range rows {
		for j, want := range values[i] {
			const slope = 10
			all = append(all, calibrate.Equation{Row: i, Constant: -slope * want, At: []int{m.first + j*len(m.deployments) + m.at[i]}, Slope: []float64{slope}})
		}
	}
	return s, all, s.Solve(all, func(int) bool { return true })
}

// TestForget: numbers are chosen singly, by what they say of rows, those of a source with few rows too; what is kept stands for
// deployments near it.
func TestForget(t *testing.T) {
	t.Parallel()
	vllm := calibration.Subject{Engine: "vllm", System: "h200_sxm", Generation: "hopper", Model: "a/b", Layout: "TP 1 DP 1"}
	near, sglang, alike := vllm, vllm, vllm
	near.Layout, sglang.Engine, alike.Engine = "TP 2 DP 1", "sglang", "trtllm"
	subjects, values := []calibration.Subject{near, sglang}, [][2]float64{{0.1, 0}, {0, 0.3}}
	for range 40 {
		subjects, values = append(subjects, vllm, alike), append(values, [2]float64{0.2, 0}, [2]float64{0, 0})
	}
	s, all, x := remembering(subjects, values)
	every := func(int) bool { return true }
	less, y := s.forget(all, x, 2, every)
	kept := less.memory.kept
	if len(kept[0]) != 1 || s.memory.deployments[kept[0][0]].Layout != vllm.Layout || len(kept[1]) != 1 || s.memory.deployments[kept[1][0]].Engine != "sglang" {
		t.Fatalf("kept %v of %+v", kept, s.memory.deployments)
	}
	o := less.overlay(y).Memory
	if k, p := o.Recall(&vllm); math.Abs(k-0.2) > 0.02 || math.Abs(p) > 0.05 {
		t.Errorf("kernels %.3f, prompts %.3f", k, p)
	}
	if k, _ := o.Recall(&near); math.Abs(k-0.12) > 0.02 {
		t.Errorf("a neighbour that is not kept: kernels %.3f", k)
	}
	// Without its rows a deployment is not kept.
	less, _ = s.forget(all, x, 2, func(row int) bool { return subjects[row].Engine != "sglang" })
	if slices.ContainsFunc(slices.Concat(less.memory.kept[0], less.memory.kept[1]), func(i int) bool { return s.memory.deployments[i].Engine == "sglang" }) {
		t.Errorf("kept %v of %+v", less.memory.kept, s.memory.deployments)
	}
	// With room for all, all stays that says anything.
	if all, _ := s.forget(all, x, mostRemembered, every); len(all.memory.kept[0]) < 2 {
		t.Errorf("kept %v", all.memory.kept)
	}
}
