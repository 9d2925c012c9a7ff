package calibrate

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Validated is a fit, and predictions of rows by fits that held them out.
type Validated struct {
	Overlay *calibration.Overlay
	// Unchanged says that the fit did not improve predictions of held-out configurations, so that the base stays as it is.
	Unchanged                 bool
	InSample, ByConfiguration []measured.Compared
	// ByLoad says that the rows have one configuration, so that ByConfiguration held out its loads.
	ByLoad bool
}

// Run fits rows, and fits them again without parts of them to predict those. It
// ends early, with an error, when ctx does.
func (c *Calibration) Run(ctx context.Context, rows []measured.Prepared) (out Validated, err error) {
	f, err := c.fit(ctx, rows)
	if err != nil {
		return out, err
	}
	out.Overlay, out.Unchanged = f.overlay, math.IsInf(f.system.Lambda, 1)
	if out.InSample, err = c.Predict(ctx, rows, f.overlay); err != nil {
		return out, err
	}
	return out, c.crossValidate(ctx, f, &out)
}

// configuration and load name those of a row.
func configuration(p *measured.Prepared) string { return p.Row.Configuration() }
func load(p *measured.Prepared) string          { return strconv.Itoa(p.Row.Concurrency) }

// Folds is into how many parts few rows are best split: five, or as many as they have
// configurations, or loads of their only one. Rows that are too few for a test are not.
func Folds(rows []measured.Prepared) int {
	const usual, few = 5, 4
	parts := len(NamesOf(rows, configuration))
	if parts == 1 {
		parts = len(NamesOf(rows, load))
	}
	if parts = min(usual, parts); parts < 2 || len(rows) < few {
		return 0
	}
	return parts
}

// crossValidate predicts rows by fits that hold out their configuration, or their load where there is one configuration.
func (c *Calibration) crossValidate(ctx context.Context, f *fit, out *Validated) error {
	if c.Folds < 2 {
		return nil
	}
	part := func(p *measured.Prepared) int { return Fold(p.Row, c.Folds) }
	if len(NamesOf(f.rows, configuration)) == 1 {
		loads := NamesOf(f.rows, load)
		part = func(p *measured.Prepared) int { return slices.Index(loads, load(p)) % c.Folds }
		out.ByLoad = true
	}
	var err error
	out.ByConfiguration, err = c.HoldFolds(ctx, c.Folds, f.rows, part, f.without)
	return err
}

// Without is a fit without some rows.
type Without func(out func(*measured.Prepared) bool) *calibration.Overlay

// HoldFolds predicts the rows of each of n parts by a fit that holds them out.
func (w *Work) HoldFolds(ctx context.Context, n int, rows []measured.Prepared, part func(*measured.Prepared) int, fit Without) (all []measured.Compared, err error) {
	for k := range n {
		held, err := w.Hold(ctx, fmt.Sprintf("fold %d", k+1), rows, func(p *measured.Prepared) bool { return part(p) == k }, fit)
		if err != nil {
			return nil, err
		}
		all = append(all, held...)
	}
	return all, nil
}

// Hold predicts rows by a fit that holds them out.
func (w *Work) Hold(ctx context.Context, name string, rows []measured.Prepared, out func(*measured.Prepared) bool, fit Without) ([]measured.Compared, error) {
	var test []measured.Prepared
	for i := range rows {
		if out(&rows[i]) {
			test = append(test, rows[i])
		}
	}
	if len(test) == 0 {
		return nil, nil
	}
	w.tell(fmt.Sprintf("holding out %s (%d rows)", name, len(test)), 0, 0)
	return w.Predict(ctx, test, fit(out))
}

// Predict simulates rows with fitted multipliers.
func (w *Work) Predict(ctx context.Context, rows []measured.Prepared, o *calibration.Overlay) ([]measured.Compared, error) {
	return (&measured.Predictor{Calibration: o}).PredictPrepared(ctx, rows, w.Workers)
}

// Fold deals a row's configuration into one of n folds: rows of one configuration are never split.
func Fold(r *measured.Row, n int) int {
	h := fnv.New64a()
	fmt.Fprint(h, r.Configuration())
	return int(h.Sum64() >> 32 % uint64(n)) // the low bits mix badly
}

// NamesOf are the names of a kind among rows, in order of first appearance.
func NamesOf(rows []measured.Prepared, of func(*measured.Prepared) string) []string {
	var out []string
	for i := range rows {
		if c := of(&rows[i]); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
