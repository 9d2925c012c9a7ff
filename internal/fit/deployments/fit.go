package deployments

import (
	"context"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// independentUnseen is how many rows weigh as one in predictions about models without rows.
const independentUnseen = 600

// Fitting is how rows are fitted and the fit tested.
type Fitting struct {
	calibrate.Work

	// Folds, if above one, splits the configurations into so many parts and holds
	// out each in turn, and then each model under an engine on a device generation.
	Folds int
	// LeaveOut, of [Kinds], holds out each model, or the like, in turn.
	LeaveOut []string
}

// system is the unknowns of a fit, with those of a memory.
type system struct {
	*calibrate.System

	memory *memory
}

// newSystem has the unknowns of some groups, and of every deployment.
func newSystem(rows []measured.Prepared, groups func(*calibration.Subject, int) []calibration.Group) *system {
	s := &system{System: calibrate.NewSystem(rows, calibrate.Nothing, groups)}
	s.remember(rows)
	return s
}

// Fit is multipliers fitted to rows.
type Fit struct {
	// Overlay holds the fitted groups, and the cells they were fitted to.
	Overlay *calibration.Overlay
	rows    []measured.Prepared
	system  *system
	wide    *calibrate.System // of the groups that hold for models without rows
	// near and nearWide are the rows around the fitted multipliers, as equations of the
	// two systems.
	near, nearWide []calibrate.Equation
}

// every row counts.
func every(int) bool { return true }

// Fit fits multipliers to prepared rows by Gauss-Newton, those of every group and deployment from the prior on.
func (c *Fitting) Fit(ctx context.Context, rows []measured.Prepared) (*Fit, error) {
	f := &Fit{rows: rows, system: newSystem(rows, shared(rows)), wide: calibrate.NewSystem(rows, calibrate.Nothing, (*calibration.Subject).UnseenGroups)}
	f.wide.Lambda = independentUnseen
	x := make([]float64, len(f.system.Unknowns))
	f.Overlay = f.system.overlay(x)
	for i := range c.Iterations {
		near, err := c.Linearize(ctx, rows, f.Overlay, i)
		if err != nil {
			return nil, err
		}
		f.near = f.system.Equations(near)
		if i == 0 { // their multipliers stay near the prior
			f.nearWide = f.wide.Equations(near)
		}
		calibrate.Step(x, f.system.Solve(f.near, every))
		if i == c.Iterations-1 {
			x = f.prune(near, x)
		}
		f.Overlay = f.system.overlay(x)
	}
	f.Overlay = f.remembered(x, every)
	f.unseen(f.Overlay, every)
	f.system.Start = x
	f.wide.Start = f.wide.Solve(f.nearWide, every)
	return f, nil
}

// unseen adds to an overlay what it says about models without rows, and which those
// are, by the rows that count.
func (f *Fit) unseen(o *calibration.Overlay, counts func(row int) bool) {
	o.Unseen = f.wide.Put(f.wide.Solve(f.nearWide, counts), calibration.Groups{})
	rows := map[string]int{}
	for i := range f.rows {
		if counts(i) {
			rows[modeCell(&f.rows[i])]++
		}
	}
	for i := range f.rows {
		if counts(i) && rows[modeCell(&f.rows[i])] >= fewest {
			o.AddCell(&f.rows[i].Subject)
		}
	}
}

// fewest is how many rows make a cell known. What fits other cells of a group well says
// little about a cell with less.
const fewest = 5

// modeCell names a row's cell, mode and weights.
func modeCell(p *measured.Prepared) string {
	return p.Row.Cell() + " " + p.Row.Mode + " " + p.Subject.Weights
}

// Without fits again without some rows. It uses the slopes around the whole fit and
// one Gauss-Newton step, which is exact for a linear model.
func (f *Fit) Without(out func(*measured.Prepared) bool) *calibration.Overlay {
	counts := func(i int) bool { return !out(&f.rows[i]) }
	o := f.remembered(f.system.Solve(f.near, counts), counts)
	f.unseen(o, counts)
	return o
}

// remembered is the overlay with values of the unknowns and the memory of some deployments, chosen and fitted by the rows that count.
func (f *Fit) remembered(x []float64, counts func(row int) bool) *calibration.Overlay {
	kept, values := f.system.forget(f.near, x, mostRemembered, counts)
	return kept.overlay(values)
}

// overlay is the multipliers and the memory with values of the unknowns.
func (s *system) overlay(x []float64) *calibration.Overlay {
	return &calibration.Overlay{Groups: s.Put(x, calibration.Groups{}), Memory: s.memory.overlay(x)}
}
