package calibrate

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"plimsoll/internal/units"
)

// Compared is a row with its prediction.
type Compared struct {
	Row  *Row
	Pred Prediction
}

// PredictAll predicts every row with a number of workers; results come in the
// order of the rows.
func (p *Predictor) PredictAll(rows []Row, workers int) []Compared {
	out := make([]Compared, len(rows))
	inParallel(len(rows), workers, func(i int) { out[i] = Compared{&rows[i], p.Predict(&rows[i])} })
	return out
}

// PredictPrepared is PredictAll for prepared rows.
func (p *Predictor) PredictPrepared(rows []Prepared, workers int) []Compared {
	out := make([]Compared, len(rows))
	inParallel(len(rows), workers, func(i int) { out[i] = Compared{rows[i].Row, rows[i].Simulate(p.tuning(&rows[i]))} })
	return out
}

// Errors sums up the relative errors of one quantity.
type Errors struct {
	Rows      int     `json:"rows"`
	MAPE      float64 `json:"mape"`
	MedianAPE float64 `json:"median_ape"`
	P90       float64 `json:"p90"`
	Bias      float64 `json:"bias"` // median of ln(predicted/measured)
}

// Group is the errors of a set of rows.
type Group struct {
	Name      string `json:"name,omitempty"`
	Rows      int    `json:"rows"`
	Predicted int    `json:"predicted"`
	Clean     int    `json:"clean"`
	TTFT      Errors `json:"ttft"`
	TPOT      Errors `json:"tpot"`
}

// Summarize sums up a set of rows.
func Summarize(name string, rows []Compared) Group {
	g := Group{Name: name, Rows: len(rows)}
	var ttft, tpot []float64
	for i := range rows {
		c := &rows[i]
		if c.Row.Quality == "" {
			g.Clean++
		}
		if c.Pred.Err != nil {
			continue
		}
		g.Predicted++
		ttft = appendRatio(ttft, c.Pred.TTFT, c.Row.TTFT)
		tpot = appendRatio(tpot, c.Pred.TPOT, c.Row.TPOT)
	}
	g.TTFT, g.TPOT = summarize(ttft), summarize(tpot)
	return g
}

func appendRatio(to []float64, predicted, measured units.Seconds) []float64 {
	if predicted <= 0 || measured <= 0 {
		return to
	}
	return append(to, float64(predicted/measured))
}

// summarize turns ratios of predicted to measured into error figures.
func summarize(ratios []float64) Errors {
	n := len(ratios)
	if n == 0 {
		return Errors{}
	}
	ape, log := make([]float64, n), make([]float64, n)
	sum := 0.0
	for i, r := range ratios {
		ape[i], log[i] = math.Abs(r-1), math.Log(r)
		sum += ape[i]
	}
	slices.Sort(ape)
	slices.Sort(log)
	return Errors{
		Rows: n, MAPE: sum / float64(n), MedianAPE: quantile(ape, 0.5), P90: quantile(ape, 0.9), Bias: quantile(log, 0.5),
	}
}

// quantile interpolates between the neighbours in a sorted slice.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Part is the rows that have something in common, and its name.
type Part struct {
	Name string
	Rows []Compared
}

// By divides rows by a key, in order of the keys.
func By(rows []Compared, key func(*Row) string) []Part {
	sets := map[string][]Compared{}
	var names []string
	for _, c := range rows {
		k := key(c.Row)
		if _, ok := sets[k]; !ok {
			names = append(names, k)
		}
		sets[k] = append(sets[k], c)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, errA := strconv.Atoi(a)
		y, errB := strconv.Atoi(b)
		if errA == nil && errB == nil {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a, b)
	})
	out := make([]Part, len(names))
	for i, n := range names {
		out[i] = Part{n, sets[n]}
	}
	return out
}

// Defaulted is a column that was missing or empty, and in how many rows.
type Defaulted struct {
	Column string `json:"column"`
	Rows   int    `json:"rows"`
}

// DefaultedColumns counts the columns that took defaults, by name.
func DefaultedColumns(rows []Compared) []Defaulted {
	counts := map[string]int{}
	for i := range rows {
		for _, column := range rows[i].Row.Defaulted {
			counts[column]++
		}
	}
	out := []Defaulted{}
	for _, column := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, Defaulted{column, counts[column]})
	}
	return out
}

// OfMode keeps the rows of a mode.
func OfMode(rows []Compared, mode string) []Compared {
	return slices.DeleteFunc(slices.Clone(rows), func(c Compared) bool { return c.Row.Mode != mode })
}

// Clean keeps the rows without a mark on their quality.
func Clean(rows []Compared) []Compared {
	return slices.DeleteFunc(slices.Clone(rows), func(c Compared) bool { return c.Row.Quality != "" })
}
