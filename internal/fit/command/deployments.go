package command

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/fit/deployments"
	"github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
)

// fitting is a fit to rows of deployments.
type fitting struct {
	p                                  *Program
	out                                *string
	folds, iterations, sample, workers *int
	leaveOut                           func() []string
}

func newFitting(p *Program, fs *flag.FlagSet) *fitting {
	return &fitting{
		p: p, out: fs.String("out", "", "write the fit to a `file`"), folds: fs.Int("folds", 0, "parts of the configurations, each held out in turn"),
		iterations: fs.Int("iterations", calibrate.DefaultIterations, "iterations of the fit"),
		sample:     fs.Int("sample", 0, "rows to use per configuration, spread over its loads (default all)"), workers: fs.Int("j", p.Workers, "parallel workers"),
		leaveOut: words(fs, "leave-out", "also predict each row by fits that hold out its kind: "+strings.Join(deployments.Kinds(), ", ")),
	}
}

// prepared reads rows, all and those that can be fitted, with what the calibration before says of them.
func (f *fitting) prepared(ctx context.Context, base *calibration.Overlay, files []string) (rows []measured.Row, fit []measured.Prepared, before []measured.Compared, err error) {
	if err := rowsOf(files); err != nil {
		return nil, nil, nil, err
	}
	if rows, err = f.p.Session.Measured(files...); err != nil {
		return nil, nil, nil, err
	}
	by := f.p.Session.Predictor(base, &prices.Prices{})
	clean, err := by.PrepareClean(ctx, rows)
	if err != nil {
		return nil, nil, nil, err
	}
	fit = thinned(clean, *f.sample)
	if len(fit) == 0 {
		return nil, nil, nil, fmt.Errorf("%s has no clean rows that can be predicted", strings.Join(files, ", "))
	}
	before, err = by.PredictPrepared(ctx, fit, *f.workers)
	return rows, fit, before, err
}

// with is how rows are fitted.
func (f *fitting) with() *deployments.Fitting {
	return &deployments.Fitting{Work: calibrate.Work(f.p.Session, *f.iterations, *f.workers), Folds: *f.folds, LeaveOut: f.leaveOut()}
}

// deploymentsCommand fits all that deployments share, and a memory of single ones.
func deploymentsCommand(p *Program, fs *flag.FlagSet) func(context.Context, []string) error {
	f := newFitting(p, fs)
	return func(ctx context.Context, files []string) error {
		base := calibration.Uncalibrated()
		rows, fit, before, err := f.prepared(ctx, base, files)
		if err != nil {
			return err
		}
		out, err := f.with().Run(ctx, fit)
		if err != nil {
			return err
		}
		out.Overlay.Source = "fit deployments " + strings.Join(files, " ")
		deployments.Reached(out.Overlay, fit)
		if *f.folds > 1 {
			if err := learn(ctx, &out, p.Session.Predictor(&calibration.Overlay{}, &prices.Prices{}), rows, *f.workers); err != nil {
				return err
			}
		}
		unseen := out.Overlay.Elsewhere()
		shown := []document.PredictedBy{
			{Of: "before the fit", Rows: before, Expects: base},
			{Of: "fitted rows", Rows: out.InSample, Expects: out.Overlay},
			{Of: "configuration held out", Rows: out.ByConfiguration, Expects: out.Overlay},
			{Of: "cell held out", Rows: out.ByCell, Expects: unseen},
		}
		for _, l := range out.LeftOut {
			shown = append(shown, document.PredictedBy{Of: l.Kind + " held out", Rows: l.Rows, Expects: unseen})
		}
		report.Fits(p.Stdout, shown)
		return p.save(*f.out, out.Overlay.Write)
	}
}

// extendCommand fits the groups that a calibration lacks.
func extendCommand(p *Program, fs *flag.FlagSet) func(context.Context, []string) error {
	f, from := newFitting(p, fs), fs.String("calibration", "", "a `file` to extend instead of the shipped calibration")
	return func(ctx context.Context, files []string) error {
		base, err := p.Session.Overlay(*from)
		if err != nil {
			return err
		}
		_, fit, before, err := f.prepared(ctx, base, files)
		if err != nil {
			return err
		}
		x, err := f.with().Extend(ctx, base, fit)
		if err != nil {
			return err
		}
		x.Overlay.Source = fmt.Sprintf("%s; extended by %d numbers from %d rows (fit extend %s)", base.Source, x.Numbers, len(fit), strings.Join(files, " "))
		report.Fits(p.Stdout, []document.PredictedBy{
			{Of: "before the fit", Rows: before, Expects: base},
			{Of: "configuration held out", Rows: x.ByConfiguration, Expects: x.Overlay},
			{Of: "cell held out", Rows: x.ByCell, Expects: x.Overlay.Elsewhere()},
		})
		return p.save(*f.out, x.Overlay.Write)
	}
}

// thinned keeps a number of rows of each configuration, spread over its loads.
func thinned(rows []measured.Prepared, most int) []measured.Prepared {
	if most <= 0 {
		return rows
	}
	byConfiguration := map[string][]int{}
	for i := range rows {
		name := rows[i].Row.Configuration()
		byConfiguration[name] = append(byConfiguration[name], i)
	}
	var keep []int
	for _, all := range byConfiguration {
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(rows[a].Row.Concurrency, rows[b].Row.Concurrency) })
		n := min(most, len(all))
		for k := range n {
			keep = append(keep, all[(2*k+1)*len(all)/(2*n)])
		}
	}
	slices.Sort(keep)
	out := make([]measured.Prepared, len(keep))
	for i, at := range keep {
		out[i] = rows[at]
	}
	return out
}

// learn puts the residuals of held-out rows into the overlay.
func learn(ctx context.Context, into *deployments.Validated, plain *measured.Predictor, rows []measured.Row, workers int) error {
	aggregated := cleanRows(rows, "agg")
	without, err := plain.PredictAll(ctx, aggregated, workers)
	if err != nil {
		return err
	}
	deployments.Learn(into.Overlay, &deployments.Evidence{
		Seen: measured.OfMode(into.ByConfiguration, "agg"), Unseen: measured.OfMode(into.ByCell, "agg"),
		Disaggregated: measured.OfMode(into.ByCell, "disagg"), DisaggregatedSeen: measured.OfMode(into.ByConfiguration, "disagg"), Uncalibrated: without,
		Formulas: plain.AllFormulas(ctx, aggregated, formulas.Documented),
		Steady:   plain.AllFormulas(ctx, aggregated, formulas.Steady),
	})
	return nil
}

// cleanRows are the rows of a mode without a quality mark.
func cleanRows(rows []measured.Row, mode string) []measured.Row {
	var out []measured.Row
	for i := range rows {
		if rows[i].Mode == mode && rows[i].Quality == "" {
			out = append(out, rows[i])
		}
	}
	return out
}
