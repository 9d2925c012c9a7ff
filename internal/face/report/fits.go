package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	opscalibrate "github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
)

// Kernels prints the errors of the operator forms against measured kernels.
func Kernels(w io.Writer, r *opscalibrate.KernelsResponse) {
	t := table.New("generation", "operator", "format", ">shapes", ">shipped: median", ">p90", ">bias", ">fitted: median", ">p90", ">bias")
	for i := range r.Errors {
		e := &r.Errors[i]
		t.Row(
			e.Generation, e.Form, e.Format, e.Rows,
			pc(e.Shipped.MedianAPE), pc(e.Shipped.P90), fmt.Sprintf("%+.2f", e.Shipped.Bias),
			pc(e.Fitted.MedianAPE), pc(e.Fitted.P90), fmt.Sprintf("%+.2f", e.Fitted.Bias),
		)
	}
	put(w, t, "")
	fmt.Fprintln(w, "\nErrors of the fastest kernel of each shape. Bias is the median of ln(predicted/measured).")
}

// Surfaces prints the errors of surfaces on held-out shapes.
func Surfaces(w io.Writer, r *opscalibrate.SurfacesResponse) {
	t := table.New("system", "family", ">left out", ">missed", ">surfaces: median", ">p90", ">tables: median", ">p90", ">forms: median", ">p90")
	for i := range r.Errors {
		e := &r.Errors[i]
		t.Row(
			e.System, e.Family, e.Surface.Rows, e.Missed, pc(e.Surface.MedianAPE), pc(e.Surface.P90),
			pc(e.Tables.MedianAPE), pc(e.Tables.P90), pc(e.Form.MedianAPE), pc(e.Form.P90),
		)
	}
	put(w, t, "")
	fmt.Fprintln(w, "\nErrors of single kernels on every tenth shape: of surfaces and tables that hold out those shapes, and of the operator forms.")
}

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
	put(w, t, "")
	fmt.Fprintf(w, "\n%d constants fitted to %d rows. Watts are predicted at the measured throughput.\n", r.Numbers, r.Rows)
	if len(r.Left) > 0 {
		fmt.Fprintf(w, "Not fitted (fewer than %d rows): %s\n", calibrate.FewestPowerRows, strings.Join(r.Left, ", "))
	}
}
