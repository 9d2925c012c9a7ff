package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/plimsoll-project/plimsoll/internal/basic/cholesky"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Scales of the residuals: errors of this size count as one; beyond, the loss
// grows linearly.
const (
	ttftScale = 0.12
	tpotScale = 0.08
	// ttftWeight is that of TTFT where it was measured in aggregated deployments or derived from
	// other measurements (half of the latter are within 8 %, a tenth beyond 30 %). Where prompts
	// have workers of their own it says all there is about them.
	ttftWeight = 0.8
)

// independent is how many rows weigh as one against the prior, since the rows of
// one benchmark campaign are not independent of each other.
const independent = 5

// independentUnseen is the same for predictions about models without rows.
const independentUnseen = 600

// linear is the residuals of a row near some parameters: two, of TTFT and TPOT,
// in units of their scales, and what each parameter changes in them.
type linear struct {
	at       calibration.Logs
	residual [2]float64
	slope    [calibration.Parameters][2]float64
	known    [2]bool // measured, and the row could be predicted
}

// mostInFlight is the concurrency above which rows are predicted but not fitted: there are
// few, and they would take most of the time.
const mostInFlight = 1024

// slopeStep is wide because a simulation is only piecewise smooth.
const slopeStep = 0.15

// linearize simulates rows at and around their parameters, in an iteration.
func (c *Calibration) linearize(ctx context.Context, rows []measured.Prepared, o *calibration.Overlay, iteration int) ([]linear, error) {
	task := fmt.Sprintf("fitting, iteration %d of %d", iteration+1, c.Iterations)
	c.tell(task, 0, 0)
	var done atomic.Int64
	out := make([]linear, len(rows))
	err := pool.Each(ctx, len(rows), c.Workers, func(i int) {
		defer func() { c.tell(task, int(done.Add(1)), len(rows)) }()
		r, l := &rows[i], &out[i]
		l.at = o.Sum(r.Subject)
		if r.Row.Concurrency > mostInFlight {
			return
		}
		if l.residual, l.known = residuals(ctx, r, l.at); !l.known[0] && !l.known[1] {
			return
		}
		for k := range calibration.Parameters {
			if parts := calibration.Parts(k); parts != nil { // moves them, and needs no simulation
				for _, p := range parts {
					for j := range l.slope[k] {
						l.slope[k][j] += l.slope[p][j]
					}
				}
				continue
			}
			if !r.Subject.Matters(k) {
				continue
			}
			up, down := l.at, l.at
			up[k] += slopeStep
			down[k] -= slopeStep
			a, okA := residuals(ctx, r, up)
			b, okB := residuals(ctx, r, down)
			for j := range a {
				if okA[j] && okB[j] {
					l.slope[k][j] = (a[j] - b[j]) / (2 * slopeStep)
				}
			}
		}
	})
	return out, cmp.Or(err, ctx.Err()) // a simulation may have ended early
}

// residuals simulates a row.
func residuals(ctx context.Context, p *measured.Prepared, z calibration.Logs) (out [2]float64, known [2]bool) {
	q := p.Simulate(ctx, z.Multipliers())
	if q.Err != nil {
		return out, known
	}
	add := func(j int, predicted, measured units.Seconds, weight float64) {
		if predicted > 0 && measured > 0 {
			out[j], known[j] = weight*math.Log(float64(predicted/measured)), true
		}
	}
	weight := ttftWeight
	if p.Subject.Disaggregated {
		weight = 1
	}
	if add(0, q.TTFT, p.Row.TTFT, weight/ttftScale); !known[0] {
		add(0, q.TTFTMean, p.Row.TTFTEstimate, ttftWeight/ttftScale)
	}
	add(1, q.TPOT, p.Row.TPOT, 1/tpotScale)
	return out, known
}

// unknown is one number to be found: the logarithm of a group's multiplier of a
// parameter.
type unknown struct {
	group     string
	parameter int
}

// system is the unknowns of a fit and which of them each row depends on.
type system struct {
	unknowns []unknown
	widths   []float64
	// of lists a row's unknowns by parameter.
	of [][calibration.Parameters][]int
	// fixed is the multipliers of each row that are not fitted.
	fixed  []calibration.Logs
	lambda float64
	memory *memory // nil without one
	// start is a solution with all rows, from which those with fewer are found sooner.
	start []float64
	// rigs marks the rows of other people's rigs; nil if there are no others.
	rigs []bool
}

// newSystem collects the unknowns of rows: those of the groups given for each subject and
// parameter, on top of multipliers that are fixed.
func newSystem(rows []measured.Prepared, fixed func(calibration.Subject) calibration.Logs, groups func(*calibration.Subject, int) []calibration.Group) *system {
	s := &system{of: make([][calibration.Parameters][]int, len(rows)), fixed: make([]calibration.Logs, len(rows)), lambda: independent}
	index := map[unknown]int{}
	for i := range rows {
		subject := &rows[i].Subject
		s.fixed[i] = fixed(*subject)
		s.rigs = append(s.rigs, subject.Rig != "")
		for k := range calibration.Parameters {
			if !subject.Matters(k) {
				continue
			}
			for _, g := range groups(subject, k) {
				u := unknown{g.Name, k}
				at, ok := index[u]
				if !ok {
					at = len(s.unknowns)
					index[u] = at
					s.unknowns = append(s.unknowns, u)
					s.widths = append(s.widths, calibration.Width(k)*g.Share)
				}
				s.of[i][k] = append(s.of[i][k], at)
			}
		}
	}
	if !slices.Contains(s.rigs, false) {
		s.rigs = nil
	}
	return s
}

