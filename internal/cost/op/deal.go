package op

import "math"

// Deal is how tokens meet experts: each chooses some of them, and they are
// distributed evenly over ranks.
type Deal struct {
	Experts, Choice, Ranks uint32
}

// Local is the number of a rank's experts.
func (d Deal) Local() float64 { return math.Ceil(float64(d.Experts) / float64(d.Ranks)) }

// Possible reports whether tokens can meet experts like this.
func (d Deal) Possible() bool {
	return d.Choice >= 1 && d.Experts > d.Choice && d.Ranks >= 1 && d.Ranks <= d.Experts
}

// Excess is how far, in standard deviations, the largest of so many equal and normal
// loads lies above their mean on average (Chen and Tyler, "Accurate approximation to the
// extreme order statistics of Gaussian samples", 1999).
func Excess(loads float64) float64 {
	if loads <= 1 {
		return 0
	}
	return math.Sqrt2 * math.Erfinv(2*math.Pow(0.5264, 1/loads)-1)
}

// Dealt is a deal to experts of which some are chosen more often than others: their
// popularity is exponentially distributed, so its standard deviation is its mean. Of
// standard deviations from 0 to 1.5 means that one predicts measured deployments best
// (internal/evidence/NOTEBOOK.md). In an even deal all are chosen equally often.
type Dealt struct {
	even          bool
	local, groups float64
	perExpert     float64 // pairs of a token and a given expert
	excess        float64
	spread        float64 // variance of the popularity of ranks
}

// Dealt prepares a deal, even or not.
func (d Deal) Dealt(even bool) Dealt {
	e, local := float64(d.Experts), d.Local()
	out := Dealt{even: even, local: local, groups: e / local, perExpert: float64(d.Choice) / e}
	out.excess = Excess(out.groups)
	if !even {
		out.spread = (out.groups - 1) / (e - 1)
	}
	return out
}

// Even is the pairs of a token and an expert that so many tokens bring to a rank on
// average.
func (d Dealt) Even(tokens float64) float64 { return tokens * d.perExpert * d.local }

// Busiest is the pairs that so many tokens bring to the rank with most of them, and how
// many of its experts they meet: the others wait for it. Popular experts come together
// on some ranks, and tokens choose at random.
func (d Dealt) Busiest(tokens float64) (pairs, active float64) {
	pairs = d.Even(tokens)
	// Of popularity g an expert is passed by with the chance exp(−g·load): 1 ÷ (1 + load)
	// on average over g. As one token chooses different experts, it meets its choice.
	met := tokens * d.perExpert / (1 + (tokens-1)*d.perExpert)
	if d.even && tokens > 0 {
		met = -math.Expm1(tokens * math.Log1p(-d.perExpert))
	}
	active = d.local * met
	if d.excess > 0 && pairs > 0 {
		others := 1 - 1/d.groups
		pairs *= min(d.groups, 1+d.excess*math.Sqrt(d.spread+others/pairs))
		active += d.excess * math.Sqrt(active*(1-met)*others)
	}
	return pairs, min(active, d.local, pairs)
}
