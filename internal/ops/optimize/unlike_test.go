package optimize_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestUnlikeDevices: where devices compute in different formats, or their figures are found in different ways, a note says so.
func TestUnlikeDevices(t *testing.T) {
	t.Parallel()
	const formats, ways, die = "formats differ", "found in different ways", "is a die"
	for _, c := range []struct {
		devices []string
		edit    func(*optimize.Request)
		want    []string
	}{
		{[]string{"TEST_DEVICE", "h200_sxm"}, func(*optimize.Request) {}, []string{
			"formats differ between the systems: TEST_DEVICE computes in w8a8 int8, h200_sxm computes in bf16; --quantize-linear-action sets one for all",
			"figures are found in different ways: TEST_DEVICE by the guide's formulas (eager), h200_sxm by simulation (compiled)",
		}},
		{[]string{"h200_sxm", "ATLAS_800_A3_560T_128G_DIE"}, func(r *optimize.Request) {
			r.Formats.Linear, r.Evaluate, r.Modelling.Fusion = "DISABLED", optimize.ByFormulas, deployment.Compiled
		}, []string{"a GPU of ATLAS_800_A3_560T_128G_DIE is a die"}},
		{[]string{"ATLAS_800_A2_280T_64G", "ATLAS_800_A3_560T_128G_DIE"}, func(*optimize.Request) {}, nil},
		{[]string{"h200_sxm"}, func(*optimize.Request) {}, nil},
	} {
		q := optimize.Request{Model: "Qwen/Qwen3-8B", Devices: c.devices, Input: 1000, Output: 20, BatchRange: []int{8}}
		c.edit(&q)
		r, err := optimize.Run(t.Context(), new(session.Session), q)
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(r.Notes, "\n")
		for _, want := range c.want {
			if !strings.Contains(notes, want) {
				t.Errorf("%v: no %q in\n%s", c.devices, want, notes)
			}
		}
		got := 0
		for _, note := range []string{formats, ways, die} {
			got += strings.Count(notes, note)
		}
		if got != len(c.want) {
			t.Errorf("%v: want %d notes on differences, got %d:\n%s", c.devices, len(c.want), got, notes)
		}
	}
}
