package measured

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
)

// Compared is a row with its prediction.
type Compared struct {
	Row  *Row
	Pred Prediction
	// Expected are the errors to expect of it.
	Expected calibration.Expected
	// Joules is the error to expect of its joules per output token.
	Joules calibration.Error
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
	return out, cmp.Or(err, ctx.Err()) // a prediction may have ended early
}

// PredictPrepared is PredictAll for prepared rows.
func (p *Predictor) PredictPrepared(ctx context.Context, rows []Prepared, workers int) ([]Compared, error) {
	out := make([]Compared, len(rows))
	err := pool.Each(ctx, len(rows), workers, func(i int) {
		out[i] = Compared{Row: rows[i].Row, Pred: rows[i].Simulate(ctx, p.multipliers(&rows[i]))}
	})
	return out, cmp.Or(err, ctx.Err())
}

// Comparable reports whether the row and its prediction have a TPOT, and beside it a TTFT
// or a throughput.
func (c *Compared) Comparable() bool {
	return c.Pred.Err == nil && c.Row.TPOT > 0 && c.Pred.TPOT > 0 && c.Pred.TTFT > 0 && (c.Row.TTFT > 0 || c.Row.PerGPU > 0)
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
		c := &rows[i].Pred.Case
		rows[i].Expected = o.Expect(c)
		rows[i].Joules = calibration.ExpectJoules(&c.Subject, rows[i].Pred.Energy.Tier)
	}
}

// Quantity is what is measured and predicted.
type Quantity string

// The quantities, in the order they are shown.
const (
	TTFT         Quantity = "ttft"
	TPOT         Quantity = "tpot"
	PerGPU       Quantity = "tput_per_gpu"
	Joules       Quantity = "joules_per_output_token"
	TTFTEstimate Quantity = "ttft_estimate" // where only an estimate was published
)

// Quantities lists them.
func Quantities() []Quantity { return []Quantity{TTFT, TPOT, PerGPU, Joules, TTFTEstimate} }

// Of is a row's predicted and measured value, zero where it has none, and the error to
// expect.
func (q Quantity) Of(c *Compared) (predicted, is float64, e calibration.Error) {
	switch q {
	case TTFT:
		return float64(c.Pred.TTFT), float64(c.Row.TTFT), c.Expected.TTFT
	case TPOT:
		return float64(c.Pred.TPOT), float64(c.Row.TPOT), c.Expected.TPOT
	case PerGPU:
		return c.Pred.PerGPU, c.Row.PerGPU, c.Expected.Throughput
	case TTFTEstimate:
		return float64(c.Pred.TTFTMean), float64(c.Row.TTFTEstimate), c.Expected.TTFT
	case Joules:
	}
	return float64(c.Pred.Energy.PerToken), c.Row.Joules, c.Joules
}

// Coverage is the share of rows whose measured value lies in the 80 % interval around
// its prediction; NaN of none.
func (q Quantity) Coverage(rows []Compared) float64 {
	var n, in float64
	for i := range rows {
		c := &rows[i]
		predicted, is, e := q.Of(c)
		if c.Pred.Err != nil || is <= 0 {
			continue
		}
		n++
		if low, high := e.Interval(predicted); is >= low && is <= high {
			in++
		}
	}
	return in / n
}

// Errors is the errors of a quantity over rows.
func (q Quantity) Errors(rows []Compared) Errors {
	var ratios []float64
	for i := range rows {
		predicted, is, _ := q.Of(&rows[i])
		if rows[i].Pred.Err == nil && predicted > 0 && is > 0 {
			ratios = append(ratios, predicted/is)
		}
	}
	return SummarizeRatios(ratios)
}

// Coverage is that of TTFT and TPOT.
func Coverage(rows []Compared) (ttft, tpot float64) {
	return TTFT.Coverage(rows), TPOT.Coverage(rows)
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
	for i := range rows {
		c := &rows[i]
		if c.Row.Quality == "" {
			g.Clean++
		}
		if c.Pred.Err == nil {
			g.Predicted++
		}
	}
	g.TTFT, g.TPOT = TTFT.Errors(rows), TPOT.Errors(rows)
	return g
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

// MarkSpeculative is the mark on rows that draft tokens and are otherwise clean.
const MarkSpeculative = "mtp"

// Speculative keeps the rows whose only mark is that they draft tokens.
func Speculative(rows []Compared) []Compared {
	return slices.DeleteFunc(slices.Clone(rows), func(c Compared) bool { return c.Row.Quality != MarkSpeculative })
}

// Counted is a word and in how many rows it occurs.
type Counted struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
}

// Count counts the words of predictions, the most frequent first, those alike in order
// of their first row.
func Count(rows []Compared, of func(*Prediction) []string) []Counted {
	at := map[string]int{}
	out := []Counted{}
	for i := range rows {
		for _, name := range of(&rows[i].Pred) {
			k, ok := at[name]
			if !ok {
				k = len(out)
				at[name] = k
				out = append(out, Counted{Name: name})
			}
			out[k].Rows++
		}
	}
	slices.SortStableFunc(out, func(a, b Counted) int { return cmp.Compare(b.Rows, a.Rows) })
	return out
}
