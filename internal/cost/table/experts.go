package table

import (
	"cmp"
	"math"

	"plimsoll/internal/dtype"
	"plimsoll/internal/op"
	"plimsoll/internal/perfdata"
	"plimsoll/internal/units"
)

// deal is how tokens meet the experts of one rank in a measurement.
type deal struct {
	experts, choice, ranks float64
}

func (d *deal) compare(e *deal) int {
	if *d == *e {
		return 0
	}
	return cmp.Or(cmp.Compare(d.experts, e.experts), cmp.Compare(d.choice, e.choice), cmp.Compare(d.ranks, e.ranks))
}

// possible reports whether tokens can meet experts like this.
func (d *deal) possible() bool {
	return d.choice >= 1 && d.experts > d.choice && d.ranks >= 1 && d.ranks <= d.experts
}

// rate is the logarithm of the chance that a row, a pair of a token and one of the
// rank's experts, misses a given one, when tokens choose at random.
func (d *deal) rate() float64 { return d.ranks / d.choice * math.Log1p(-d.choice/d.experts) }

// active is the number of a rank's experts that so many rows meet.
func (d *deal) active(rows float64) float64 {
	return math.Min(rows, d.experts/d.ranks*-math.Expm1(rows*d.rate()))
}

// agrees reports whether a product with so many rows and active experts can be
// of the site's deal. An operator does not say how many experts there are in all; but
// rows and active experts do, and where they do not, because all experts of a
// rank are active, the number in all makes no difference.
func (s *site) agrees(rows, active float64) bool {
	const near = 0.02
	here, u := s.deal.experts/s.deal.ranks, -rows*s.rate
	// 1 − exp(−u) lies between u/(1 + u) and u: most deals are told without it.
	if here*math.Min(1, u) < (1-near)*active || math.Min(rows, here*u/(1+u)) > (1+near)*active {
		return false
	}
	a := math.Min(rows, here*-math.Expm1(-u))
	return math.Abs(a-active) <= near*active
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
// deals touch more experts with few tokens than random choice does.
func (g *group) experts() []reading {
	exact := map[string]float64{"hidden_size": g.exactly[0]}
	if g.exactly[0] == 0 {
		exact = nil
	}
	var out []reading
	for _, law := range []string{"power_law_1.01", "power_law_1.2", "balanced", "uniform"} {
		out = append(out, reading{
			table: "moe", skip: []string{"nongated"},
			query: common(perfdata.Query{
				Text:   map[string]string{"moe_dtype": g.in.String(), "distribution": law},
				Number: exact,
				Values: []string{"num_tokens", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size", "hidden_size"},
			}),
			row: func(v []float64) (measurement, bool) {
				tokens, d := v[1], deal{experts: v[4], choice: v[3], ranks: v[6]}
				hidden, inter := v[7], v[2]/v[5]
				if exact != nil && float32(inter) != float32(g.exactly[1]) || !d.possible() {
					return measurement{}, false
				}
				rows := tokens * d.choice / d.ranks
				return measurement{
					x: math.Log2(rows), deal: d, seconds: v[0] / 1e3,
					ops:    expertProducts(g.in, rows, d.active(rows), hidden, inter),
					beside: expertChores(g.in, rows, d.choice, hidden, inter),
					// A skewed deal meets fewer experts than a random one.
					surely: expertProducts(g.in, rows, math.Min(d.active(rows), math.Max(1, d.choice/d.ranks)), hidden, inter),
				}, true
			},
		})
	}
	return out
}
