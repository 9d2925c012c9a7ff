package ascend

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

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
