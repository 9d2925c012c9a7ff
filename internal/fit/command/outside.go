package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/fit/deployments"
	"github.com/plimsoll-project/plimsoll/internal/ops/accuracy"
)

// outsideCommand finds how far rows of sources outside the calibration err beyond its intervals.
func outsideCommand(p *Program, fs *flag.FlagSet) func(context.Context, []string) error {
	from, workers := fs.String("calibration", "", "a calibration `file` instead of the shipped one"), fs.Int("j", p.Workers, "parallel workers")
	return func(ctx context.Context, files []string) error {
		if err := rowsOf(files); err != nil {
			return err
		}
		r, err := accuracy.Run(ctx, p.Session, accuracy.Request{File: files[0], Calibration: *from, Workers: *workers})
		if err != nil {
			return err
		}
		o, err := p.Session.Overlay(*from)
		if err != nil {
			return err
		}
		outside(p.Stdout, deployments.FromOutside(o, r.Rows))
		return nil
	}
}

// outside prints how far rows of sources outside the calibration err beyond its intervals.
func outside(w io.Writer, groups []deployments.Outside) {
	if len(groups) == 0 {
		fmt.Fprintln(w, "All clean rows are from sources of the calibration.")
		return
	}
	t := table.New("vendor or load", ">rows", ">sources", ">TTFT: add", ">inside before", ">after", ">TPOT: add", ">inside before", ">after", ">tokens/s: add", ">inside before", ">after")
	share := func(x float64) string {
		if math.IsNaN(x) {
			return "–"
		}
		return fmt.Sprintf("%.0f %%", 100*x)
	}
	for _, g := range groups {
		cells := []any{g.Load, g.Rows, g.Sources}
		for k, sigma := range []float64{g.TTFT, g.TPOT, g.Throughput} {
			cells = append(cells, fmt.Sprintf("%.3f", sigma), share(g.Before[k]), share(g.Held[k]))
		}
		t.Row(cells...)
	}
	fmt.Fprintln(w, t)
	fmt.Fprintln(w, "\nadd: standard deviation of ln(measured/predicted) to add so that 80 % intervals hold. after: inside when it comes from all other sources.")
	fmt.Fprintln(w, "\nIn a calibration file:\noutside:")
	for _, g := range groups {
		fmt.Fprintf(w, "  %s: %s\n", g.Load, g.Text())
	}
}
