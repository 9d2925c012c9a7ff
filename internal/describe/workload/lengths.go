package workload

import (
	"cmp"
	"math"
	"slices"
)

// Bin is a range of prompt lengths, Min inclusive, Max exclusive, and its share
// of the requests. Weights need not add up to one.
type Bin struct {
	Min    int     `json:"min_tokens" required:"true" minimum:"0" maximum:"100000000"`
	Max    int     `json:"max_tokens" required:"true" minimum:"1" maximum:"100000000"`
	Weight float64 `json:"weight" required:"true" exclusiveMinimum:"0" maximum:"1000000000"`
}

// Distribution is prompt lengths in bins, in the order they were given.
type Distribution struct {
	Bins []Bin `json:"bins" required:"true" minItems:"1"`
	// File is where it was read from, [BuiltinFile] for the built-in one; "" where it came in a request.
	File string `json:"-"`
}

// BuiltinFile is the name of the built-in distribution.
const BuiltinFile = "builtin"

// Named is a distribution of which only the file is known.
func Named(file string) *Distribution { return &Distribution{File: file} }

// Row stands for the requests of one bin.
type Row struct {
	Tokens  int     // representative prompt length
	Query   int     // tokens to compute, after the prefix cache
	Ratio   float64 // share of the requests
	Samples int     // requests of a batch
}

// Effective is the uncached part of a prompt, rounded down; at least one token is computed.
func Effective(tokens int, hitRate float64) int {
	return max(1, tokens-int(float64(tokens)*hitRate))
}

// Rows returns one row per bin at its midpoint.
func (d *Distribution) Rows(hitRate float64) []Row {
	sum := 0.0
	for _, b := range d.Bins {
		sum += b.Weight
	}
	rows := make([]Row, len(d.Bins))
	for i, b := range d.Bins {
		tokens := (b.Min + b.Max) / 2
		rows[i] = Row{Tokens: tokens, Query: Effective(tokens, hitRate), Ratio: b.Weight / sum}
	}
	return rows
}

// MeanEffective is the mean number of tokens to compute per request, rounded
// down, at least one.
func (d *Distribution) MeanEffective(hitRate float64) int {
	mean := 0.0
	for _, r := range d.Rows(hitRate) {
		mean += float64(r.Query) * r.Ratio
	}
	return max(1, int(mean))
}

// Deal divides n requests over the bins by the method of largest remainders:
// every bin gets the whole part of its share, the rest go one each to the
// largest fractions, longer prompts first among equals. Empty rows are left
// out.
func (d *Distribution) Deal(n int, hitRate float64) []Row {
	rows := d.Rows(hitRate)
	left := n
	fraction := make([]float64, len(rows))
	order := make([]int, len(rows))
	for i := range rows {
		ideal := float64(n) * rows[i].Ratio
		rows[i].Samples = int(math.Floor(ideal))
		fraction[i] = ideal - math.Floor(ideal)
		left -= rows[i].Samples
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(fraction[b], fraction[a]), cmp.Compare(rows[b].Query, rows[a].Query))
	})
	for _, i := range order[:max(0, min(left, len(order)))] {
		rows[i].Samples++
	}
	return slices.DeleteFunc(rows, func(r Row) bool { return r.Samples == 0 })
}
