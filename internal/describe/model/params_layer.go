package model

// delta counts the gated delta rule: queries, keys, values and output gate, a
// decay and a step size for each value head, a convolution over q, k and v.
func (c Recurrent) delta(h float64) (matrices, small float64) {
	k, v := float64(c.KeyHeads*c.KeyDim), float64(c.ValueHeads*c.ValueDim)
	heads := float64(c.ValueHeads)
	matrices = h*(2*k+v) + v*h // q, k, v, out
	if r := float64(c.GateRank); r > 0 {
		matrices += h*r + r*v
	} else {
		matrices += h * v
	}
	small = (2*k+v)*float64(c.Conv) + heads + float64(c.ValueDim)
	if c.ChannelDecay { // low rank of a head's width, and a bias for each channel
		r := float64(c.KeyDim)
		return matrices + h*r + r*k + h*heads, small + k
	}
	return matrices + h*2*heads, small + heads
}

// mamba counts a Mamba-2 mixer: one matrix in for gate, values, B, C and step,
// a convolution over values, B and C, one matrix out.
func (c Recurrent) mamba(h float64) (matrices, small float64) {
	inner := float64(c.ValueHeads * c.ValueDim)
	bc := 2 * float64(c.Groups*c.KeyDim)
	heads := float64(c.ValueHeads)
	matrices = h*(2*inner+bc+heads) + inner*h
	return matrices, (inner+bc)*float64(c.Conv+1) + 3*heads + inner
}

// channels is the width of a recurrence.
func (c *Recurrent) channels() int { return c.ValueHeads * c.ValueDim }

// mamba1 counts a Mamba mixer: values and gate, a convolution, B, C and a step
// size of low rank from the values, the state's decay, one matrix out.
func (c Recurrent) mamba1(h float64) (matrices, small float64) {
	inner, state, rank := float64(c.channels()), float64(c.KeyDim), float64(c.GateRank)
	matrices = h*2*inner + inner*(rank+2*state) + rank*inner + inner*h
	return matrices, inner*float64(c.Conv+1) + inner*state + 2*inner
}

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
