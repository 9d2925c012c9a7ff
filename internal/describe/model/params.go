package model

// Parameters counts the weights of a model by part. The multi-token-prediction
// modules are counted apart: published totals leave them out.
type Parameters struct {
	Embedding float64 `json:"embedding"`
	Head      float64 `json:"head"` // 0 when tied to the embedding
	Attention float64 `json:"attention"`
	Dense     float64 `json:"dense"`
	Experts   float64 `json:"experts"`
	Shared    float64 `json:"shared_experts"`
	Router    float64 `json:"router"` // with projections into and out of a latent, and other thin matrices
	Small     float64 `json:"small"`  // norms, biases, convolutions, sinks
	Vision    float64 `json:"vision"`

	// Idle is the part of Experts that one token does not use.
	Idle float64 `json:"idle_experts"`
	// MTP is all of the MTP modules, without the embedding and head they
	// share with the model.
	MTP float64 `json:"mtp"`
}

// Total is every weight but those of the MTP modules.
func (p Parameters) Total() float64 {
	return p.Embedding + p.Head + p.Vision + p.decoder()
}

// decoder is the weights of the layers.
func (p Parameters) decoder() float64 {
	return p.Attention + p.Dense + p.Experts + p.Shared + p.Router + p.Small
}

// active is what one text token uses, the whole embedding and head included, as
// published figures count it.
func (p Parameters) active() float64 { return p.Total() - p.Vision - p.Idle }

// add adds n times the layer parts of q.
func (p *Parameters) add(n float64, q Parameters) {
	p.Attention += n * q.Attention
	p.Dense += n * q.Dense
	p.Experts += n * q.Experts
	p.Shared += n * q.Shared
	p.Router += n * q.Router
	p.Small += n * q.Small
	p.Idle += n * q.Idle
}

// Parameters counts the model's weights.
func (m *Model) Parameters() Parameters {
	h := float64(m.Hidden)
	var p Parameters
	for i, n := range m.Counts() {
		p.add(float64(n), m.Kinds[i].parameters(h))
	}
	p.Embedding = float64(m.Vocab) * h
	if !m.Tied {
		p.Head = p.Embedding
	}
	p.Embedding += m.LayerInputs()*float64(m.InputVocab) + float64(m.Positions)*h
	matrices, small, streams := m.mixing()
	p.Router += matrices
	p.Small += h + small + streams
	p.Vision = m.Vision.Parameters()
	if m.MTP.Layers > 0 {
		// A module joins the hidden state and the next token's embedding by one
		// matrix, with a norm on each and one before the shared head.
		p.MTP = float64(m.MTP.Layers) * (m.Kinds[m.MTP.Kind].parameters(h).decoder() + 2*h*h + 3*h)
	}
	return p
}

// Counts is the number of decoder layers of each kind. A kind that only a
// MTP module has counts none.
func (m *Model) Counts() []int {
	n := make([]int, len(m.Kinds))
	for _, k := range m.Layers {
		n[k]++
	}
	return n
}

// LayerInputs is the width of all layers' own vectors of a token together.
func (m *Model) LayerInputs() float64 {
	n := 0
	for i, count := range m.Counts() {
		n += count * m.Kinds[i].Input
	}
	return float64(n)
}

// Mixing counts the weights outside the layers that make and join their own inputs
// and parallel streams: those of hyper-connections apart.
func (m *Model) Mixing() (plain, streams float64) {
	matrices, small, streams := m.mixing()
	return matrices + small, streams
}

func (m *Model) mixing() (matrices, small, streams float64) {
	if len(m.Layers) == 0 {
		return 0, 0, 0
	}
	h, l := float64(m.Hidden), &m.Kinds[m.Layers[0]]
	matrices, small = m.LayerInputs()*h, float64(l.Input) // a projection of the embedding, and its norm
	switch s := float64(l.Streams); {
	case l.AltUp: // a matrix into and out of each further stream
		matrices += 2 * (s - 1) * h * h
	case s > 1:
		streams = s * s * h
	}
	return matrices, small, streams
}

// parameters counts one layer's weights for a model h wide.
func (l Layer) parameters(h float64) Parameters {
	var p Parameters
	p.Attention, p.Small = l.Attention.parameters(h)
	p.add(1, l.FFN.parameters(h))
	norms, streams := l.vectors(h)
	p.Router += l.thin(h)
	p.Small += norms + streams
	return p
}

// Beside counts what a layer has beside its two parts: norms and thin matrices, and
// the hyper-connections of its streams.
func (l *Layer) Beside(h float64) (plain, streams float64) {
	norms, streams := l.vectors(h)
	return l.thin(h) + norms, streams
}

// thin counts two matrices each for the layer's own input and its low rank.
func (l *Layer) thin(h float64) float64 { return 2 * h * float64(l.Input+l.LowRank) }

func (l *Layer) vectors(h float64) (norms, streams float64) {
	norms = float64(l.Norms) * h
	for _, width := range [2]int{l.Input, l.LowRank} {
		if width > 0 {
			norms += h
		}
	}
	switch s := float64(l.Streams); {
	case l.AltUp: // a router with its norm and scale, coefficients to predict and correct
		norms += (s+2)*h + s*s*s + s*s
	case s > 1: // hyper-connections around both parts
		streams = 2 * (2 + s) * s * (s*h + 1)
	}
	return norms, streams
}

