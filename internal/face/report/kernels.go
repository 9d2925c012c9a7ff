package report

import (
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
)

// Kernels prints the errors of the operator forms against measured kernels.
func Kernels(w io.Writer, r *calibrate.KernelsResponse) {
	t := table.New("generation", "operator", "format", ">shapes", ">shipped: median", ">p90", ">bias", ">fitted: median", ">p90", ">bias")
	for i := range r.Errors {
		e := &r.Errors[i]
		t.Row(
			e.Generation, e.Form, e.Format, e.Rows,
			pc(e.Shipped.MedianAPE), pc(e.Shipped.P90), fmt.Sprintf("%+.2f", e.Shipped.Bias),
			pc(e.Fitted.MedianAPE), pc(e.Fitted.P90), fmt.Sprintf("%+.2f", e.Fitted.Bias),
		)
	}
	fmt.Fprintln(w, t)
	fmt.Fprintln(w, "\nErrors of the fastest kernel of each shape. Bias is the median of ln(predicted/measured).")
}

// Surfaces prints the errors of surfaces on held-out shapes.
func Surfaces(w io.Writer, r *calibrate.SurfacesResponse) {
	t := table.New("system", "family", ">left out", ">missed", ">surfaces: median", ">p90", ">tables: median", ">p90", ">forms: median", ">p90")
	for i := range r.Errors {
		e := &r.Errors[i]
		t.Row(
			e.System, e.Family, e.Surface.Rows, e.Missed, pc(e.Surface.MedianAPE), pc(e.Surface.P90),
			pc(e.Tables.MedianAPE), pc(e.Tables.P90), pc(e.Form.MedianAPE), pc(e.Form.P90),
		)
	}
	fmt.Fprintln(w, t)
	fmt.Fprintln(w, "\nErrors of single kernels on every tenth shape: of surfaces and tables that hold out those shapes, and of the operator forms.")
}
