package report

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// plusMinus prints an 80 % interval relative to the prediction: "±9 %", both sides if they differ by more than a fifth,
// factors if it is wide.
func plusMinus(e calibration.Error) string {
	const wide, same = 100, 0.2
	low, high := e.Interval(1)
	below, above := 100*(1-low), 100*(high-1)
	switch {
	case above > wide:
		return fmt.Sprintf("×%.2f…%.2f", low, high)
	case math.Abs(below-above) <= max(2, same*above) && below > 0:
		return fmt.Sprintf("±%.0f %%", (below+above)/2)
	}
	return fmt.Sprintf("%+.0f…%+.0f %%", -below, above)
}

// perMillion heads the price of a million tokens.
const perMillion = "USD per million tokens"

// usd prints an amount with three digits.
func usd(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

// chance prints a probability in percent, never more certain than 1 in 100.
func chance(p float64) string {
	switch percent := math.Round(100 * p); {
	case percent < 1:
		return "< 1 %"
	case percent > 99:
		return "> 99 %"
	default:
		return fmt.Sprintf("%.0f %%", percent)
	}
}

// intervals prints the intervals of a search's rows below their table, which has the vendor's columns.
func intervals(w io.Writer, d *optimize.Device, p *optimize.Search) {
	priced := p.Rows[0].Cost != nil
	t := tableOf(p.Rows[:min(len(p.Rows), mostRows(p))], rank[optimize.Row](">Top"),
		when(true, column[optimize.Row]{">Throughput (token/s)", func(_ int, r *optimize.Row) any { return ranged(r.Best.Throughput, r.Expected.Throughput) }}),
		when(p.Mode != search.DecodeOnly, column[optimize.Row]{">TTFT (ms)", func(_ int, r *optimize.Row) any { return ranged(r.Best.TTFT.Ms(), r.Expected.TTFT) }}),
		when(p.Mode != search.PrefillOnly, column[optimize.Row]{">TPOT (ms)", func(_ int, r *optimize.Row) any { return ranged(r.Best.TPOT.Ms(), r.Expected.TPOT) }}),
		when(p.Limited(), column[optimize.Row]{">within the limits", func(_ int, r *optimize.Row) any { return chance(*r.Judged.Chance) }}),
		when(priced, column[optimize.Row]{">" + perMillion, func(_ int, r *optimize.Row) any { return usd(*r.Cost) }}))
	fmt.Fprintf(w, "80 %% prediction intervals:\n%s\n", t)
	fmt.Fprintf(w, "Intervals from %s.\n", p.Rows[0].Expected.Basis)
	if priced {
		fmt.Fprintf(w, "Price: %.2f USD per device-hour (%s).\n", d.Price.USDPerHour, d.Price.Source)
	}
	if more := len(p.Rows) - mostRows(p); more > 0 {
		fmt.Fprintf(w, "%d more layouts meet the limits; JSON and CSV list them.\n", more)
	}
	safeChoice(w, p)
	silicon(w, p)
}

// silicon prints what the best row reaches where it runs.
func silicon(w io.Writer, p *optimize.Search) {
	s := p.Silicon
	if s == nil {
		return
	}
	fmt.Fprintf(w, "On silicon: row 1 is expected to reach %s tokens/s", ranging(s.Tokens))
	fmt.Fprintf(w, " with TTFT %s", ranging(*s.Judged.TTFT))
	if s.Judged.TPOT != nil {
		fmt.Fprintf(w, " and TPOT %s", ranging(*s.Judged.TPOT))
	}
	fmt.Fprintf(w, " ms (80 %%), simulated under %s with times of measured kernels; intervals from %s.\n", s.Engine, s.Basis)
}

// ranging prints a figure and both ends of its interval.
func ranging(x figures.Estimate) string {
	return f2(x.Value) + " (" + f2(x.Low) + " to " + f2(x.High) + ")"
}

// safeChoice warns if the best row is likely to miss its limits, and names a safe choice.
func safeChoice(w io.Writer, p *optimize.Search) {
	if !p.Limited() {
		return
	}
	c := *p.Rows[0].Judged.Chance
	if c >= calibration.LowChance {
		return
	}
	fmt.Fprintf(w, "Note: the best row meets its limits with a probability of %s; ", chance(c))
	if s := p.Safe; s != nil {
		fmt.Fprintf(w, "the safe choice (%s) is %s at batch %d: %.2f tokens/s.\n", chance(s.Chance), s.Label, s.Batch, s.Throughput)
		return
	}
	fmt.Fprintf(w, "no candidate reaches %s.\n", chance(optimize.SafeChance))
}

// pairIntervals prints the intervals of matched phases.
func pairIntervals(w io.Writer, d *optimize.Device, pairs []optimize.Pair) {
	t := tableOf(pairs, rank[optimize.Pair](">Top"), []column[optimize.Pair]{
		{">Balanced QPS", func(_ int, x *optimize.Pair) any { return ranged(x.Balanced, x.Expected.Throughput) }},
		{">TTFT (ms)", func(_ int, x *optimize.Pair) any { return ranged(x.P.Best.TTFT.Ms(), x.Expected.TTFT) }},
		{">TPOT (ms)", func(_ int, x *optimize.Pair) any { return ranged(x.D.Best.TPOT.Ms(), x.Expected.TPOT) }},
	}, when(d.Limited(), column[optimize.Pair]{">within the limits", func(_ int, x *optimize.Pair) any { return chance(*x.Chance) }}))
	fmt.Fprintf(w, "80 %% prediction intervals:\n%s\nIntervals from %s.\n", t, pairs[0].Expected.Basis)
}

// ranged prints a figure with its interval.
func ranged(x float64, e calibration.Error) string { return f2(x) + " " + plusMinus(e) }
