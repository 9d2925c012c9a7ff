package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// scoresFirst reports whether a router scores all tokens before the ranks divide
// them. In TensorCast only what is outside the gate module does.
func (w *walk) scoresFirst(f *model.FFN) bool {
	if w.g.spec.Policy.FragmentedRouter {
		return f.Router == model.RawRouter
	}
	return f.Router.WideScores()
}

// router emits the choice of experts: scores on rows tokens, the choice on the
// chosen ones that this rank goes on with, padded of all ranks together.
func (w *walk) router(k *kind, rows, chosen, padded float64) {
	f := &k.layer.FFN
	e, topK := float64(f.Experts), float64(f.TopK)
	const f32 = 4
	if f.Router.WideScores() {
		w.convert((w.width() + f32) * rows * w.h)
		if !w.g.spec.Compile {
			w.convert((w.width() + f32) * e * w.h) // the weights too, each time
		}
		o := w.next(op.GEMM, op.MatMul)
		o.Rows, o.Depth, o.Cols = rows, w.h, e
		o.In, o.Weight, o.Out = dtype.F32, dtype.F32, dtype.F32
		if padded > rows && w.g.spec.Policy.PaddedTokens {
			w.elementwise(op.Pad, f32*(rows+padded)*e)
		}
	} else {
		w.linear(dtype.Unquantized(w.base), rows, w.h, e, 1)
	}
	if !w.g.spec.Policy.FragmentedRouter {
		w.gatingTopK(chosen, e, topK)
		return
	}
	switch f.Router {
	case model.RawRouter:
		w.unusedChoice(f, rows)
		w.gatingTopK(chosen, e, topK)
	case model.SoftmaxRouter:
		w.softmaxTopK(chosen, e, topK)
	case model.GroupRouter:
		w.groupTopK(f, chosen)
	case model.SoftplusRouter:
		w.softplusTopK(f, chosen)
		w.convert((w.width() + f32) * chosen * topK)
		return
	case model.SigmoidRouter:
		if !w.g.spec.Compile {
			w.elementwise(op.Zeros, w.width()*e) // the correction, built anew
		}
		w.convert((w.width() + f32) * chosen * e)
		w.sigmoidScores(chosen, e, w.width())
		w.chosenScores(chosen, e, topK)
	}
	w.normalize(chosen, topK, f.Router == model.GroupRouter)
	if !w.wideCombine(f) {
		w.convert((w.width() + f32) * chosen * topK)
	}
}

// normalize divides the weights of the chosen experts by their sum; scaled ones are
// kept from a sum of zero, and multiplied.
func (w *walk) normalize(rows, topK float64, scaled bool) {
	const f32 = 4
	w.elementwise(op.Sum, f32*rows*(topK+1))
	if scaled {
		w.elementwise(op.Add, 2*f32*rows)
	}
	w.elementwise(op.Div, f32*rows*(2*topK+1))
	if scaled {
		w.elementwise(op.Mul, 2*f32*rows*topK)
	}
}

// unusedChoice is the model's own choice of experts (GLM), in front of the operator
// that chooses anew from the scores; a compiler drops it. DeepSeek has it too since
// transformers 5.13, later than the vector that its steps are held to.
func (w *walk) unusedChoice(f *model.FFN, rows float64) {
	if w.g.spec.Compile || f.Groups == 0 {
		return
	}
	w.groupTopK(f, rows)
	w.normalize(rows, float64(f.TopK), true)
}

// gatingTopK is the choice in one operator.
func (w *walk) gatingTopK(rows, e, topK float64) {
	const f32 = 4
	w.elementwise(op.GatingTopK, f32*rows*e+(f32+indexBytes)*rows*topK)
}

// softmaxTopK is the choice as PyTorch traces it: to float32, softmax in five
// steps if compiled, top-k.
func (w *walk) softmaxTopK(rows, e, topK float64) {
	const f32 = 4
	n := rows * e
	w.convert((w.width() + f32) * n)
	if w.g.spec.Compile {
		w.elementwise(op.Max, f32*(n+rows))
		w.elementwise(op.Sub, f32*(2*n+rows))
		w.elementwise(op.Exp, 2*f32*n)
		w.elementwise(op.Sum, f32*(n+rows))
		w.elementwise(op.Div, f32*(2*n+rows))
	} else {
		w.elementwise(op.Softmax, 2*f32*n)
	}
	w.topK(n, rows, topK)
}

// topK emits the choice of the largest of n float32 scores, with their places.
func (w *walk) topK(n, rows, topK float64) {
	const f32 = 4
	w.elementwise(op.TopK, f32*n+(f32+indexBytes)*rows*topK)
}

