package op

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Work is what an operator asks of a device. It is small enough to travel in
// registers; keep its address out of the code that makes it.
type Work struct {
	Bytes    units.Bytes
	Matrix   units.Ops
	Vector32 units.Ops
	Vector   units.Ops
	MatrixIn dtype.Format // the peak the matrix work uses
	VectorIn dtype.Format
}

// Work returns the bytes and the arithmetic of the operator: what its shape
// implies plus what its fields state.
func (o *Op) Work() Work { return o.work(&o.Prefill, &o.Decode, o.Expanded) }

// Phases is the work of an attention's prefill and of its decode, each as if it were
// alone in the step.
func (o *Op) Phases() (prefill, decode Work) {
	var none Span
	return o.work(&o.Prefill, &none, o.Expanded), o.work(&none, &o.Decode, 0)
}

func (o *Op) work(p, d *Span, expanded float64) Work {
	var bytes units.Bytes
	var matrix, vector, vector32 units.Ops
	switch o.Kind {
	case GEMM, GroupedGEMM:
		bytes, matrix = o.gemm()
	case Attention:
		bytes, matrix, vector = o.attention(p, d)
	case Latent:
		bytes, matrix, vector = o.latent(p, d, expanded)
	case Recurrent:
		bytes, matrix, vector32 = o.recurrent(p, d)
	case Elementwise, LatentPrologue, Collective, Transfer:
		// All of it stands in the fields.
	}
	return Work{
		Bytes: bytes + o.Bytes, Matrix: matrix + o.Matrix,
		Vector32: vector32 + o.Vector32, Vector: vector + o.Vector,
		MatrixIn: o.In, VectorIn: o.VectorIn,
	}
}

// gemm is the product: inputs, weights of every expert, outputs.
func (o *Op) gemm() (units.Bytes, units.Ops) {
	matrices, out := 1.0, o.Cols
	if o.Kind == GroupedGEMM {
		matrices = o.Experts
	}
	if o.OutCols > 0 {
		out = o.OutCols
	}
	return o.In.Bytes(o.Rows*o.Depth) + o.Weight.Bytes(matrices*o.Depth*o.Cols) + o.Out.Bytes(o.Rows*out),
		units.Ops(2 * o.Rows * o.Cols * o.Depth)
}

// attention is scores and values over the cache, and the softmax between them
// at four vector operations an element.
func (o *Op) attention(p, d *Span) (units.Bytes, units.Ops, units.Ops) {
	pairs, tokens, context := p.Pairs+d.Pairs, p.Tokens+d.Tokens, p.Context+d.Context
	bytes := o.In.Bytes(tokens*o.Heads*o.HeadDim) + o.Out.Bytes(tokens*o.Heads*o.ValueDim) +
		o.KV.Bytes(context*o.KVHeads*(o.HeadDim+o.ValueDim))
	return bytes, units.Ops(2 * pairs * o.Heads * (o.HeadDim + o.ValueDim)), units.Ops(4 * pairs * o.Heads)
}

// latent is latent attention. A decode step works in the latent space, with the
// up-projections absorbed into queries and outputs; a prefill expands keys and
// values first.
func (o *Op) latent(p, d *Span, expanded float64) (units.Bytes, units.Ops, units.Ops) {
	nope, h := o.HeadDim-o.Rope, o.Heads
	up := o.Rank * h * (nope + o.ValueDim)
	var weights, matrix float64
	if p.Tokens > 0 {
		weights += up
		matrix += 2*expanded*up + 2*p.Pairs*h*(o.HeadDim+o.ValueDim)
	}
	if d.Tokens > 0 {
		if o.Own > 0 {
			up *= o.Own / h
		}
		weights += up
		matrix += 2*d.Tokens*up + 2*d.Pairs*h*(2*o.Rank+o.Rope)
	}
	tokens := p.Tokens + d.Tokens
	bytes := o.Weight.Bytes(weights) +
		o.In.Bytes(tokens*h*o.HeadDim) + o.Out.Bytes(tokens*h*o.ValueDim) +
		o.KV.Bytes((p.Context+d.Context)*(o.Rank+o.Rope))
	return bytes, units.Ops(matrix), units.Ops(4 * (p.Pairs + d.Pairs) * h)
}

// chunkTokens is the chunk length of the parallel form of linear attention and
// state-space scans (64 in the reference kernels of Qwen3-Next and KDA).
const chunkTokens = 64

// Chunks is in how many pieces a prefill goes through a recurrence, over all
// requests.
func (s *Span) Chunks() float64 {
	if s.Tokens == 0 {
		return 0
	}
	n := max(1, s.Requests)
	return n * math.Ceil(s.Tokens/n/chunkTokens)
}

// recurrent is a recurrence: in chunks for a prefill, token by token for a
// decode. Each request's state is read and written once.
func (o *Op) recurrent(p, d *Span) (units.Bytes, units.Ops, units.Ops) {
	cell := o.HeadDim * o.ValueDim
	tokens := o.Heads * p.Chunks() * chunkTokens
	pairs := tokens * chunkTokens
	matrix := pairs*(6*o.HeadDim+4*o.ValueDim) + 6*tokens*cell + 4*d.Tokens*o.Heads*cell
	vector := tokens*(4*o.HeadDim+3*o.ValueDim) + 6*pairs + 2*d.Tokens*o.Heads*cell
	bytes := o.In.Bytes((p.Tokens+d.Tokens)*o.Heads*2*(o.HeadDim+o.ValueDim)) +
		2*o.KV.Bytes((p.Requests+d.Requests)*o.Heads*cell)
	return bytes, units.Ops(matrix), units.Ops(vector)
}

// BlockScaled reports weights in 8 bits with a scale for each block, not for each row.
func (o *Op) BlockScaled() bool { return o.Weight == dtype.FP8 && o.Bytes > units.Bytes(8*o.Rows) }
