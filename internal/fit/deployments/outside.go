package deployments

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Outside is how far rows of sources outside the fit err beyond the intervals of familiar ones, at loads of one range.
type Outside struct {
	Load string
	calibration.Outside
	// Held is the share of rows inside their intervals when those were widened by what the rows of all other laboratories ask
	// for, Before the share inside the intervals of familiar rows: TTFT, TPOT and throughput, NaN without any.
	Before, Held [3]float64
}

// outside reports whether a row tells of sources outside the fit: a clean one of a laboratory that the fit has none of. Drafts whose acceptance
// is unknown are usual there, and lengths of which only the means are known; those rows tell of TTFT alone, for their
// longest answers decide what a run takes.
func outside(c *measured.Compared) bool {
	switch c.Row.Quality {
	case "", meanLengths, measured.MarkSpeculative:
		return c.Pred.Err == nil && !c.Row.Familiar()
	}
	return false
}

// FromOutside finds, for the rows of laboratories that the fit has none of, the standard deviations to add to the errors of
// familiar rows so that 80 % of them lie inside, by vendor or load.
func FromOutside(o *calibration.Overlay, rows []measured.Compared) []Outside {
	groups := map[string][]outlying{}
	for i := range rows {
		c := &rows[i]
		if !outside(c) {
			continue
		}
		about := c.Pred.Case
		about.Familiar, about.Defaulted = true, nil // that settings are unknown is part of the error
		e := o.Expect(&about)
		x := outlying{laboratory: c.Row.Laboratory()}
		expected := measured.Compared{Row: c.Row, Pred: c.Pred, Expected: e}
		for k, q := range []measured.Quantity{measured.TTFT, measured.TPOT, measured.PerGPU} {
			says, is, width := q.Of(&expected)
			x.off[k], x.half[k] = math.NaN(), (width.High-width.Low)/2
			if says > 0 && is > 0 && (q == measured.TTFT || c.Row.Quality != meanLengths) {
				x.off[k] = math.Abs(math.Log(is / says))
			}
		}
		groups[about.OutsideKey()] = append(groups[about.OutsideKey()], x)
	}
	out := make([]Outside, 0, len(groups))
	for load, rows := range groups {
		out = append(out, missingOf(load, rows))
	}
	slices.SortFunc(out, func(a, b Outside) int { return cmp.Compare(a.Load, b.Load) })
	return out
}

// meanLengths marks rows whose prompts and answers are those of ShareGPT.
const meanLengths = "sharegpt"

// outlying is how far a row lies from its prediction, and half its interval, in logarithms.
type outlying struct {
	laboratory string
	off, half  [3]float64
}

func missingOf(load string, rows []outlying) Outside {
	var names []string
	for _, x := range rows {
		names = append(names, x.laboratory)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	out := Outside{Load: load, Outside: calibration.Outside{Rows: len(rows), Sources: len(names)}}
	for k, to := range []*float64{&out.TTFT, &out.TPOT, &out.Throughput} {
		*to = math.Round(1e3*missing(rows, k)) / 1e3
		out.Before[k] = inside(rows, k, 0)
		held, n := 0.0, 0.0
		for _, name := range names {
			own, others := divide(rows, name)
			if share := inside(own, k, missing(others, k)); !math.IsNaN(share) {
				some := float64(len(slices.DeleteFunc(own, func(x outlying) bool { return math.IsNaN(x.off[k]) })))
				held, n = held+share*some, n+some
			}
		}
		out.Held[k] = held / n
	}
	return out
}

// divide separates the rows of a laboratory from all others.
func divide(rows []outlying, laboratory string) (own, others []outlying) {
	for _, x := range rows {
		if x.laboratory == laboratory {
			own = append(own, x)
		} else {
			others = append(others, x)
		}
	}
	return own, others
}

// inside is the share of rows within their intervals, widened by a standard deviation; NaN of none.
func inside(rows []outlying, k int, sigma float64) float64 {
	n, in := 0.0, 0.0
	for _, x := range rows {
		if math.IsNaN(x.off[k]) {
			continue
		}
		n++
		if x.off[k] <= calibration.Widened(x.half[k], sigma) {
			in++
		}
	}
	return in / n
}

// missing is the standard deviation by which intervals must widen to hold 80 % of the rows.
func missing(rows []outlying, k int) float64 {
	const wanted, most, steps = 0.8, 3, 30
	low, high := 0.0, float64(most)
	if !(inside(rows, k, 0) < wanted) {
		return 0
	}
	for range steps {
		if middle := (low + high) / 2; inside(rows, k, middle) < wanted {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
