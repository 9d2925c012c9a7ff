package calibrate

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
)

// PrepareClean prepares the clean rows that can be predicted.
func (p *Predictor) PrepareClean(rows []Row) []Prepared {
	var out []Prepared
	for i := range rows {
		if rows[i].Quality != "" {
			continue
		}
		if q := p.Prepare(&rows[i]); q.Err == nil {
			out = append(out, q)
		}
	}
	return out
}

// Validated is a fit with predictions of rows by fits that have not seen them.
type Validated struct {
	Params *Params
	// Unchanged says that the rows taught nothing about other configurations of
	// their cells, and the base stays as it is.
	Unchanged                         bool
	InSample, ByConfiguration, ByCell []Compared
	// Adapted predicts half the configurations of a cell by a fit without the
	// cell to which the other half was then added as that cell's own.
	Adapted []Compared
	// LeftOut predicts rows by fits without their kind, see [Validation.LeaveOut].
	LeftOut []LeftOut
}

// LeftOut is rows predicted by fits that have not seen their kind.
type LeftOut struct {
	Kind string
	Rows []Compared
}

// Validation says how a fit is tried on rows it has not seen.
type Validation struct {
	// Folds, if above one, fits again without each part of the configurations
	// dealt into so many, and without each cell.
	Folds int
	// LeaveOut, of [Kinds], fits again without each model, or the like.
	LeaveOut []string
}

// kind returns a function that names what of a row can be left out of a fit; nil
// for a word that is not among [Kinds].
func kind(word string) func(*Prepared) string {
	switch word {
	case "engine":
		return func(p *Prepared) string { return p.Row.Engine }
	case lengths:
		return func(p *Prepared) string { return fmt.Sprintf("%d in and %d out", p.Row.Input, p.Row.Output) }
	case "model":
		return func(p *Prepared) string { return p.Subject.Model }
	case "precision":
		return func(p *Prepared) string { return p.Row.Precision }
	case "size":
		return func(p *Prepared) string { return p.Subject.Size }
	case "system":
		return func(p *Prepared) string { return p.Row.System }
	}
	return nil
}

// Kinds are the words [Validation.LeaveOut] may be.
func Kinds() []string { return []string{"engine", lengths, "model", "precision", "size", "system"} }

// lengths is the kind that leaves other rows of a cell in a fit.
const lengths = "lengths"

// Calibration is how rows are fitted and tried.
type Calibration struct {
	// Base, if any, stays as it is: only cells are fitted, on top of it.
	Base       *Params
	Iterations int
	Workers    int
	Validation Validation
	Progress   func(string)
}

func (c *Calibration) say(format string, a ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, a...))
	}
}

// Run fits rows, and fits them again without parts of them to predict those.
func (c *Calibration) Run(rows []Prepared) Validated {
	c.say("fitting %d rows", len(rows))
	f := NewFit(rows, c.Base, c.Iterations, c.Workers)
	out := Validated{Params: f.Params, InSample: predict(rows, f.Params, c.Workers), Unchanged: math.IsInf(f.system.lambda, 1)}
	cell := func(p *Prepared) string { return p.Row.Cell() }
	if n := c.Validation.Folds; n > 1 {
		for k := range n {
			out.ByConfiguration = append(out.ByConfiguration, c.hold(f, f.system.lambda, fmt.Sprintf("fold %d", k+1), func(p *Prepared) bool { return fold(p.Row, n) == k })...)
		}
		if c.Base == nil {
			out.ByCell = c.each(f, independentUnseen, cell)
			out.Adapted = c.adapt(f, cell)
		}
	}
	for _, word := range c.Validation.LeaveOut {
		if of := kind(word); of != nil {
			lambda := f.system.lambda // other lengths of a cell that was seen
			if c.Base == nil && word != lengths {
				lambda = independentUnseen
			}
			out.LeftOut = append(out.LeftOut, LeftOut{word, c.each(f, lambda, of)})
		}
	}
	return out
}

// hold predicts rows by a fit without them.
func (c *Calibration) hold(f *Fit, lambda float64, name string, out func(*Prepared) bool) []Compared {
	var test []Prepared
	for i := range f.rows {
		if out(&f.rows[i]) {
			test = append(test, f.rows[i])
		}
	}
	if len(test) == 0 {
		return nil
	}
	c.say("without %s (%d rows)", name, len(test))
	return predict(test, f.Without(lambda, out), c.Workers)
}

// each predicts every row by a fit without its kind, drawn to the prior as
// strongly as asked.
func (c *Calibration) each(f *Fit, lambda float64, of func(*Prepared) string) (out []Compared) {
	for _, name := range namesOf(f.rows, of) {
		out = append(out, c.hold(f, lambda, name, func(p *Prepared) bool { return of(p) == name })...)
	}
	return out
}

// adapt predicts half of each cell's configurations by a fit that has seen of
// the cell only the other half, and those alone at the cell's own level.
func (c *Calibration) adapt(f *Fit, cell func(*Prepared) string) (out []Compared) {
	const few = 10 // too few to fit and to test
	for _, name := range namesOf(f.rows, cell) {
		var halves [2][]Prepared
		for i := range f.rows {
			if p := &f.rows[i]; cell(p) == name && !p.Subject.Apart {
				h := fold(p.Row, 2)
				halves[h] = append(halves[h], *p)
			}
		}
		if min(len(halves[0]), len(halves[1])) < few {
			continue
		}
		c.say("%s: %d rows predicted with %d of its own", name, len(halves[1]), len(halves[0]))
		base := f.Without(independentUnseen, func(p *Prepared) bool { return cell(p) == name })
		for k := range halves {
			own := NewFit(halves[1-k], base, c.Iterations, c.Workers)
			out = append(out, predict(halves[k], own.Params, c.Workers)...)
		}
	}
	return out
}

// predict simulates rows under fitted parameters.
func predict(rows []Prepared, p *Params, workers int) []Compared {
	return (&Predictor{Tune: p.Tuning}).PredictPrepared(rows, workers)
}

// configuration is what a row was measured of, its concurrency left out.
func (r *Row) configuration() string {
	return fmt.Sprint(r.Cell(), r.Precision, r.Input, r.Output, r.Workers, r.Prefill, r.Decode)
}

// fold deals a row's configuration into one of n
// folds: rows of one configuration are never split.
func fold(r *Row, n int) int {
	h := fnv.New64a()
	fmt.Fprint(h, r.configuration())
	return int(h.Sum64() >> 32 % uint64(n)) // the low bits mix badly
}

// namesOf are the names of a kind among rows, in order of first appearance.
func namesOf(rows []Prepared, of func(*Prepared) string) []string {
	var out []string
	for i := range rows {
		if c := of(&rows[i]); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
