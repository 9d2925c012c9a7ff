package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/fit/constants"
)

// powerCommand fits the constants of power to the rows with a measured energy.
func powerCommand(p *Program, fs *flag.FlagSet) func(context.Context, []string) error {
	out, from := fs.String("out", "", "write the constants to a `file`"), fs.String("calibration", "", "a `file` for step times instead of the shipped calibration")
	workers := fs.Int("j", p.Workers, "parallel workers")
	return func(ctx context.Context, files []string) error {
		if err := rowsOf(files); err != nil {
			return err
		}
		rows, err := p.Session.Measured(files...)
		if err != nil {
			return err
		}
		o, err := p.Session.Overlay(*from)
		if err != nil {
			return err
		}
		metered, err := p.Session.Predictor(o, &prices.Prices{}).Meter(ctx, rows, *workers)
		if err != nil {
			return err
		}
		fit := constants.FitPower(ctx, metered)
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(fit.Generations) == 0 {
			return fmt.Errorf("%s: no device generation has %d rows with joules_per_output_token and tput_per_gpu that can be predicted",
				strings.Join(files, " "), constants.FewestPowerRows)
		}
		powerErrors(p.Stdout, fit)
		names := make([]string, len(files))
		for i, f := range files { // without their paths, so that the same input gives the same bytes
			names[i] = filepath.Base(f)
		}
		return p.save(*out, func(w io.Writer) error { return writePower(w, fit, names) })
	}
}

// writePower writes the constants with their source.
func writePower(w io.Writer, fit *constants.PowerFit, names []string) error {
	return fit.Write(w, fmt.Sprintf(`What devices draw, fitted to %d rows with joules_per_output_token by %d numbers:
go run ./cmd/fit power -out coefficients.yaml %s

generations: idle and active are shares of the profile's power_w; memory, compute and link are picojoules per byte of
memory, per 16-bit matrix operation (8 bits take half, 4 bits a quarter) and per byte sent to other devices. The last is far
above what a link itself takes: it stands for all that devices do while they exchange.
factors: what the kernels of an engine on a generation for a class of models and format of weights draw above idle, over what is usual.
known, unseen: 10 %% and 90 %% quantiles of ln(measured/predicted) joules per output token, of held-out configurations and
of held-out cells.`, fit.Rows, fit.Numbers, strings.Join(names, " ")))
}
