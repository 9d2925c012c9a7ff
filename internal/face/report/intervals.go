package report

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
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
func intervals(w io.Writer, d *optimize.DeviceResult, p *optimize.Search) {
	t := table.New(1, 2, 3, 4, 5, 6)
	head := table.Row{"Top", "Throughput (token/s)"}
	if p.Mode != search.DecodeOnly {
		head = append(head, "TTFT (ms)")
	}
	if p.Mode != search.PrefillOnly {
		head = append(head, "TPOT (ms)")
	}
	if p.Limited() {
		head = append(head, "within the limits")
	}
	priced := p.Rows[0].Cost > 0
	if priced {
		head = append(head, perMillion)
	}
	t.AppendHeader(head)
	for i, r := range p.Rows[:min(len(p.Rows), mostRows(p))] {
		o, e := &r.Best, &r.Expected
		row := table.Row{strconv.Itoa(i + 1), f2(o.Throughput) + " " + plusMinus(e.Throughput)}
		if p.Mode != search.DecodeOnly {
			row = append(row, f2(o.TTFT.Ms())+" "+plusMinus(e.TTFT))
		}
		if p.Mode != search.PrefillOnly {
			row = append(row, f2(o.TPOT.Ms())+" "+plusMinus(e.TPOT))
		}
		if p.Limited() {
			row = append(row, chance(r.Chance))
		}
		if priced {
			row = append(row, usd(r.Cost))
		}
		t.AppendRow(row)
	}
	fmt.Fprintln(w, "80 % prediction intervals:")
	fmt.Fprintln(w, t.Render())
	fmt.Fprintf(w, "Intervals from %s.\n", p.Rows[0].Expected.Basis)
	if priced {
		fmt.Fprintf(w, "Price: %.2f USD per device-hour (%s).\n", d.Device.Price.USDPerHour, d.Device.Price.Source)
	}
	if more := len(p.Rows) - mostRows(p); more > 0 {
		fmt.Fprintf(w, "%d more layouts meet the limits; JSON and CSV list them.\n", more)
	}
	safeChoice(w, p)
}

// safeChoice warns if the best row is likely to miss its limits, and names a safe choice.
func safeChoice(w io.Writer, p *optimize.Search) {
	if !p.Limited() {
		return
	}
	c := p.Rows[0].Chance
	if c >= calibration.LowChance {
		return
	}
	fmt.Fprintf(w, "Note: the best row meets its limits with a probability of %s; ", chance(c))
	if s := p.Safe; s != nil {
		fmt.Fprintf(w, "the safe choice (%s) is %s at batch %d: %.2f tokens/s.\n", chance(s.Chance), s.Label, s.Best.Batch, s.Best.Throughput)
		return
	}
	fmt.Fprintf(w, "no candidate reaches %s.\n", chance(optimize.Safe))
}

// pairIntervals prints the intervals of matched phases.
func pairIntervals(w io.Writer, d *optimize.DeviceResult, pairs []optimize.Pair) {
	t := table.New(1, 2, 3, 4, 5)
	head := table.Row{"Top", "Balanced QPS", "TTFT (ms)", "TPOT (ms)"}
	if d.Limited() {
		head = append(head, "within the limits")
	}
	t.AppendHeader(head)
	var basis string
	for i := range pairs {
		x := &pairs[i]
		e := &x.Expected
		row := table.Row{
			strconv.Itoa(i + 1), f2(x.Balanced) + " " + plusMinus(e.Throughput),
			f2(x.Prefill.TTFT.Ms()) + " " + plusMinus(e.TTFT), f2(x.Decode.TPOT.Ms()) + " " + plusMinus(e.TPOT),
		}
		if d.Limited() {
			row = append(row, chance(x.Chance))
		}
		t.AppendRow(row)
		if i == 0 {
			basis = e.Basis
		}
	}
	fmt.Fprintln(w, "80 % prediction intervals:")
	fmt.Fprintln(w, t.Render())
	fmt.Fprintf(w, "Intervals from %s.\n", basis)
}

// span prints both ends of the 80 % interval of a time.
func span(e calibration.Error, t units.Seconds) string {
	low, high := e.Times(t)
	return fmt.Sprintf("%s to %s", low, high)
}
