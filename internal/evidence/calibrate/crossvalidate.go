package calibrate

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Validated is a fit, and predictions of rows by fits that held them out.
type Validated struct {
	Overlay *calibration.Overlay
	// Unchanged says that the fit did not improve predictions of held-out
	// configurations, so that the base stays as it is.
	Unchanged                         bool
	InSample, ByConfiguration, ByCell []measured.Compared
	// ByLoad says that the rows have one configuration, so that ByConfiguration held out
	// its loads.
	ByLoad bool
	// LeftOut predicts rows by fits that held their kind out, see
	// [Validation.LeaveOut].
	LeftOut []LeftOut
}

// LeftOut is rows predicted by fits that held their kind out.
type LeftOut struct {
	Kind string
	Rows []measured.Compared
}

// Validation says which rows are held out to test a fit.
type Validation struct {
	// Folds, if above one, splits the configurations into so many parts and holds
	// out each in turn, and then each model under an engine on a device generation.
	Folds int
	// LeaveOut, of [Kinds], holds out each model, or the like, in turn.
	LeaveOut []string
}

// kind returns a function that names what of a row can be left out of a fit; nil
// for a word that is not among [Kinds].
func kind(word string) func(*measured.Prepared) string {
	switch word {
	case "engine":
		return func(p *measured.Prepared) string { return p.Row.Engine }
	case lengths:
		return func(p *measured.Prepared) string { return fmt.Sprintf("%d in and %d out", p.Row.Input, p.Row.Output) }
	case "model":
		return func(p *measured.Prepared) string { return p.Subject.Model }
	case "precision":
		return func(p *measured.Prepared) string { return p.Row.Precision }
	case "size":
		return func(p *measured.Prepared) string { return p.Subject.Size }
	case "source":
		return func(p *measured.Prepared) string { return p.Row.Provenance() }
	case "system":
		return func(p *measured.Prepared) string { return p.Row.System }
	}
	return nil
}

// Kinds are the words [Validation.LeaveOut] may be.
func Kinds() []string {
	return []string{"engine", lengths, "model", "precision", "size", "source", "system"}
}

// lengths is the kind that leaves other rows of a cell in a fit.
const lengths = "lengths"

// Calibration is how rows are fitted and the fit tested.
type Calibration struct {
	// Base, if any, stays as it is: only cells are fitted, on top of it.
	Base       *calibration.Overlay
	Iterations int
	Workers    int
	Validation Validation
	// Progress, if not nil, is called when a task begins, and after each of its rows.
	Progress func(task string, done, of int)
}

func (c *Calibration) tell(task string, done, of int) {
	if c.Progress != nil {
		c.Progress(task, done, of)
	}
}

// Run fits rows, and fits them again without parts of them to predict those. It
// ends early, with an error, when ctx does.
func (c *Calibration) Run(ctx context.Context, rows []measured.Prepared) (out Validated, err error) {
	f, err := c.Fit(ctx, rows)
	if err != nil {
		return out, err
	}
	out.Overlay, out.Unchanged = f.Overlay, math.IsInf(f.system.lambda, 1)
	if out.InSample, err = predict(ctx, rows, f.Overlay, c.Workers); err != nil {
		return out, err
	}
	if err := c.crossValidate(ctx, f, &out); err != nil {
		return out, err
	}
	for _, word := range c.Validation.LeaveOut {
		of := kind(word)
		if of == nil {
			continue
		}
		held, err := c.each(ctx, f, of)
		if err != nil {
			return out, err
		}
		out.LeftOut = append(out.LeftOut, LeftOut{word, held})
	}
	return out, nil
}

// configuration and load name those of a row.
func configuration(p *measured.Prepared) string { return p.Row.Configuration() }
func load(p *measured.Prepared) string          { return strconv.Itoa(p.Row.Concurrency) }

// Folds is into how many parts few rows are best split: five, or as many as they have
// configurations, or loads of their only one. Rows that are too few for a test are not.
func Folds(rows []measured.Prepared) int {
	const usual, few = 5, 4
	parts := len(namesOf(rows, configuration))
	if parts == 1 {
		parts = len(namesOf(rows, load))
	}
	if parts = min(usual, parts); parts < 2 || len(rows) < few {
		return 0
	}
	return parts
}

// crossValidate predicts rows by fits that hold out their configuration, and,
// without a base, by fits that hold out their model under their engine on all devices of
// their generation.
func (c *Calibration) crossValidate(ctx context.Context, f *Fit, out *Validated) error {
	n := c.Validation.Folds
	if n < 2 {
		return nil
	}
	part := func(p *measured.Prepared) int { return fold(p.Row, n) }
	if c.Base != nil && len(namesOf(f.rows, configuration)) == 1 {
		loads := namesOf(f.rows, load)
		part = func(p *measured.Prepared) int { return slices.Index(loads, load(p)) % n }
		out.ByLoad = true
	}
	for k := range n {
		held, err := c.hold(ctx, f, fmt.Sprintf("fold %d", k+1), func(p *measured.Prepared) bool { return part(p) == k })
		if err != nil {
			return err
		}
		out.ByConfiguration = append(out.ByConfiguration, held...)
	}
	if c.Base != nil {
		return nil
	}
	var err error
	out.ByCell, err = c.each(ctx, f, func(p *measured.Prepared) string { return p.Subject.Kin() })
	return err
}

// hold predicts rows by a fit that holds them out.
func (c *Calibration) hold(ctx context.Context, f *Fit, name string, out func(*measured.Prepared) bool) ([]measured.Compared, error) {
	var test []measured.Prepared
	for i := range f.rows {
		if out(&f.rows[i]) {
			test = append(test, f.rows[i])
		}
	}
	if len(test) == 0 {
		return nil, nil
	}
	c.tell(fmt.Sprintf("holding out %s (%d rows)", name, len(test)), 0, 0)
	return predict(ctx, test, f.Without(out), c.Workers)
}

// each predicts every row by a fit that holds out its kind.
func (c *Calibration) each(ctx context.Context, f *Fit, of func(*measured.Prepared) string) (out []measured.Compared, err error) {
	names := namesOf(f.rows, of)
	one := *c
	one.Workers = 1
	held := make([][]measured.Compared, len(names))
	err = pool.All(ctx, len(names), c.Workers, func(i int) (err error) {
		held[i], err = one.hold(ctx, f, names[i], func(p *measured.Prepared) bool { return of(p) == names[i] })
		return err
	})
	return slices.Concat(held...), err
}

// predict simulates rows with fitted multipliers.
func predict(ctx context.Context, rows []measured.Prepared, o *calibration.Overlay, workers int) ([]measured.Compared, error) {
	return (&measured.Predictor{Calibration: o}).PredictPrepared(ctx, rows, workers)
}

// fold deals a row's configuration into one of n folds: rows of one configuration are never split.
func fold(r *measured.Row, n int) int {
	h := fnv.New64a()
	fmt.Fprint(h, r.Configuration())
	return int(h.Sum64() >> 32 % uint64(n)) // the low bits mix badly
}

// namesOf are the names of a kind among rows, in order of first appearance.
func namesOf(rows []measured.Prepared, of func(*measured.Prepared) string) []string {
	var out []string
	for i := range rows {
		if c := of(&rows[i]); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
