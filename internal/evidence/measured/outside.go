package measured

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
)

// Familiar reports whether a row is from a source of the shipped fit, which names them.
func (r *Row) Familiar() bool { return calibration.Shipped().Familiar(r.Source) }

// Laboratory is who published a row: its source without what follows a colon, the file and the day.
func (r *Row) Laboratory() string {
	name, _, _ := strings.Cut(r.Source, ":")
	return strings.TrimSpace(name)
}

// Provenance names whose row it is: a source of the shipped fit by its name there, others by their laboratory.
func (r *Row) Provenance() string {
	if name := calibration.Shipped().SourceNamed(r.Source); name != "" {
		return name
	}
	if name := r.Laboratory(); name != "" {
		return name
	}
	return "a source without a name"
}

// rig is whose machine a row was measured on, "" where the recipes are known or nothing is said of the source.
func (r *Row) rig() string {
	if r.Familiar() {
		return ""
	}
	return r.Laboratory()
}

// OutsideGroup is how far rows of sources outside the fit err beyond the intervals of familiar ones, at loads of one range.
type OutsideGroup struct {
	Load string `json:"load"`
	calibration.Outside
	// Held is the share of rows inside their intervals when those were widened by what the rows of all other laboratories ask
	// for, Before the share inside the intervals of familiar rows: TTFT, TPOT and throughput, NaN without any.
	Before, Held [3]float64 `json:"-"`
}

// outside reports whether a row tells of sources outside the fit: a clean one of a laboratory that the fit has none of. Drafts whose acceptance
// is unknown are usual there, and lengths of which only the means are known; those rows tell of TTFT alone, for their
// longest answers decide what a run takes.
func (c *Compared) outside() bool {
	switch c.Row.Quality {
	case "", meanLengths, markSpeculative:
		return c.Pred.Err == nil && !c.Row.Familiar()
	}
	return false
}

// FromOutside finds, for the rows of laboratories that the fit has none of, the standard deviations to add to the errors of
// familiar rows so that 80 % of them lie inside, by vendor or load.
func FromOutside(o *calibration.Overlay, rows []Compared) []OutsideGroup {
	groups := map[string][]outlying{}
	for i := range rows {
		c := &rows[i]
		if !c.outside() {
			continue
		}
		about := c.Pred.Case
		about.Familiar, about.Defaulted = true, nil // that settings are unknown is part of the error
		e := o.Expect(&about)
		x := outlying{laboratory: c.Row.Laboratory()}
		expected := Compared{Row: c.Row, Pred: c.Pred, Expected: e}
		for k, q := range []Quantity{TTFT, TPOT, PerGPU} {
			says, is, width := q.Of(&expected)
			x.off[k], x.half[k] = math.NaN(), (width.High-width.Low)/2
			if says > 0 && is > 0 && (q == TTFT || c.Row.Quality != meanLengths) {
				x.off[k] = math.Abs(math.Log(is / says))
			}
		}
		groups[about.OutsideKey()] = append(groups[about.OutsideKey()], x)
	}
	out := make([]OutsideGroup, 0, len(groups))
	for load, rows := range groups {
		out = append(out, missingOf(load, rows))
	}
	slices.SortFunc(out, func(a, b OutsideGroup) int { return cmp.Compare(a.Load, b.Load) })
	return out
}

// meanLengths marks rows whose prompts and answers are those of ShareGPT.
const meanLengths = "sharegpt"

// outlying is how far a row lies from its prediction, and half its interval, in logarithms.
type outlying struct {
	laboratory string
	off, half  [3]float64
}

func missingOf(load string, rows []outlying) OutsideGroup {
	var names []string
	for _, x := range rows {
		names = append(names, x.laboratory)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	out := OutsideGroup{Load: load, Outside: calibration.Outside{Rows: len(rows), Sources: len(names)}}
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