// fittedSystem has the unknowns of every group and deployment, or, on top of a base, of cells only.
func fittedSystem(rows []measured.Prepared, base *calibration.Overlay) *system {
	if base == nil {
		s := newSystem(rows, nothing, shared(rows))
		s.remember(rows)
		return s
	}
	return newSystem(rows, base.Sum, (*calibration.Subject).OwnCell)
}

// nothing is fixed.
func nothing(calibration.Subject) calibration.Logs { return calibration.Logs{} }

// solve finds the unknowns for which the linearized rows that count fit best:
// ridge regression towards the prior, with large residuals weighted down
// (pseudo-Huber) again and again. Rows of rigs move what is remembered of rigs, and
// nothing else: what makes one of them slow is not written down.
func (s *system) solve(all []equation, counts func(row int) bool) []float64 {
	x := make([]float64, len(s.unknowns))
	if s.start != nil {
		x = slices.Clone(s.start)
	}
	if math.IsInf(s.lambda, 1) {
		return x
	}
	known := slices.DeleteFunc(slices.Clone(all), func(e equation) bool { return !counts(e.row) })
	ofRigs := func(e equation) bool { return s.rigs != nil && s.rigs[e.row] }
	x = s.descend(slices.DeleteFunc(slices.Clone(known), ofRigs), x, func(int) bool { return true })
	if s.memory != nil && slices.ContainsFunc(known, ofRigs) {
		x = s.descend(known, x, s.memory.ofRig)
	}
	return x
}

// descend is solve for the unknowns that are free; the others stay.
func (s *system) descend(known []equation, x []float64, free func(int) bool) []float64 {
	n, reweightings := len(s.unknowns), 12
	if s.start != nil {
		reweightings = 3
	}
	for range reweightings {
		a := make([]float64, n*n)
		for i := range s.multipliers() {
			a[i*n+i] = s.lambda / (s.widths[i] * s.widths[i])
		}
		if s.memory != nil {
			s.memory.prior(a, n, s.lambda)
		}
		b := make([]float64, n)
		for _, e := range known {
			r := e.residual(x)
			w := 1 / math.Sqrt(1+r*r)
			for k, i := range e.at {
				f := w * e.slope[k]
				b[i] -= f * e.constant
				for m, j := range e.at {
					if j >= i {
						a[i*n+j] += f * e.slope[m]
					}
				}
			}
		}
		for j := range n {
			if !free(j) {
				hold(a, b, j, x[j])
			}
		}
		if next := solveSymmetric(a, b); next != nil {
			x = next
		}
	}
	return x
}

// hold gives an unknown of a symmetric system, of which a holds the upper triangle by rows, a value.
func hold(a, b []float64, at int, value float64) {
	n := len(b)
	for i := range n {
		k := min(i, at)*n + max(i, at)
		b[i] -= a[k] * value
		a[k] = 0
	}
	a[at*n+at], b[at] = 1, value
}

// equation is one residual as a linear function of the unknowns.
type equation struct {
	row      int
	constant float64
	at       []int
	slope    []float64
}

// residual is that at values of the unknowns.
func (e *equation) residual(x []float64) float64 {
	r := e.constant
	for k, at := range e.at {
		r += e.slope[k] * x[at]
	}
	return r
}

// chooseLambda sets how strongly cells are shrunk towards their groups: the value
// that predicts held-out configurations best. If no fit predicts them better than
// the base does, nothing is changed.
func (s *system) chooseLambda(all []equation, rows []measured.Prepared) {
	const folds = 10
	of := configuration
	names := namesOf(rows, of)
	if len(names) == 1 { // hold out its loads instead
		of = load
		names = namesOf(rows, of)
	}
	parts := min(folds, len(names))
	part := make([]int, len(rows))
	for i := range rows {
		part[i] = slices.Index(names, of(&rows[i])) % parts
	}
	nothing := math.Inf(1)
	best, least := nothing, math.Inf(1)
	for _, lambda := range []float64{nothing, 300, 100, 30, 10, 3} {
		s.lambda = lambda
		loss := 0.0
		for k := range parts {
			x := s.solve(all, func(row int) bool { return part[row] != k })
			for _, e := range all {
				if part[e.row] == k {
					loss += math.Hypot(1, e.residual(x))
				}
			}
		}
		if loss < least {
			best, least = lambda, loss
		}
	}
	s.lambda = best
}

