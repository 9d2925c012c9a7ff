package calibrate

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
)

// Scales of the residuals: errors of this size count as one; beyond, the loss
// grows linearly.
const (
	ttftScale  = 0.12
	tpotScale  = 0.08
	ttftWeight = 1.5
	// apartWeight is that of disaggregated deployments, whose rows do not tell all
	// that makes requests wait.
	apartWeight = 0.5
)

// independent rows count against the prior: those of one benchmark campaign are
// not, one in so many is.
const independent = 5

// independentUnseen is the same for what is said of other models and systems.
const independentUnseen = 40

// linear is the residuals of a row near some parameters: two, of TTFT and TPOT,
// in units of their scales, and what each parameter changes in them.
type linear struct {
	at       offsets
	residual [2]float64
	slope    [parameters][2]float64
	known    bool // the row could be predicted
}

// slopeStep is wide because a simulation is only piecewise smooth.
const slopeStep = 0.15

// linearize simulates rows at and around their parameters.
func linearize(rows []Prepared, p *Params, workers int) []linear {
	out := make([]linear, len(rows))
	inParallel(len(rows), workers, func(i int) {
		r, l := &rows[i], &out[i]
		l.at = p.sum(r.Subject)
		if l.residual, l.known = r.residuals(l.at); !l.known {
			return
		}
		for k := range parameters {
			if !r.Subject.has(k) {
				continue
			}
			up, down := l.at, l.at
			up[k] += slopeStep
			down[k] -= slopeStep
			a, okA := r.residuals(up)
			b, okB := r.residuals(down)
			if okA && okB {
				for j := range a {
					l.slope[k][j] = (a[j] - b[j]) / (2 * slopeStep)
				}
			}
		}
	})
	return out
}

// has reports whether a parameter can matter to the subject.
func (s *Subject) has(parameter int) bool {
	return s.Experts != "" || parameter != zExperts && parameter != zPrefillExperts
}

