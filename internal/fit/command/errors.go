package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/fit/constants"
)

// pc prints a share in percent.
func pc(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// kernelErrors prints the errors of the operator forms against measured kernels.
func kernelErrors(w io.Writer, all []constants.KernelErrors) {
	t := table.New("generation", "operator", "format", ">shapes", ">shipped: median", ">p90", ">bias", ">fitted: median", ">p90", ">bias")
	for i := range all {
		e := &all[i]
		t.Row(
			e.Generation, e.Form, e.Format, e.Rows,
			pc(e.Shipped.MedianAPE), pc(e.Shipped.P90), fmt.Sprintf("%+.2f", e.Shipped.Bias),
			pc(e.Fitted.MedianAPE), pc(e.Fitted.P90), fmt.Sprintf("%+.2f", e.Fitted.Bias),
		)
	}
	fmt.Fprintln(w, t)
	fmt.Fprintln(w, "\nErrors of the fastest kernel of each shape. Bias is the median of ln(predicted/measured).")
}

// surfacesErrors prints the errors of surfaces on held-out shapes.
func surfacesErrors(w io.Writer, all []surfaceErrors) {
	t := table.New("system", "family", ">left out", ">missed", ">surfaces: median", ">p90", ">tables: median", ">p90", ">forms: median", ">p90")
	for i := range all {
		e := &all[i]
		t.Row(
			e.system, e.family, e.surface.Rows, e.missed, pc(e.surface.MedianAPE), pc(e.surface.P90),
			pc(e.tables.MedianAPE), pc(e.tables.P90), pc(e.form.MedianAPE), pc(e.form.P90),
		)
	}
	fmt.Fprintln(w, t)
	fmt.Fprintln(w, "\nErrors of single kernels on every tenth shape: of surfaces and tables that hold out those shapes, and of the operator forms.")
}

// powerErrors prints the errors of the fitted power constants on measured rows.
func powerErrors(w io.Writer, r *constants.PowerFit) {
	t := table.New("system", "prediction", ">rows", ">J/token MAPE", ">median", ">p90", ">watts MAPE", ">median")
	for i := range r.Systems {
		s := &r.Systems[i]
		if i > 0 {
			t.Rule()
		}
		for _, e := range []struct {
			name string
			of   *constants.PowerError
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
		fmt.Fprintf(w, "Not fitted (fewer than %d rows): %s\n", constants.FewestPowerRows, strings.Join(r.Left, ", "))
	}
}
