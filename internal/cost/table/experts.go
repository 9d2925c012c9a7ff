package table

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/perfdata"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// law is how a benchmark of experts dealt out its tokens: evenly, or with popularities
// drawn from a power law. Counts are rounded, what is left after that goes to experts with
// fewest rows, and the busiest rank is measured (collector/helper.py of AIConfigurator).
type law struct {
	name     string
	exponent float64 // 0 is even
}

// busiest is the rows of the measured rank, and how many of its experts have any.
func (l law) busiest(d op.Deal, tokens float64) (rows, active float64) {
	local, experts, choice := d.Local(), float64(d.Experts), float64(d.Choice)
	load := tokens * choice / experts
	rows = load * local
	if l.exponent == 0 {
		return rows, math.Min(rows, local)
	}
	low, high := 1.0, 0.8*tokens
	if load <= 1 {
		low, high = 0.01, 2
	}
	moment := func(n, from, to float64) float64 {
		p := n + 1 - l.exponent
		return (math.Pow(to, p) - math.Pow(from, p)) / p
	}
	all, mean := moment(0, low, high), moment(1, low, high)
	half := math.Min(math.Max(0.5/load*mean/all, low), high) // popularity rounded up to a row
	met := moment(0, half, high) / all
	left := moment(1, low, half) / mean
	groups := experts / local
	skew := math.Sqrt(math.Max(0, moment(2, low, high)*all/(mean*mean)-1))
	// Few rows are whole numbers: about half the variance of as many at random.
	uneven := (1 - left) * skew
	spread := uneven*uneven*(groups-1)/(experts-1) + (1-1/groups)/(2*rows)
	most := math.Min(groups, 1+op.Excess(groups)*math.Sqrt(spread))
	return rows * most, most * math.Min(math.Min(local*met+rows*left, rows), local/most)
}

// expertProducts are the two products of a rank's experts.
func expertProducts(f format, rows, active, hidden, inter float64) []op.Op {
	up := product(op.GroupedGEMM, f, rows, 2*inter, hidden, active)
	up.Experts, up.OutCols, up.Vector = active, inter, units.Ops(7*rows*inter)
	down := product(op.GroupedGEMM, f, rows, hidden, inter, active)
	down.Experts = active
	return []op.Op{up, down}
}

// expertChores are what a measured layer of experts does beside its products,
// each an operator of its own in a graph: sorting rows by expert, narrowing the
// inputs of both products, and adding up each token's outputs.
func expertChores(f format, rows, choice, hidden, inter float64) []op.Op {
	const wideBytes = 2
	pass := func(bytes float64) op.Op {
		return op.Op{In: dtype.BF16, VectorIn: dtype.BF16, Bytes: units.Bytes(bytes)}
	}
	tokens := rows / choice
	out := []op.Op{pass(wideBytes * (tokens + rows) * hidden), pass(wideBytes * (tokens + rows) * hidden)}
	if s := f.scheme(); s.Quantized() && !s.WeightOnly() {
		narrow := wideBytes + s.Activation.Width()
		out = append(out, pass(narrow*rows*hidden), pass(narrow*rows*inter))
	}
	return out
}

// experts reads layers of experts. A row is both products of a layer with all
// around them; exact are the hidden width and a rank's share of the inner one,
// or any if zero.
// Rows dealt by a mild power law come nearest to a model's own routing: even
// deals meet more experts with few tokens than random choice does.
func (g *group) experts() []reading {
	const steps = 32 // between a number of rows and its double: nearer ones count as the same
	exact := map[string]float64{"hidden_size": g.exactly[0]}
	if g.exactly[0] == 0 {
		exact = nil
	}
	var out []reading
	for _, l := range []law{{"power_law_1.01", 1.01}, {"power_law_1.2", 1.2}, {"balanced", 0}, {"uniform", 0}} {
		out = append(out, reading{
			table: "moe", skip: []string{"nongated"},
			query: common(perfdata.Query{
				Text:   map[string]string{"moe_dtype": g.in.String(), "distribution": l.name},
				Number: exact,
				Values: []string{"num_tokens", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size", "hidden_size"},
			}),
			row: func(v []float64) (measurement, bool) {
				tokens, d := v[1], op.Deal{Experts: count(v[4]), Choice: count(v[3]), Ranks: count(v[6])}
				hidden, inter := v[7], v[2]/v[5]
				if exact != nil && float32(inter) != float32(g.exactly[1]) || !d.Possible() || tokens <= 0 {
					return measurement{}, false
				}
				rows, active := l.busiest(d, tokens)
				return measurement{
					x: math.Round(steps*math.Log2(rows)) / steps, deal: d, seconds: v[0] / 1e3,
					ops:    expertProducts(g.in, rows, active, hidden, inter),
					beside: expertChores(g.in, rows, float64(d.Choice), hidden, inter),
					// What was met is an estimate: surely an even share of one token's.
					surely: expertProducts(g.in, tokens*float64(d.Choice)/float64(d.Ranks), math.Min(active, math.Max(1, float64(d.Choice)/float64(d.Ranks))), hidden, inter),
				}, true
			},
		})
	}
	return out
}

// count is a number of a table as one of a deal, 0 if it cannot be one.
func count(v float64) uint32 {
	if v >= 0 && v <= math.MaxUint32 {
		return uint32(v)
	}
	return 0
}
