package deployments

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Extended is an overlay with groups that its base lacks.
type Extended struct {
	Overlay *calibration.Overlay
	// ByConfiguration and ByCell predict rows by fits that held out their
	// configuration or their cell.
	ByConfiguration, ByCell []measured.Compared
	Numbers                 int // fitted
}

// Extend fits groups that a base lacks, such as those of an engine on a device
// generation without rows, on top of all that it has, which stays as it is: predictions
// about anything else do not change.
func (c *Fitting) Extend(ctx context.Context, base *calibration.Overlay, rows []measured.Prepared) (*Extended, error) {
	x := newExtension(base, rows)
	seen := x.system(x.base.Groups, calibrate.Independent, (*calibration.Subject).Groups)
	unseen := x.system(x.base.Unseen, independentUnseen, (*calibration.Subject).UnseenGroups)
	at := x.overlay(seen, make([]float64, len(seen.Unknowns)), x.base.Groups)
	var near []calibrate.Linear
	for i := range c.Iterations {
		var err error
		if near, err = c.Linearize(ctx, rows, at, i); err != nil {
			return nil, err
		}
		at = x.overlay(seen, seen.Solve(seen.Equations(near), every), x.base.Groups)
	}
	out := &Extended{Overlay: at, Numbers: len(seen.Unknowns)}
	others := x.overlay(unseen, unseen.Solve(unseen.Equations(near), every), x.base.Unseen)
	out.Overlay.Unseen = others.Groups
	if c.Folds < 2 {
		return out, nil
	}
	part := func(p *measured.Prepared) string { return strconv.Itoa(calibrate.Fold(p.Row, c.Folds)) }
	cell := func(p *measured.Prepared) string { return p.Row.Cell() }
	var err error
	if out.ByConfiguration, err = c.without(ctx, x, seen, x.base.Groups, near, part); err != nil {
		return nil, err
	}
	out.ByCell, err = c.without(ctx, x, unseen, x.base.Unseen, near, cell)
	return out, err
}

// without predicts rows by fits that hold out each of their kinds in turn.
func (c *Fitting) without(ctx context.Context, x *extension, s *calibrate.System, groups calibration.Groups, near []calibrate.Linear, of func(*measured.Prepared) string) (all []measured.Compared, err error) {
	equations := s.Equations(near)
	for _, name := range calibrate.NamesOf(x.rows, of) {
		test := slices.DeleteFunc(slices.Clone(x.rows), func(p measured.Prepared) bool { return of(&p) != name })
		o := x.overlay(s, s.Solve(equations, func(i int) bool { return of(&x.rows[i]) != name }), groups)
		held, err := c.Predict(ctx, test, o)
		if err != nil {
			return nil, err
		}
		all = append(all, held...)
	}
	return all, nil
}

// extension is a base and rows of groups that it lacks.
type extension struct {
	base *calibration.Overlay
	rows []measured.Prepared
}

// newExtension adds the rows' cells to the base: predictions about them begin with all
// that the base knows.
func newExtension(base *calibration.Overlay, rows []measured.Prepared) *extension {
	o := *base
	o.Cells = maps.Clone(base.Cells)
	o.Families = maps.Clone(base.Families)
	for i := range rows {
		o.AddCell(&rows[i].Subject)
	}
	return &extension{&o, rows}
}

// system has an unknown for every parameter of the groups that are lacking, on top of some
// that are not.
func (x *extension) system(groups calibration.Groups, lambda float64, of func(*calibration.Subject, int) []calibration.Group) *calibrate.System {
	known := calibration.Overlay{Groups: groups, Memory: x.base.Memory}
	s := calibrate.NewSystem(x.rows, known.Sum, func(s *calibration.Subject, parameter int) []calibration.Group {
		return slices.DeleteFunc(of(s, parameter), func(g calibration.Group) bool { _, ok := x.base.Groups[g.Name]; return ok })
	})
	s.Lambda = lambda
	return s
}

// overlay is groups with values of the unknowns, for seen and unseen cells alike.
func (x *extension) overlay(s *calibrate.System, values []float64, groups calibration.Groups) *calibration.Overlay {
	o := *x.base
	o.Groups = maps.Clone(groups)
	for i, u := range s.Unknowns {
		z := o.Groups[u.Group]
		if z == nil {
			z = &calibration.Logs{}
		} else if _, own := x.base.Groups[u.Group]; own {
			continue
		}
		z[u.Parameter] = math.Round(1e3*values[i]) / 1e3
		o.Groups[u.Group] = z
	}
	o.Unseen = nil
	return &o
}
