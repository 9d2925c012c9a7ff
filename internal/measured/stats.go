package measured

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	"plimsoll/internal/calibration"
	"plimsoll/internal/pool"
	"plimsoll/internal/quantile"
	"plimsoll/internal/units"
)

// Compared is a row with its prediction.
type Compared struct {
	Row  *Row
	Pred Prediction
	// Expected are the errors to expect of it.
	Expected calibration.Expected
}

// PredictAll predicts every row with a number of workers; results come in the
// order of the rows.
func (p *Predictor) PredictAll(ctx context.Context, rows []Row, workers int) ([]Compared, error) {
	out := make([]Compared, len(rows))
	var mu sync.Mutex
	done := 0
	err := pool.Each(ctx, len(rows), workers, func(i int) {
		out[i] = Compared{Row: &rows[i], Pred: p.Predict(ctx, &rows[i])}
		if p.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			p.Progress(done)
		}
	})
	return out, err
}

// PredictPrepared is PredictAll for prepared rows.
func (p *Predictor) PredictPrepared(ctx context.Context, rows []Prepared, workers int) ([]Compared, error) {
	out := make([]Compared, len(rows))
	err := pool.Each(ctx, len(rows), workers, func(i int) {
		out[i] = Compared{Row: rows[i].Row, Pred: rows[i].Simulate(ctx, p.multipliers(&rows[i]))}
	})
	return out, err
}

// Both reports whether the row and its prediction can be compared.
func (c *Compared) Both() bool {
	return c.Pred.Err == nil && c.Row.TTFT > 0 && c.Row.TPOT > 0 && c.Pred.TTFT > 0 && c.Pred.TPOT > 0
}

// ClosedLoop is the output tokens per second of a closed loop whose requests
// take these times: files of measurements give no throughput.
func (r *Row) ClosedLoop(ttft, tpot units.Seconds) float64 {
	output := float64(r.Output) * (1 + r.LengthLow) / 2
	return float64(r.Concurrency) * output / float64(ttft+tpot*units.Seconds(output-1))
}

// Expect sets the errors to expect of predictions.
func Expect(o *calibration.Overlay, rows []Compared) {
	for i := range rows {
		rows[i].Expected = o.Expect(&rows[i].Pred.Case)
	}
}

// Coverage is the share of rows whose measured TTFT and TPOT lie in the 80 %
// intervals around their predictions; NaN of none.
func Coverage(rows []Compared) (ttft, tpot float64) {
	var n, inTTFT, inTPOT float64
	in := func(e calibration.Error, predicted, measured units.Seconds) float64 {
		if low, high := e.Times(predicted); measured >= low && measured <= high {
			return 1
		}
		return 0
	}
	for i := range rows {
		c := &rows[i]
		if c.Pred.Err != nil || c.Row.TTFT <= 0 || c.Row.TPOT <= 0 {
			continue
		}
		n++
		inTTFT += in(c.Expected.TTFT, c.Pred.TTFT, c.Row.TTFT)
		inTPOT += in(c.Expected.TPOT, c.Pred.TPOT, c.Row.TPOT)
	}
	return inTTFT / n, inTPOT / n
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
	g.TTFT, g.TPOT = SummarizeRatios(ttft), SummarizeRatios(tpot)
	return g
}

func appendRatio(to []float64, predicted, measured units.Seconds) []float64 {
	if predicted <= 0 || measured <= 0 {
		return to
	}
	return append(to, float64(predicted/measured))
}

// SummarizeRatios turns ratios of predicted to measured into error figures.
func SummarizeRatios(ratios []float64) Errors {
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
	of := quantile.Of(ape, 0.5, 0.9)
	return Errors{Rows: n, MAPE: sum / float64(n), MedianAPE: of[0], P90: of[1], Bias: quantile.Of(log, 0.5)[0]}
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