// sigmoidScores is the sigmoid of float32 scores and the correction bias, which is
// so many bytes wide.
func (w *walk) sigmoidScores(rows, e, bias float64) {
	const f32 = 4
	w.elementwise(op.Sigmoid, 2*f32*rows*e)
	w.elementwise(op.Add, 2*f32*rows*e+bias*e)
}

// chosenScores chooses by corrected scores and gathers the plain ones.
func (w *walk) chosenScores(rows, e, topK float64) {
	const f32 = 4
	w.topK(rows*e, rows, topK)
	w.elementwise(op.Gather, f32*rows*e+(f32+indexBytes)*rows*topK)
}

// groupTopK chooses groups by the sum of their two largest scores, masks the
// others, and chooses in what is left.
func (w *walk) groupTopK(f *model.FFN, rows float64) {
	const f32, mask = 4, 1
	e, topK := float64(f.Experts), float64(f.TopK)
	groups, kept := float64(max(1, f.Groups)), float64(max(1, f.GroupTopK))
	w.sigmoidScores(rows, e, f32)
	w.topK(rows*e, rows*groups, 2)
	w.elementwise(op.Sum, f32*rows*groups*(2+1))
	w.topK(rows*groups, rows, kept)
	if !w.g.spec.Compile {
		w.elementwise(op.ZerosLike, 2*f32*rows*groups)
	}
	w.elementwise(op.Scatter, 2*f32*rows*groups+indexBytes*rows*kept)
	if f.Groups > 1 {
		w.elementwise(op.Clone, 2*f32*rows*e)
	}
	w.convert((f32 + mask) * rows * e)
	w.elementwise(op.Not, 2*mask*rows*e)
	if w.g.spec.Compile {
		w.elementwise(op.Where, (mask+2*f32)*rows*e+f32)
	} else {
		w.elementwise(op.MaskedFill, (mask+2*f32)*rows*e)
	}
	w.chosenScores(rows, e, topK)
}

// softplusTopK is the root of the softplus of float32 scores, and the choice by them
// or by a table of all token ids.
func (w *walk) softplusTopK(f *model.FFN, rows float64) {
	const f32, i32, flag = 4, 4, 1
	e, topK := float64(f.Experts), float64(f.TopK)
	n := rows * e
	w.elementwise(op.Exp, 2*f32*n)
	w.elementwise(op.Log1p, 2*f32*n)
	w.elementwise(op.Greater, (f32+flag)*n)
	w.elementwise(op.Where, (3*f32+flag)*n)
	w.elementwise(op.Sqrt, 2*f32*n)
	all := w.n
	if w.n = all - w.hash; w.n > 0 {
		o := w.elementwise(op.ScoreTopK, f32*n+w.width()*e+(f32+indexBytes)*rows*topK)
		o.Vector32 = units.Ops(2*n + 4*rows*topK)
	}
	if w.n = w.hash; w.n > 0 {
		table := i32 * float64(w.g.spec.Model.Vocab) * topK
		o := w.elementwise(op.HashTopK, f32*n+indexBytes*w.tokens+table+(f32+indexBytes)*rows*topK)
		o.Vector32 = units.Ops(5 * rows * topK)
	}
	w.n = all
}

// wideCombine reports whether experts' outputs are summed up in float32, which the
// weights of some routers stay in.
func (w *walk) wideCombine(f *model.FFN) bool {
	return w.g.spec.Policy.FragmentedRouter && (f.Router == model.GroupRouter || f.Router == model.SigmoidRouter)
}

// combine emits the weighted sum of each token's expert outputs, which a fused
// kernel may have returned in the order of the tokens.
func (w *walk) combine(k *kind, r *routed, fused bool) {
	e, h := w.width(), k.moe.hidden
	if !w.g.spec.Policy.FragmentedRouter {
		w.elementwise(op.Unpermute, e*(r.pairs+r.rows)*h+(e+indexBytes)*r.pairs)
		return
	}
	if !fused || !w.g.spec.Policy.PairwiseCombine {
		w.elementwise(op.Unpermute, 2*e*r.pairs*h+indexBytes*r.pairs)
	}
	wide := e
	if w.wideCombine(&k.layer.FFN) {
		wide = 4
	}
	w.elementwise(op.Mul, (e+wide)*r.pairs*h+wide*r.pairs)
	w.elementwise(op.Sum, wide*(r.pairs+r.rows)*h)
	if wide > e {
		w.convert((wide + e) * r.rows * h)
	}
}

// addShared adds the shared experts' output to the routed ones', before that is
// narrowed where it is wide.
func (w *walk) addShared(f *model.FFN, rows float64) {
	if w.wideCombine(f) && !w.g.spec.SharedExpertTP {
		const f32 = 4
		w.elementwise(op.Add, (2*f32+w.width())*rows*w.h)
		return
	}
	w.add(rows, w.h)
}
