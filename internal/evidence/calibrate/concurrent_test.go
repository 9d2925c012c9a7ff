package calibrate_test

import (
	"bytes"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
)

// TestConcurrentFit: a fit is the same for any number of workers. Few rows: run it under the race detector.
func TestConcurrentFit(t *testing.T) {
	t.Parallel()
	rows := measuredtest.Rows(t)
	prepared := measuredtest.Clean(t, measuredtest.Predictor(), rows[:min(8, len(rows))])
	var first []byte
	for _, workers := range []int{1, 4} {
		c := calibrate.Calibration{Iterations: 1, Workers: workers, Validation: calibrate.Validation{Folds: 2}}
		f, err := c.Run(t.Context(), prepared)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Overlay.Write(&b); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Errorf("%d workers fit something else than 1", workers)
		}
	}
}
