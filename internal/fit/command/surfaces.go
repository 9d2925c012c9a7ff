package command

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// surfaceErrors is the error of predictions of held-out shapes.
type surfaceErrors struct {
	system, family string
	missed         int // shapes that are not predicted
	// surface, tables and form are the errors of surfaces, of tables of the other measured rows,
	// and of the operator forms.
	surface, tables, form measured.Errors
}

// surfacesCommand fits surfaces to measured kernels.
func surfacesCommand(p *Program, fs *flag.FlagSet) func(context.Context, []string) error {
	t, out := newKernelTables(fs), fs.String("out", "", "write the surfaces to a `file`")
	return func(ctx context.Context, _ []string) error {
		tables, devices, err := t.open(p)
		if err != nil {
			return err
		}
		fitted := table.Surfaces{Source: "kernel tables of AIConfigurator (github.com/ai-dynamo/aiconfigurator, Apache-2.0, August 2026), smoothed and thinned"}
		var errs []surfaceErrors
		for _, d := range devices {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := tables.Coster(d, prices.Calibrated, false, false); err != nil {
				return err
			}
			f, left, err := tables.Surfaces(d)
			if err != nil {
				return err
			}
			fitted.Systems = append(fitted.Systems, f)
			for i := range left {
				l := &left[i]
				errs = append(errs, surfaceErrors{
					d.Name, l.Family, l.Missed, measured.SummarizeRatios(l.Surface), measured.SummarizeRatios(l.Full), measured.SummarizeRatios(l.Form),
				})
			}
		}
		if len(errs) == 0 {
			return fmt.Errorf("%s: %w", t.Dir, errNoKernels)
		}
		if _, err := p.used(tables); err != nil {
			return err
		}
		surfacesErrors(p.Stdout, errs)
		return p.save(*out, func(w io.Writer) error { return table.WriteSurfaces(w, &fitted) })
	}
}