// equations are those of all rows; the constant is the residual with every
// unknown at zero.
func (s *system) equations(rows []linear) []equation {
	var out []equation
	for i := range rows {
		l := &rows[i]
		for j := range l.residual {
			if !l.known[j] {
				continue
			}
			e := equation{row: i, constant: l.residual[j]}
			for k := range calibration.Parameters {
				if l.slope[k][j] == 0 {
					continue
				}
				e.constant -= l.slope[k][j] * (l.at[k] - s.fixed[i][k])
				for _, at := range s.of[i][k] {
					e.at, e.slope = append(e.at, at), append(e.slope, l.slope[k][j])
				}
			}
			out = append(out, e)
		}
	}
	return out
}

// Fit is multipliers fitted to rows.
type Fit struct {
	// Overlay holds the fitted groups, and the cells they were fitted to.
	Overlay *calibration.Overlay
	rows    []measured.Prepared
	system  *system
	wide    *system // of the groups that hold for models without rows; nil on top of a base
	base    *calibration.Overlay
	// near and nearWide are the rows around the fitted multipliers, as equations of the
	// two systems.
	near, nearWide []equation
}

// Fit fits multipliers to prepared rows by Gauss-Newton: those of every group
// from the prior on, or, given a base, of the rows' cells on top of it.
func (c *Calibration) Fit(ctx context.Context, rows []measured.Prepared) (*Fit, error) {
	base := c.Base
	if base != nil {
		base = without(base, rows)
	}
	f := &Fit{rows: rows, system: fittedSystem(rows, base), base: base}
	if base == nil {
		f.wide = newSystem(rows, nothing, (*calibration.Subject).UnseenGroups)
		f.wide.lambda = independentUnseen
	}
	x := make([]float64, len(f.system.unknowns))
	f.Overlay = f.system.overlay(f.base, x)
	for i := range c.Iterations {
		near, err := c.linearize(ctx, rows, f.Overlay, i)
		if err != nil {
			return nil, err
		}
		f.near = f.system.equations(near)
		if f.wide != nil && i == 0 { // their multipliers stay near the prior
			f.nearWide = f.wide.equations(near)
		}
		if base != nil && i == 0 {
			f.system.chooseLambda(f.near, rows)
		}
		next := f.system.solve(f.near, func(int) bool { return true })
		for i := range x {
			const most = 0.5 // beyond, the linearization says little
			x[i] += math.Max(-most, math.Min(most, next[i]-x[i]))
		}
		if base == nil && i == c.Iterations-1 {
			x = f.prune(near, x)
		}
		f.Overlay = f.system.overlay(f.base, x)
	}
	if base == nil {
		f.Overlay = f.remembered(x, func(int) bool { return true })
		f.unseen(f.Overlay, func(int) bool { return true })
		f.system.start = x
		f.wide.start = f.wide.solve(f.nearWide, func(int) bool { return true })
	}
	return f, nil
}

// unseen adds to an overlay what it says about models without rows, and which those
// are, by the rows that count.
func (f *Fit) unseen(o *calibration.Overlay, counts func(row int) bool) {
	o.Unseen = f.wide.groups(f.wide.solve(f.nearWide, counts), calibration.Groups{})
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
	x := f.system.solve(f.near, counts)
	if f.base != nil {
		return f.system.overlay(f.base, x)
	}
	o := f.remembered(x, counts)
	f.unseen(o, counts)
	return o
}

// remembered is the overlay with values of the unknowns and the memory of some deployments, chosen and fitted by the rows that count.
func (f *Fit) remembered(x []float64, counts func(row int) bool) *calibration.Overlay {
	kept, values := f.system.forget(f.near, x, mostRemembered, counts)
	return kept.overlay(nil, values)
}

// overlay is a base, if any, with values of the unknowns.
func (s *system) overlay(base *calibration.Overlay, x []float64) *calibration.Overlay {
	o := &calibration.Overlay{Groups: calibration.Groups{}}
	if base != nil {
		maps.Copy(o.Groups, base.Groups)
		o.Memory = base.Memory
		o.Unseen, o.Cells, o.Families, o.Releases = base.Unseen, base.Cells, base.Families, base.Releases
	}
	s.groups(x, o.Groups)
	if s.memory != nil {
		o.Memory = s.memory.overlay(x)
	}
	return o
}

// groups puts values of the unknowns into groups, and returns those.
func (s *system) groups(x []float64, into calibration.Groups) calibration.Groups {
	for i, u := range s.unknowns[:s.multipliers()] {
		z, ok := into[u.group]
		if !ok {
			z = &calibration.Logs{}
			into[u.group] = z
		}
		z[u.parameter] = x[i]
	}
	return into
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

// solveSymmetric solves a symmetric system, of which a holds the upper triangle by rows; nil if it is not positive definite.
func solveSymmetric(a, b []float64) []float64 {
	n := len(b)
	lower := make([][]float64, n)
	for i := range n {
		for j := range i + 1 {
			lower[i] = append(lower[i], a[j*n+i])
		}
	}
	factor := cholesky.Factor(lower, 0)
	for i := range n {
		if !(factor[i][i] > 0) {
			return nil
		}
	}
	return factor.Solve(b)
}
