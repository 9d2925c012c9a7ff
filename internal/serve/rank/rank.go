package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Best returns the results that have a best outcome, most throughput first, one
// per label; ties go to the smaller label.
func Best(results []search.Result) []*search.Result {
	var rows []*search.Result
	seen := map[string]int{}
	for i := range results {
		r := &results[i]
		if !r.OK {
			continue
		}
		if k, ok := seen[r.Label]; ok {
			if r.Best.Throughput > rows[k].Best.Throughput {
				rows[k] = r
			}
			continue
		}
		seen[r.Label] = len(rows)
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b *search.Result) int {
		return cmp.Or(cmp.Compare(b.Best.Throughput, a.Best.Throughput), strings.Compare(a.Label, b.Label))
	})
	return rows
}

// Pair is a prefill and a decode layout matched to one another.
type Pair struct {
	formulas.Pair
	P, D *search.Result
}

// Pairs matches every prefill layout with every decode layout and orders the
// pairs by the requests per second one instance of each carries together. Of
// pairs that carry the same to two decimals only the first stays.
func Pairs(prefill, decode []*search.Result) []Pair {
	var all []Pair
	for _, p := range prefill {
		for _, d := range decode {
			if p.MostQPS.TTFT > 0 && d.Best.TPOT > 0 {
				all = append(all, Pair{formulas.Match(p.MostQPS, d.Best, &p.Load), p, d})
			}
		}
	}
	slices.SortStableFunc(all, comparePairs)
	seen := map[float64]bool{}
	return slices.DeleteFunc(all, func(p Pair) bool {
		key := math.Round(p.Balanced * 100)
		if seen[key] {
			return true
		}
		seen[key] = true
		return false
	})
}

// comparePairs is the order of pairs: balanced rate, then either rate, then
// latencies, then larger batches and concurrencies, then labels.
func comparePairs(a, b Pair) int {
	return cmp.Or(
		cmp.Compare(b.Balanced, a.Balanced),
		cmp.Compare(b.DecodeQPS, a.DecodeQPS),
		cmp.Compare(b.PrefillQPS, a.PrefillQPS),
		cmp.Compare(a.Prefill.TTFT, b.Prefill.TTFT),
		cmp.Compare(a.Decode.TPOT, b.Decode.TPOT),
		cmp.Compare(b.Decode.Batch, a.Decode.Batch),
		cmp.Compare(b.Prefill.Batch, a.Prefill.Batch),
		cmp.Compare(b.Decode.Concurrency, a.Decode.Concurrency),
		cmp.Compare(b.Prefill.Concurrency, a.Prefill.Concurrency),
		strings.Compare(a.P.Label, b.P.Label),
		strings.Compare(a.D.Label, b.D.Label),
	)
}

// Nearest is what the limits would have to be for something to be feasible.
type Nearest struct {
	Result     *search.Result
	TTFT, TPOT units.Seconds
}

// Near finds the candidate whose smallest batch exceeds the limits least, of
// equal ones that with the smaller label; nil when none fits in memory at all.
func Near(results []search.Result, l workload.Limits) *Nearest {
	var best *Nearest
	least := math.Inf(1)
	for i := range results {
		r := &results[i]
		o := &r.First
		if r.Binds == search.IllegalShape || o.OOM != "" || o.Concurrency == 0 {
			continue
		}
		over := 0.0
		if l.TTFT > 0 {
			over = math.Max(over, float64(o.TTFT/l.TTFT))
		}
		if l.TPOT > 0 {
			over = math.Max(over, float64(o.TPOT/l.TPOT))
		}
		if over < least || over == least && best != nil && r.Label < best.Result.Label {
			least, best = over, &Nearest{r, o.TTFT, o.TPOT}
		}
	}
	return best
}
