package optimize_test

import (
	"context"
	"errors"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestBetterHardware: more of anything never carries less, and a search for
// prompts feels more compute whether prices are fitted or follow from peaks.
func TestBetterHardware(t *testing.T) {
	t.Parallel()
	for _, device := range []string{"h200_sxm", "mi300x", "ATLAS_800_A3_752T_128G_DIE"} {
		var w session.Session
		q := search32B(device)
		q.Disagg, q.Limits.TTFT, q.Explain = true, 2000*units.Millisecond, true
		r, err := optimize.Run(t.Context(), &w, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Explanations) != 1 {
			t.Fatalf("%d explanations", len(r.Explanations))
		}
		for _, x := range r.Explanations {
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

// TestCancelled: a search ends when it is no longer wanted.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := optimize.Run(ctx, &session.Session{}, search32B("h200_sxm")); !errors.Is(err, context.Canceled) {
		t.Errorf("a search: %v", err)
	}
}