// parameters counts the matrices of a token mixer and its small vectors.
func (a *Attention) parameters(h float64) (matrices, small float64) {
	small = a.Weights(h, 1, func(rows, depth float64) { matrices += rows * depth })
	im, is := a.indexer(h)
	return matrices + im, small + is
}

// Weights visits the matrices of a token mixer as one of tp ranks has them, and counts the elements of its small
// vectors. A rank has at least one key/value head. The selector of sparse attention is not among them.
func (a *Attention) Weights(h, tp float64, matrix func(rows, depth float64)) (small float64) {
	heads := float64(a.Heads) / tp
	switch a.Kind {
	case GQA, Cross:
		small = a.grouped(h, heads, perRank(a.KVHeads, tp), matrix) + a.output(h, heads, tp, matrix)
	case MLA:
		small = a.latent(h, heads, matrix) + a.output(h, heads, tp, matrix)
	case GatedDelta:
		small = a.Recurrent.delta(h, tp, matrix)
	case Mamba2:
		small = a.Recurrent.mamba2(h, tp, matrix)
	case Mamba1:
		small = a.Recurrent.mamba1(h, tp, matrix)
	case ShortConv:
		small = a.Recurrent.convolution(h, tp, matrix)
	case NoAttention:
	}
	if a.Sinks {
		small += heads
	}
	return small
}

// perRank is one rank's share of heads, at least one.
func perRank(heads int, tp float64) float64 { return max(1, float64(heads)/tp) }

// QKV are the columns of queries, with their gate, keys and values, of so many query and key/value heads.
func (a *Attention) QKV(heads, kvHeads float64) (q, k, v float64) {
	d := float64(a.HeadDim)
	q, k, v = heads*d, kvHeads*d, kvHeads*float64(a.ValueDim)
	if a.OutGate {
		q *= 2
	}
	if a.KeyIsVal {
		v = 0
	}
	if a.SharedKV {
		k, v = 0, 0
	}
	return q, k, v
}

// grouped counts the projections in front of grouped-query attention, and its norms.
func (a *Attention) grouped(h, heads, kvHeads float64, matrix func(rows, depth float64)) (small float64) {
	q, k, v := a.QKV(heads, kvHeads)
	matrix(q+k+v, h)
	if a.Bias {
		small += q + k + v
	}
	switch d := float64(a.HeadDim); a.QKNorm {
	case PerHead:
		small += 2 * d
	case WholeVector:
		small += (heads + kvHeads) * d
	case NoQKNorm:
	}
	return small
}

// latent counts the projections in front of latent attention, and their norms.
func (a *Attention) latent(h, heads float64, matrix func(rows, depth float64)) (small float64) {
	rank, rope, d, v := float64(a.KVRank), float64(a.RopeDim), float64(a.HeadDim), float64(a.ValueDim)
	if r := float64(a.QRank); r > 0 {
		matrix(r, h)
		matrix(heads*d, r)
		small = r
	} else {
		matrix(heads*d, h)
	}
	matrix(rank+rope, h)
	small += rank
	if !a.KeyIsVal {
		matrix(heads*(d-rope+v), rank)
	}
	if a.Compress > 1 {
		matrix(2*a.PoolWidth(), h) // values and gates of the pooling
		small += float64(a.Compress)*a.PoolWidth() + d
	}
	if a.OutGate {
		matrix(heads*v, h)
	}
	return small
}

// output counts the projection behind attention.
func (a *Attention) output(h, heads, tp float64, matrix func(rows, depth float64)) (small float64) {
	depth := heads * float64(a.ValueDim)
	if rank := float64(a.OutRank); rank > 0 { // each group projects its own heads
		matrix(rank, depth)
		depth = rank * (float64(a.OutGroup) / tp)
	}
	matrix(h, depth)
	if a.OutBias {
		small = h
	}
	return small
}

// PoolWidth is the width of DeepSeek-V4's compressor: windows that feed an indexer
// overlap and carry two halves.
func (a Attention) PoolWidth() float64 {
	if a.Indexer.TopK > 0 {
		return 2 * float64(a.HeadDim)
	}
	return float64(a.HeadDim)
}

// indexer counts the token selector: queries from the low rank or the hidden
// state, one key, and a weight for each head.
func (a *Attention) indexer(h float64) (matrices, small float64) {
	x := a.Indexer
	if x.TopK == 0 || x.Shared {
		return 0, 0
	}
	heads, dim := float64(x.Heads), float64(x.Dim)
	if a.Kind == GQA { // MiniMax-M3: no head weights, norms on queries and keys
		return h * (heads*dim + dim), 2 * dim
	}
	matrices = float64(a.QRank)*heads*dim + h*heads
	if a.Compress > 1 {
		return matrices + 2*h*2*dim, float64(a.Compress)*2*dim + dim
	}
	return matrices + h*dim, 2 * dim
}
