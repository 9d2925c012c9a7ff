package app_test

import (
	"testing"

	"plimsoll/internal/app"
	"plimsoll/internal/serving"
	"plimsoll/internal/units"
)

// TestBetterHardware: more of anything never carries less, and a search for
// prompts feels more compute whether prices are fitted or follow from peaks.
func TestBetterHardware(t *testing.T) {
	t.Parallel()
	for _, device := range []string{"h200_sxm", "mi300x", "ATLAS_800_A3_752T_128G_DIE"} {
		var w app.World
		r, err := w.Optimize(&app.OptimizeRequest{
			Model: "Qwen/Qwen3-32B", Devices: []string{device}, NumDevices: 8, Input: 2000, Output: 500, Disagg: true,
			TTFTLimit: 2000 * units.Millisecond,
			Budget:    8192, Jobs: 2, MXFP4Group: 32, Accounting: serving.Documented, Modelling: app.Modelling{Compile: new(true)},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Explain() {
			for _, what := range x.What {
				if !what.OK || what.Share < -1e-9 {
					t.Errorf("%s: %s changes throughput by %+.1f %%", device, what.Change, 100*what.Share)
				}
				if what.Change == "compute +10 %" && what.Share < 0.02 {
					t.Errorf("%s: %s gives only %+.1f %% for prompts", device, what.Change, 100*what.Share)
				}
			}
		}
	}
}
