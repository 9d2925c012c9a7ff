package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	opscalibrate "github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
)

// Power prints the errors of the fitted power constants on measured rows.
func Power(w io.Writer, r *opscalibrate.PowerResponse) {
	t := table.New("system", "prediction", ">rows", ">J/token MAPE", ">median", ">p90", ">watts MAPE", ">median")
	for i := range r.Systems {
		s := &r.Systems[i]
		if i > 0 {
			t.Rule()
		}
		for _, e := range []struct {
			name string
			of   *calibrate.PowerError
		}{{"fitted rows", &s.Fitted}, {"configuration held out", &s.Configurations}, {"cell held out", &s.Cells}} {
			if e.of.Joules.Rows > 0 {
				t.Row(
					s.System, e.name, e.of.Joules.Rows, pc(e.of.Joules.MAPE), pc(e.of.Joules.MedianAPE), pc(e.of.Joules.P90),
					pc(e.of.Watts.MAPE), pc(e.of.Watts.MedianAPE),
				)
			}
		}
	}
	fmt.Fprintln(w, t)
	fmt.Fprintf(w, "\n%d constants fitted to %d rows. Watts are predicted at the measured throughput.\n", r.Numbers, r.Rows)
	if len(r.Left) > 0 {
		fmt.Fprintf(w, "Not fitted (fewer than %d rows): %s\n", calibrate.FewestPowerRows, strings.Join(r.Left, ", "))
	}
}
