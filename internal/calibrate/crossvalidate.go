package calibrate

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"plimsoll/internal/units"
)

// Set is the rows of one engine, prepared.
type Set struct {
	Engine string
	Rows   []Prepared
}

// ByEngine prepares the clean aggregated rows that can be predicted, by engine
// in order of name.
func ByEngine(p *Predictor, rows []Row) []Set {
	sets := map[string][]Prepared{}
	for i := range rows {
		r := &rows[i]
		if r.Quality != "" || r.Mode != "agg" {
			continue
		}
		if q := p.Prepare(r); q.Err == nil {
			sets[r.Engine] = append(sets[r.Engine], q)
		}
	}
	var out []Set
	for name, rows := range sets {
		out = append(out, Set{name, rows})
	}
	slices.SortFunc(out, func(a, b Set) int {
		if a.Engine < b.Engine {
			return -1
		}
		return 1
	})
	return out
}

// Fitted is a fit of one engine with its cross-validated predictions.
type Fitted struct {
	Params                            *Params
	InSample, ByConfiguration, ByCell []Compared
	// LeftOut predicts rows by fits without their kind, see [Validation.LeaveOut].
	LeftOut []Compared
}

// Validation says how a fit is tried on rows it has not seen.
type Validation struct {
	// Folds, if above one, fits again without each part of the configurations
	// dealt into so many, and without each cell.
	Folds int
	// LeaveOut, one of [Kinds], fits again without each model, or the like.
	LeaveOut string
}

// kind returns a function that names what of a row can be left out of a fit; nil
// for a word that is not among [Kinds].
func kind(word string) func(*Row) string {
	switch word {
	case "lengths":
		return func(r *Row) string { return fmt.Sprintf("%d in and %d out", r.Input, r.Output) }
	case "model":
		return func(r *Row) string { return r.Model }
	case "precision":
		return func(r *Row) string { return r.Precision }
	case "system":
		return func(r *Row) string { return r.System }
	}
	return nil
}

// Kinds are the words [Validation.LeaveOut] may be.
func Kinds() []string { return []string{"lengths", "model", "precision", "system"} }

// CrossValidate fits a set, and fits it again without parts of it to predict
// those.
func CrossValidate(s Set, v Validation, iterations, workers int, progress func(string)) Fitted {
	say := func(format string, a ...any) {
		if progress != nil {
			progress(fmt.Sprintf(format, a...))
		}
	}
	say("%s: fitting %d rows", s.Engine, len(s.Rows))
	f := Fitted{Params: Fit(s.Rows, nil, iterations, workers)}
	f.InSample = predict(s.Rows, f.Params)
	hold := func(name string, out func(*Prepared) bool) []Compared {
		var train, test []Prepared
		for i := range s.Rows {
			if out(&s.Rows[i]) {
				test = append(test, s.Rows[i])
			} else {
				train = append(train, s.Rows[i])
			}
		}
		if len(test) == 0 {
			return nil
		}
		say("%s: without %s (%d rows)", s.Engine, name, len(test))
		return predict(test, Fit(train, f.Params, max(2, iterations-2), workers))
	}
	each := func(of func(*Row) string) (out []Compared) {
		for _, name := range namesOf(s.Rows, of) {
			out = append(out, hold(name, func(p *Prepared) bool { return of(p.Row) == name })...)
		}
		return out
	}
	if v.Folds > 1 {
		for k := range v.Folds {
			f.ByConfiguration = append(f.ByConfiguration,
				hold(fmt.Sprintf("fold %d", k+1), func(p *Prepared) bool { return fold(p.Row, v.Folds) == k })...)
		}
		f.ByCell = each((*Row).Cell)
	}
	if of := kind(v.LeaveOut); of != nil {
		f.LeftOut = each(of)
	}
	return f
}

// predict simulates rows under fitted parameters.
func predict(rows []Prepared, p *Params) []Compared {
	out := make([]Compared, len(rows))
	for i := range rows {
		out[i] = Compared{rows[i].Row, rows[i].Simulate(p.Tuning(rows[i].Generation))}
	}
	return out
}

// fold deals a row's configuration, its concurrency left out, into one of n
// folds: rows of one configuration are never split.
func fold(r *Row, n int) int {
	h := fnv.New64a()
	fmt.Fprint(h, r.Cell(), r.Precision, r.Input, r.Output, r.TP, r.DP, r.MoETP, r.MoEEP)
	return int(h.Sum64() >> 32 % uint64(n)) // the low bits mix badly
}

// namesOf are the names of a kind among rows, in order of first appearance.
func namesOf(rows []Prepared, of func(*Row) string) []string {
	var out []string
	for i := range rows {
		if c := of(rows[i].Row); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// Spread is the robust standard deviation of the logarithmic errors of rows: the
// half-width that holds 80 % of them, over that of a normal distribution.
func Spread(rows []Compared) Residual {
	var ttft, tpot []float64
	for i := range rows {
		c := &rows[i]
		if c.Pred.Err != nil {
			continue
		}
		ttft = appendLog(ttft, c.Pred.TTFT, c.Row.TTFT)
		tpot = appendLog(tpot, c.Pred.TPOT, c.Row.TPOT)
	}
	spread := func(x []float64) float64 {
		if len(x) == 0 {
			return 0
		}
		slices.Sort(x)
		return math.Round(1e4*quantile(x, 0.8)/normal80) / 1e4
	}
	return Residual{TTFT: spread(ttft), TPOT: spread(tpot)}
}

func appendLog(to []float64, predicted, measured units.Seconds) []float64 {
	if predicted <= 0 || measured <= 0 {
		return to
	}
	return append(to, math.Abs(math.Log(float64(predicted/measured))))
}
