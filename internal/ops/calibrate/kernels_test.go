package calibrate_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestKernelsWithoutTables: a fit to no tables is refused.
func TestKernelsWithoutTables(t *testing.T) {
	t.Parallel()
	var w session.Session
	if r, err := calibrate.Kernels(t.Context(), &w, calibrate.KernelsRequest{}); err == nil {
		t.Errorf("got %+v", r)
	}
}
