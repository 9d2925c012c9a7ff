package deployments

import (
	"context"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Validated is a fit, and predictions of rows by fits that held them out.
type Validated struct {
	Overlay                           *calibration.Overlay
	InSample, ByConfiguration, ByCell []measured.Compared
	// LeftOut predicts rows by fits that held out what [Fitting.LeaveOut] names.
	LeftOut []LeftOut
}

// LeftOut is rows predicted by fits that held their kind out.
type LeftOut struct {
	Kind string
	Rows []measured.Compared
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

// Kinds are the words [Fitting.LeaveOut] may be.
func Kinds() []string {
	return []string{"engine", lengths, "model", "precision", "size", "source", "system"}
}

// lengths is the kind that leaves other rows of a cell in a fit.
const lengths = "lengths"

// Run fits rows, and fits them again without parts of them to predict those. It
// ends early, with an error, when ctx does.
func (c *Fitting) Run(ctx context.Context, rows []measured.Prepared) (out Validated, err error) {
	f, err := c.Fit(ctx, rows)
	if err != nil {
		return out, err
	}
	out.Overlay = f.Overlay
	if out.InSample, err = c.Predict(ctx, rows, f.Overlay); err != nil {
		return out, err
	}
	if c.Folds > 1 {
		part := func(p *measured.Prepared) int { return calibrate.Fold(p.Row, c.Folds) }
		if out.ByConfiguration, err = c.HoldFolds(ctx, c.Folds, rows, part, f.Without); err != nil {
			return out, err
		}
		if out.ByCell, err = c.each(ctx, f, func(p *measured.Prepared) string { return p.Subject.Kin() }); err != nil {
			return out, err
		}
	}
	for _, word := range c.LeaveOut {
		of := kind(word)
		if of == nil {
			return out, fmt.Errorf("%q cannot be left out: want one of %v", word, Kinds())
		}
		held, err := c.each(ctx, f, of)
		if err != nil {
			return out, err
		}
		out.LeftOut = append(out.LeftOut, LeftOut{word, held})
	}
	return out, nil
}

// each predicts every row by a fit that holds out its kind.
func (c *Fitting) each(ctx context.Context, f *Fit, of func(*measured.Prepared) string) (out []measured.Compared, err error) {
	names := calibrate.NamesOf(f.rows, of)
	one := c.Work
	one.Workers = 1
	held := make([][]measured.Compared, len(names))
	err = pool.All(ctx, len(names), c.Workers, func(i int) (err error) {
		held[i], err = one.Hold(ctx, names[i], f.rows, func(p *measured.Prepared) bool { return of(p) == names[i] }, f.Without)
		return err
	})
	return slices.Concat(held...), err
}
