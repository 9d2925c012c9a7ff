package deployments_test

import (
	"bytes"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/fit/deployments"
)

// TestConcurrentFit: a fit is the same for any number of workers. Few rows: run it under the race detector.
func TestConcurrentFit(t *testing.T) {
	t.Parallel()
	rows := measuredtest.Rows(t)
	prepared := measuredtest.Clean(t, measuredtest.Predictor(), rows[:min(8, len(rows))])
	var first []byte
	for _, workers := range []int{1, 4} {
		c := deployments.Fitting{Work: calibrate.Work{Iterations: 1, Workers: workers}, Folds: 2}
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
