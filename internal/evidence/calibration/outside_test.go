package calibration_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// TestOutside: errors of deployments outside the fit are added to those of familiar ones, by load, unless the user's own rows are in
// the fit or a single step is asked for; and they stand in the file.
func TestOutside(t *testing.T) {
	t.Parallel()
	o := fitted(map[string]calibration.Residuals{"seen": even(1000, 0.3, 0.1, 0.1)})
	o.Outside = map[string]calibration.Outside{"to-8": {Rows: 5, Sources: 2, Each: figures.Each[float64]{TTFT: 0.4, TPOT: 0.2, Throughput: 0.1}}}
	s := ordinary()
	s.Concurrency = 8
	other := o.Expect(&s)
	s.Familiar = true
	known := o.Expect(&s)
	if want := calibration.Widened(known.TPOT.High, 0.2); math.Abs(other.TPOT.High-want) > 1e-9 || !strings.Contains(other.Basis, "(5 deployments, 2 sources)") {
		t.Errorf("want a half-width of %g, got %g: %s", want, other.TPOT.High, other.Basis)
	}
	s.Familiar, s.Concurrency = false, 9
	if got := o.Expect(&s); got.TPOT != known.TPOT {
		t.Errorf("another load is widened: %s", got.Basis)
	}
	s.Concurrency = 8
	o.Residuals[s.OwnResiduals()] = even(10, 0.3, 0.1, 0.1)
	if got := o.Expect(&s); strings.Contains(got.Basis, "sources") {
		t.Errorf("the user's own rows count as outside: %s", got.Basis)
	}
	var b bytes.Buffer
	if err := o.Write(&b); err != nil {
		t.Fatal(err)
	}
	read, err := calibration.Read(b.Bytes(), "x.yaml")
	if err != nil || read.Outside["to-8"] != o.Outside["to-8"] {
		t.Errorf("%v: read back %v", err, read)
	}
	for _, wrong := range []string{"5 rows, ttft 1", "0 rows of 2 sources, ttft 0.4, tpot 0.2, throughput 0.1", "5 rows of 2 sources, ttft -0.4, tpot 0.2, throughput 0.1"} {
		if _, err := calibration.Read([]byte("outside:\n  to-8: "+wrong+"\n"), "x.yaml"); err == nil {
			t.Errorf("%q is read", wrong)
		}
	}
}
