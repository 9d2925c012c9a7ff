package report

import (
	"fmt"
	"io"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/accuracy"
)

// Outside prints how far rows of sources outside the calibration err beyond its intervals.
func Outside(w io.Writer, r *accuracy.Response) {
	if len(r.Outside) == 0 {
		fmt.Fprintln(w, "All clean rows are from sources of the calibration.")
		return
	}
	t := table.New("vendor or load", ">rows", ">sources", ">TTFT: add", ">inside before", ">after", ">TPOT: add", ">inside before", ">after", ">tokens/s: add", ">inside before", ">after")
	share := func(x float64) string {
		if math.IsNaN(x) {
			return "–"
		}
		return percentage(x)
	}
	for _, g := range r.Outside {
		cells := []any{g.Load, g.Rows, g.Sources}
		for k, sigma := range []float64{g.TTFT, g.TPOT, g.Throughput} {
			cells = append(cells, fmt.Sprintf("%.3f", sigma), share(g.Before[k]), share(g.Held[k]))
		}
		t.Row(cells...)
	}
	put(w, t, "")
	fmt.Fprintln(w, "\nadd: standard deviation of ln(measured/predicted) to add so that 80 % intervals hold. after: inside when it comes from all other sources.")
	fmt.Fprintln(w, "\nIn a calibration file:\noutside:")
	for _, g := range r.Outside {
		fmt.Fprintf(w, "  %s: %s\n", g.Load, g.Text())
	}
}