// inParallel calls f for every index with a number of workers.
func inParallel(n, workers int, f func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(1, workers) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// residuals simulates a row.
func (p *Prepared) residuals(z offsets) (out [2]float64, ok bool) {
	q := p.Simulate(tuning(z))
	if q.Err != nil || q.TTFT <= 0 || q.TPOT <= 0 || p.Row.TTFT <= 0 || p.Row.TPOT <= 0 {
		return out, false
	}
	weight := ttftWeight
	if p.Subject.Apart {
		weight = apartWeight
	}
	return [2]float64{
		weight * math.Log(float64(q.TTFT/p.Row.TTFT)) / ttftScale,
		math.Log(float64(q.TPOT/p.Row.TPOT)) / tpotScale,
	}, true
}

// unknown is one number to be found: a group's offset of a parameter.
type unknown struct {
	group     string
	parameter int
}

// system is the unknowns of a fit and which of them each row knows.
type system struct {
	unknowns []unknown
	widths   []float64
	// of lists a row's unknowns by parameter.
	of [][parameters][]int
	// fixed is what each row takes besides the unknowns.
	fixed  []offsets
	lambda float64
}

// newSystem collects the unknowns: offsets of every group, or, on top of a base,
// of cells only.
func newSystem(rows []Prepared, base *Params) *system {
	s := &system{of: make([][parameters][]int, len(rows)), fixed: make([]offsets, len(rows)), lambda: independent}
	index := map[unknown]int{}
	for i := range rows {
		subject := &rows[i].Subject
		if base != nil {
			s.fixed[i] = base.sum(*subject)
		}
		for k := range parameters {
			if !subject.has(k) {
				continue
			}
			groups := []group{{subject.Cell(), cellShare}}
			if base == nil {
				groups = subject.groups(k)
			}
			for _, g := range groups {
				u := unknown{g.name, k}
				at, ok := index[u]
				if !ok {
					at = len(s.unknowns)
					index[u] = at
					s.unknowns = append(s.unknowns, u)
					s.widths = append(s.widths, width(k)*g.share)
				}
				s.of[i][k] = append(s.of[i][k], at)
			}
		}
	}
	return s
}

// solve finds the unknowns for which the linearized rows that count fit best:
// ridge regression towards the prior, with large residuals weighted down
// (pseudo-Huber) again and again.
func (s *system) solve(all []equation, counts func(row int) bool) []float64 {
	const reweightings = 12
	n := len(s.unknowns)
	x := make([]float64, n)
	if math.IsInf(s.lambda, 1) {
		return x
	}
	known := slices.DeleteFunc(slices.Clone(all), func(e equation) bool { return !counts(e.row) })
	for range reweightings {
		a := make([][]float64, n)
		for i := range n {
			a[i] = make([]float64, i+1)
			a[i][i] = s.lambda / (s.widths[i] * s.widths[i])
		}
		b := make([]float64, n)
		for _, e := range known {
			r := e.residual(x)
			w := 1 / math.Sqrt(1+r*r)
			for k, i := range e.at {
				f := w * e.slope[k]
				b[i] -= f * e.constant
				for m, j := range e.at {
					if j <= i {
						a[i][j] += f * e.slope[m]
					}
				}
			}
		}
		x = cholesky(a, b)
	}
	return x
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

// chooseLambda sets how strongly cells are drawn to what their groups say: as
// predicts best the configurations left out in turn. Few rows that tell nothing
// of other configurations so change nothing.
func (s *system) chooseLambda(all []equation, rows []Prepared) {
	const folds = 10
	of := func(p *Prepared) string { return p.Row.configuration() }
	names := namesOf(rows, of)
	if len(names) == 1 { // its loads tell of one another
		of = func(p *Prepared) string { return strconv.Itoa(p.Row.Concurrency) }
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
		if !l.known {
			continue
		}
		for j := range l.residual {
			e := equation{row: i, constant: l.residual[j]}
			for k := range parameters {
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

// Fit is parameters fitted to rows.
type Fit struct {
	Params *Params
	rows   []Prepared
	system *system
	base   *Params
	// near is the rows around the parameters.
	near []equation
}

// NewFit fits parameters to prepared rows by Gauss-Newton: offsets of every group
// from the prior on, or, given a base, of the rows' cells on top of it.
func NewFit(rows []Prepared, base *Params, iterations, workers int) *Fit {
	if base != nil {
		base = base.without(rows)
	}
	f := &Fit{rows: rows, system: newSystem(rows, base), base: base}
	x := make([]float64, len(f.system.unknowns))
	f.Params = f.params(x)
	for i := range iterations {
		f.near = f.system.equations(linearize(rows, f.Params, workers))
		if base != nil && i == 0 {
			f.system.chooseLambda(f.near, rows)
		}
		next := f.system.solve(f.near, func(int) bool { return true })
		for i := range x {
			const most = 0.5 // beyond, the linearization says little
			x[i] += math.Max(-most, math.Min(most, next[i]-x[i]))
		}
		f.Params = f.params(x)
	}
	if base == nil {
		f.Params.unseen = f.Without(independentUnseen, func(*Prepared) bool { return false }).groups
		f.Params.cells = map[string]bool{}
		for i := range rows {
			f.Params.cells[rows[i].Subject.place()] = true
		}
	}
	return f
}

// Without fits again without some rows, drawn to the prior as strongly as asked.
// It starts from the slopes around the whole fit and takes one step, which a
// linear model would need from anywhere.
func (f *Fit) Without(lambda float64, out func(*Prepared) bool) *Params {
	s := *f.system
	s.lambda = lambda
	return f.params(s.solve(f.near, func(i int) bool { return !out(&f.rows[i]) }))
}

// params are the base's with the unknowns.
func (f *Fit) params(x []float64) *Params {
	p := &Params{groups: map[string]*offsets{}}
	if f.base != nil {
		maps.Copy(p.groups, f.base.groups)
		p.unseen, p.cells = f.base.unseen, f.base.cells
	}
	for i, u := range f.system.unknowns {
		o, ok := p.groups[u.group]
		if !ok {
			o = &offsets{}
			p.groups[u.group] = o
		}
		o[u.parameter] = x[i]
	}
	return p
}

// without are the parameters but for those of the rows' cells.
func (p *Params) without(rows []Prepared) *Params {
	out := &Params{groups: maps.Clone(p.groups), unseen: p.unseen, cells: p.cells}
	for i := range rows {
		delete(out.groups, rows[i].Subject.Cell())
	}
	return out
}

// cholesky solves a symmetric positive definite system given by its lower
// triangle.
func cholesky(a [][]float64, b []float64) []float64 {
	n := len(b)
	for i := range n {
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= a[i][k] * a[j][k]
			}
			if i == j {
				a[i][i] = math.Sqrt(math.Max(sum, 1e-12))
			} else {
				a[i][j] = sum / a[j][j]
			}
		}
	}
	x := make([]float64, n)
	for i := range n {
		sum := b[i]
		for k := range i {
			sum -= a[i][k] * x[k]
		}
		x[i] = sum / a[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		sum := x[i]
		for k := i + 1; k < n; k++ {
			sum -= a[k][i] * x[k]
		}
		x[i] = sum / a[i][i]
	}
	return x
}
