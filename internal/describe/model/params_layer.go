package model

// delta counts the gated delta rule: queries, keys, values and output gate, a
// decay and a step size for each value head, a convolution over q, k and v.
func (c *Recurrent) delta(h, tp float64, matrix func(rows, depth float64)) (small float64) {
	heads := perRank(c.ValueHeads, tp)
	key, value := perRank(c.KeyHeads, tp)*float64(c.KeyDim), heads*float64(c.ValueDim)
	conv := 2*key + value
	matrix(conv+heads, h) // and one of decay and step size
	matrix(h, value)
	small = conv*float64(c.Conv) + heads + float64(c.ValueDim)
	if rank := float64(c.GateRank); rank > 0 {
		matrix(rank, h)
		matrix(value, rank)
	} else {
		matrix(value, h)
	}
	if c.ChannelDecay { // low rank of a head's width, and a bias for each channel
		rank := float64(c.KeyDim)
		matrix(rank, h)
		matrix(key, rank)
		return small + key
	}
	matrix(heads, h)
	return small + heads
}

// mamba2 counts a Mamba-2 mixer: one matrix in for gate, values, B, C and step,
// a convolution over values, B and C, one matrix out.
func (c *Recurrent) mamba2(h, tp float64, matrix func(rows, depth float64)) (small float64) {
	heads := perRank(c.ValueHeads, tp)
	value := heads * float64(c.ValueDim)
	conv := value + 2*perRank(c.Groups, tp)*float64(c.KeyDim)
	matrix(value+conv+heads, h)
	matrix(h, value)
	return conv*float64(c.Conv+1) + 3*heads + value
}

// mamba1 counts a Mamba mixer: values and gate, a convolution, B, C and a step
// size of low rank from the values, the state's decay, one matrix out.
func (c *Recurrent) mamba1(h, tp float64, matrix func(rows, depth float64)) (small float64) {
	value, state, rank := perRank(c.ValueHeads, tp)*float64(c.ValueDim), float64(c.KeyDim), float64(c.GateRank)
	matrix(2*value, h)
	matrix(rank+2*state, value)
	matrix(value, rank)
	matrix(h, value)
	return value * (float64(c.Conv+1) + state + 2)
}

// convolution counts a gated short convolution: two gates and the values in one
// matrix, one matrix out.
func (c *Recurrent) convolution(h, tp float64, matrix func(rows, depth float64)) (small float64) {
	value := perRank(c.ValueHeads, tp) * float64(c.ValueDim)
	matrix(3*value, h)
	matrix(h, value)
	return value * float64(c.Conv)
}

// channels is the width of a recurrence.
func (c *Recurrent) channels() int { return c.ValueHeads * c.ValueDim }

// parameters counts a feed-forward part.
func (f FFN) parameters(h float64) Parameters {
	n := 3.0
	if f.Ungated {
		n = 2
	}
	bias := func(out, inner float64) float64 {
		if !f.Bias {
			return 0
		}
		return (n-1)*inner + out
	}
	width := float64(f.Intermediate)
	p := Parameters{Dense: n * h * width}
	if width > 0 {
		p.Small = bias(h, width)
	}
	if f.Kind != MoE {
		return p
	}
	in, experts, inner := h, float64(f.Experts), float64(f.ExpertIntermediate)
	p.Router = h * experts
	if f.Latent > 0 {
		in = float64(f.Latent)
		p.Router += 2 * h * in
		p.Small += in
	}
	one := n*in*inner + bias(in, inner)
	p.Experts = experts * one
	p.Idle = (experts - float64(f.TopK)) * one
	p.Shared = n * h * float64(f.SharedIntermediate)
	if f.SharedGate {
		p.Small += h
	}
	if f.RouterBias || f.Bias {
		p.Small += experts
	}
	return p
}
