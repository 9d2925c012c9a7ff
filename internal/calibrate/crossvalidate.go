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
}

// CrossValidate fits a set, and with folds above one also fits it again without
// each part: the configurations dealt into folds, then each cell.
func CrossValidate(s Set, folds, iterations, workers int, progress func(string)) Fitted {
	say := func(format string, a ...any) {
		if progress != nil {
			progress(fmt.Sprintf(format, a...))
		}
	}
	say("%s: fitting %d rows", s.Engine, len(s.Rows))
	f := Fitted{Params: Fit(s.Rows, nil, iterations, workers)}
	f.InSample = predict(s.Rows, f.Params)
	if folds < 2 {
		return f
	}
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
	for k := range folds {
		f.ByConfiguration = append(f.ByConfiguration,
			hold(fmt.Sprintf("fold %d", k+1), func(p *Prepared) bool { return fold(p.Row, folds) == k })...)
	}
	for _, cell := range cellsOf(s.Rows) {
		f.ByCell = append(f.ByCell, hold(cell, func(p *Prepared) bool { return p.Row.Cell() == cell })...)
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

// cellsOf are the cells of rows, in order of first appearance.
func cellsOf(rows []Prepared) []string {
	var out []string
	for i := range rows {
		if c := rows[i].Row.Cell(); !slices.Contains(out, c) {
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
