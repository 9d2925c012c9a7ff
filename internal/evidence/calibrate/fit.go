package calibrate

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Calibration fits the cells of rows on top of a base, which stays as it is.
type Calibration struct {
	Work

	Base *calibration.Overlay
	// Folds, if above one, splits the configurations into so many parts and holds out each in turn.
	Folds int
}

// fit is multipliers of cells fitted to rows.
type fit struct {
	overlay *calibration.Overlay
	rows    []measured.Prepared
	system  *System
	base    *calibration.Overlay
	near    []Equation // the rows around the fitted multipliers
}

// fit fits multipliers of the rows' cells by Gauss-Newton.
func (c *Calibration) fit(ctx context.Context, rows []measured.Prepared) (*fit, error) {
	base := without(c.Base, rows)
	f := &fit{rows: rows, base: base, system: NewSystem(rows, base.Sum, (*calibration.Subject).OwnCell)}
	x := make([]float64, len(f.system.Unknowns))
	f.overlay = f.put(x)
	for i := range c.Iterations {
		near, err := c.Linearize(ctx, rows, f.overlay, i)
		if err != nil {
			return nil, err
		}
		f.near = f.system.Equations(near)
		if i == 0 {
			f.chooseLambda()
		}
		Step(x, f.system.Solve(f.near, func(int) bool { return true }))
		f.overlay = f.put(x)
	}
	return f, nil
}

// Step moves unknowns towards a solution, but no farther than its linearization holds.
func Step(x, next []float64) {
	const most = 0.5
	for i := range x {
		x[i] += math.Max(-most, math.Min(most, next[i]-x[i]))
	}
}

// chooseLambda sets how strongly cells are shrunk towards their groups: the value
// that predicts held-out configurations best. If no fit predicts them better than
// the base does, nothing is changed.
func (f *fit) chooseLambda() {
	s, all, rows := f.system, f.near, f.rows
	const folds = 10
	of := configuration
	names := NamesOf(rows, of)
	if len(names) == 1 { // hold out its loads instead
		of = load
		names = NamesOf(rows, of)
	}
	parts := min(folds, len(names))
	part := make([]int, len(rows))
	for i := range rows {
		part[i] = slices.Index(names, of(&rows[i])) % parts
	}
	nothing := math.Inf(1)
	best, least := nothing, math.Inf(1)
	for _, lambda := range []float64{nothing, 300, 100, 30, 10, 3} {
		s.Lambda = lambda
		loss := 0.0
		for k := range parts {
			x := s.Solve(all, func(row int) bool { return part[row] != k })
			for _, e := range all {
				if part[e.Row] == k {
					loss += math.Hypot(1, e.Residual(x))
				}
			}
		}
		if loss < least {
			best, least = lambda, loss
		}
	}
	s.Lambda = best
}

// without fits again without some rows. It uses the slopes around the whole fit and one Gauss-Newton step, which is exact
// for a linear model.
func (f *fit) without(out func(*measured.Prepared) bool) *calibration.Overlay {
	return f.put(f.system.Solve(f.near, func(i int) bool { return !out(&f.rows[i]) }))
}

// put is the base with values of the unknowns.
func (f *fit) put(x []float64) *calibration.Overlay {
	b := f.base
	o := &calibration.Overlay{Groups: maps.Clone(b.Groups), Memory: b.Memory, Unseen: b.Unseen, Cells: b.Cells, Families: b.Families, Releases: b.Releases}
	if o.Groups == nil {
		o.Groups = calibration.Groups{}
	}
	f.system.Put(x, o.Groups)
	return o
}

// without is the overlay but for the multipliers of the rows' own cells.
func without(o *calibration.Overlay, rows []measured.Prepared) *calibration.Overlay {
	out := *o
	out.Groups = maps.Clone(o.Groups)
	for i := range rows {
		delete(out.Groups, rows[i].Subject.Cell())
	}
	return &out
}
