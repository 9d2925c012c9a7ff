package measured

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Choice is a layout chosen by predictions among those that were measured under
// the same conditions, at one interactivity.
type Choice struct {
	Group string `json:"group"`
	// Interactivity is tokens per second that a user gets: 1/TPOT.
	Interactivity float64 `json:"tokens_per_s_per_user"`
	Layouts       int     `json:"layouts"` // to choose among
	Chosen        string  `json:"chosen"`
	Best          string  `json:"best"` // as measured
	// Regret is the share of the best layout's measured throughput per device
	// that the chosen one lacks.
	Regret float64 `json:"regret"`
	// Random is the expected regret of a random choice.
	Random float64 `json:"blind_regret"`
}

// point is one load of a layout: tokens per second per user and per device.
type point struct {
	concurrency       int
	user, device      float64 // measured
	predUser, predDev float64
}

// Regrets chooses, for every group of clean aggregated rows that differ only in
// layout and load, the layout with the highest predicted throughput at each
// measured interactivity that at least two layouts reach, and computes the regret
// of that choice. Throughput between two loads is interpolated. Of rows without a TTFT it
// is that of the whole run, input included: those are groups of their own.
func Regrets(rows []Compared) []Choice {
	const byTimes, byRuns = "1", "2" // a key begins with one, so that groups sort by it
	groups := map[string]map[string][]point{}
	for i := range rows {
		c := &rows[i]
		r := c.Row
		if r.Mode != aggregated || r.Quality != "" || c.Pred.Err != nil || r.TTFT <= 0 && r.PerGPU <= 0 || r.TPOT <= 0 {
			continue
		}
		kind, is, says := byTimes, r.perDevice(r.TTFT, r.TPOT), r.perDevice(c.Pred.TTFT, c.Pred.TPOT)
		if r.TTFT <= 0 {
			kind, is, says = byRuns, r.PerGPU, c.Pred.PerGPU
		}
		key := kind + fmt.Sprintf("%s %s · %s · %s %s · %d in, %d out · %g %s", r.Engine, r.Version, r.System, r.Model, r.Precision, r.Input, r.Output, r.LengthLow, r.KV)
		layout := fmt.Sprintf("TP=%d DP=%d EP=%d", r.TP, r.DP, r.MoEEP)
		if groups[key] == nil {
			groups[key] = map[string][]point{}
		}
		groups[key][layout] = append(groups[key][layout], point{
			r.Concurrency, 1 / float64(r.TPOT), is, 1 / float64(c.Pred.TPOT), says,
		})
	}
	var out []Choice
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		if len(groups[key]) > 1 {
			out = append(out, choices(key[len(byRuns):], groups[key])...)
		}
	}
	return out
}

// perDevice is the tokens a device of a closed loop generates per second.
func (r *Row) perDevice(ttft, tpot units.Seconds) float64 {
	return r.ClosedLoop(ttft, tpot) / float64(r.total())
}

// choices are those at every interactivity measured in a group.
func choices(key string, layouts map[string][]point) []Choice {
	names := slices.Sorted(maps.Keys(layouts))
	var levels []float64
	for _, n := range names {
		slices.SortFunc(layouts[n], func(a, b point) int { return cmp.Compare(a.concurrency, b.concurrency) })
		for _, p := range layouts[n] {
			levels = append(levels, p.user)
		}
	}
	slices.Sort(levels)
	var out []Choice
	for _, x := range slices.Compact(levels) {
		c := Choice{Group: key, Interactivity: x}
		best, chosen, predicted, sum := 0.0, 0.0, math.Inf(-1), 0.0
		for _, n := range names {
			is := at(layouts[n], x, func(p *point) (float64, float64) { return p.user, p.device })
			if is == 0 {
				continue // not measured there
			}
			c.Layouts++
			sum += is
			if is > best {
				best, c.Best = is, n
			}
			if says := promise(layouts[n], x); says > predicted {
				predicted, chosen, c.Chosen = says, is, n
			}
		}
		if c.Layouts > 1 {
			c.Regret, c.Random = 1-chosen/best, 1-sum/float64(c.Layouts)/best
			out = append(out, c)
		}
	}
	return out
}

// promise is the predicted throughput of a layout at an interactivity: that of its
// largest load if that is still predicted faster, and a negative number, the
// relative shortfall, if no load is predicted to reach it.
func promise(points []point, x float64) float64 {
	says := at(points, x, func(p *point) (float64, float64) { return p.predUser, p.predDev })
	if says > 0 {
		return says
	}
	fastest, slowest := points[0].predUser, &points[0]
	for i := range points {
		fastest = math.Max(fastest, points[i].predUser)
		if points[i].predUser < slowest.predUser {
			slowest = &points[i]
		}
	}
	if slowest.predUser > x {
		return slowest.predDev
	}
	return fastest/x - 1
}

// at is the throughput of a layout at an interactivity, interpolated between two
// loads; zero where it has none on both sides. Where noise makes a curve cross it
// twice, the larger counts.
func at(points []point, x float64, of func(*point) (user, device float64)) float64 {
	most := 0.0
	for i := range points {
		u, d := of(&points[i])
		if u == x {
			most = math.Max(most, d)
		}
		if i+1 == len(points) {
			break
		}
		v, e := of(&points[i+1])
		if u == v || x < math.Min(u, v) || x > math.Max(u, v) {
			continue
		}
		f := math.Log(x/u) / math.Log(v/u)
		most = math.Max(most, d*math.Pow(e/d, f))
	}
	return most
}
