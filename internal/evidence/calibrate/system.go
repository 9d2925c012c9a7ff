package calibrate

import (
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/cholesky"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Independent is how many rows weigh as one against the prior, since the rows of
// one benchmark campaign are not Independent of each other.
const Independent = 5

// Unknown is one number to be found: the logarithm of a group's multiplier of a
// parameter.
type Unknown struct {
	Group     string
	Parameter int
}

// System is the unknowns of a fit and which of them each row depends on.
type System struct {
	// Unknowns are multipliers of groups, and after them those of Beyond.
	Unknowns []Unknown
	// Widths are how far each multiplier is believed to lie from the prior.
	Widths []float64
	// Of lists a row's unknowns by parameter.
	Of [][calibration.Parameters][]int
	// Fixed is the multipliers of each row that are not fitted.
	Fixed  []calibration.Logs
	Lambda float64
	// Start is a solution with all rows, from which those with fewer are found sooner.
	Start []float64
	// Rigs marks the rows of other people's rigs; nil if there are no others.
	Rigs []bool
	// Beyond is nil if all unknowns are multipliers of groups.
	Beyond Beyond
}

// Beyond is what a fit finds beside the multipliers of groups.
type Beyond interface {
	// Prior adds what is believed of its unknowns to the upper triangle of a matrix of n unknowns.
	Prior(a []float64, n int, lambda float64)
	// OfRig reports whether an unknown is of a deployment on somebody's rig.
	OfRig(unknown int) bool
}

// NewSystem collects the unknowns of rows: those of the groups given for each subject and
// parameter, on top of multipliers that are fixed.
func NewSystem(rows []measured.Prepared, fixed func(calibration.Subject) calibration.Logs, groups func(*calibration.Subject, int) []calibration.Group) *System {
	s := &System{Of: make([][calibration.Parameters][]int, len(rows)), Fixed: make([]calibration.Logs, len(rows)), Lambda: Independent}
	index := map[Unknown]int{}
	for i := range rows {
		subject := &rows[i].Subject
		s.Fixed[i] = fixed(*subject)
		s.Rigs = append(s.Rigs, subject.Rig != "")
		for k := range calibration.Parameters {
			if !subject.Matters(k) {
				continue
			}
			for _, g := range groups(subject, k) {
				u := Unknown{g.Name, k}
				at, ok := index[u]
				if !ok {
					at = len(s.Unknowns)
					index[u] = at
					s.Unknowns = append(s.Unknowns, u)
					s.Widths = append(s.Widths, calibration.Width(k)*g.Share)
				}
				s.Of[i][k] = append(s.Of[i][k], at)
			}
		}
	}
	if !slices.Contains(s.Rigs, false) {
		s.Rigs = nil
	}
	return s
}

// Nothing is fixed.
func Nothing(calibration.Subject) calibration.Logs { return calibration.Logs{} }

// Solve finds the unknowns for which the linearized rows that count fit best:
// ridge regression towards the prior, with large residuals weighted down
// (pseudo-Huber) again and again. Rows of rigs move what is remembered of rigs, and
// nothing else: what makes one of them slow is not written down.
func (s *System) Solve(all []Equation, counts func(row int) bool) []float64 {
	x := make([]float64, len(s.Unknowns))
	if s.Start != nil {
		x = slices.Clone(s.Start)
	}
	if math.IsInf(s.Lambda, 1) {
		return x
	}
	known := slices.DeleteFunc(slices.Clone(all), func(e Equation) bool { return !counts(e.Row) })
	ofRigs := func(e Equation) bool { return s.Rigs != nil && s.Rigs[e.Row] }
	x = s.descend(slices.DeleteFunc(slices.Clone(known), ofRigs), x, func(int) bool { return true })
	if s.Beyond != nil && slices.ContainsFunc(known, ofRigs) {
		x = s.descend(known, x, s.Beyond.OfRig)
	}
	return x
}

// descend is solve for the unknowns that are free; the others stay.
func (s *System) descend(known []Equation, x []float64, free func(int) bool) []float64 {
	n, reweightings := len(s.Unknowns), 12
	if s.Start != nil {
		reweightings = 3
	}
	for range reweightings {
		a := make([]float64, n*n)
		for i := range s.Widths {
			a[i*n+i] = s.Lambda / (s.Widths[i] * s.Widths[i])
		}
		if s.Beyond != nil {
			s.Beyond.Prior(a, n, s.Lambda)
		}
		b := make([]float64, n)
		for _, e := range known {
			r := e.Residual(x)
			w := 1 / math.Sqrt(1+r*r)
			for k, i := range e.At {
				f := w * e.Slope[k]
				b[i] -= f * e.Constant
				for m, j := range e.At {
					if j >= i {
						a[i*n+j] += f * e.Slope[m]
					}
				}
			}
		}
		for j := range n {
			if !free(j) {
				hold(a, b, j, x[j])
			}
		}
		if next := cholesky.SolveUpper(a, b); next != nil {
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

// Equation is one residual as a linear function of the unknowns.
type Equation struct {
	Row      int
	Constant float64
	At       []int
	Slope    []float64
}

// Residual is that at values of the unknowns.
func (e *Equation) Residual(x []float64) float64 {
	r := e.Constant
	for k, at := range e.At {
		r += e.Slope[k] * x[at]
	}
	return r
}

// Equations are those of all rows; the constant is the residual with every
// unknown at zero.
func (s *System) Equations(rows []Linear) []Equation {
	var out []Equation
	for i := range rows {
		l := &rows[i]
		for j := range l.Residual {
			if !l.Known[j] {
				continue
			}
			e := Equation{Row: i, Constant: l.Residual[j]}
			for k := range calibration.Parameters {
				if l.Slope[k][j] == 0 {
					continue
				}
				e.Constant -= l.Slope[k][j] * (l.At[k] - s.Fixed[i][k])
				for _, at := range s.Of[i][k] {
					e.At, e.Slope = append(e.At, at), append(e.Slope, l.Slope[k][j])
				}
			}
			out = append(out, e)
		}
	}
	return out
}

// Put puts values of the multipliers into groups, and returns those.
func (s *System) Put(x []float64, into calibration.Groups) calibration.Groups {
	for i, u := range s.Unknowns[:len(s.Widths)] {
		z, ok := into[u.Group]
		if !ok {
			z = &calibration.Logs{}
			into[u.Group] = z
		}
		z[u.Parameter] = x[i]
	}
	return into
}
