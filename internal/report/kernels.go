package report

import (
	"fmt"
	"io"

	"plimsoll/internal/table"

	"plimsoll/internal/app"
)

// Kernels prints the errors of the operator forms against measured kernels.
func Kernels(w io.Writer, r *app.KernelsResponse) {
	t := table.New(4, 5, 6, 7, 8, 9, 10)
	t.AppendHeader(table.Row{"generation", "operator", "format", "shapes", "shipped: median", "p90", "bias", "fitted: median", "p90", "bias"})
	pc := func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
	for i := range r.Errors {
		e := &r.Errors[i]
		t.AppendRow(table.Row{
			e.Generation, e.Form, e.Format, e.Rows,
			pc(e.Shipped.MedianAPE), pc(e.Shipped.P90), fmt.Sprintf("%+.2f", e.Shipped.Bias),
			pc(e.Fitted.MedianAPE), pc(e.Fitted.P90), fmt.Sprintf("%+.2f", e.Fitted.Bias),
		})
	}
	fmt.Fprintln(w, t.Render())
	fmt.Fprintln(w, "\nErrors of single kernels; of each shape the fastest kernel counts. Bias is the median of ln(predicted/measured).")
}
