package tensorcast

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// router is the choice of experts.
type router struct{ cast }

// physical is the operators as kernels have them.
func (w router) physical() graph.Mixture { return graph.Mixture{Walk: w.Walk} }

// scoresFirst reports whether a router scores all tokens before the ranks divide
// them: only what is outside the gate module does.
func (w router) scoresFirst(f *model.FFN) bool {
	if w.does.has(fragmentedRouter) {
		return f.Router == model.RawRouter
	}
	return f.Router.WideScores()
}

// alone emits the choice of experts where ranks divide no tokens.
func (w router) alone(p graph.Part) bool {
	w.choose(p.Kind, p.Rows, p.Rows, p.Rows)
	return true
}

// choose emits the choice of experts: scores on rows tokens, the choice on the
// chosen ones that this rank goes on with, padded of all ranks together.
func (w router) choose(k *graph.Kind, rows, chosen, padded float64) {
	f := &k.Layer.FFN
	e, topK := float64(f.Experts), float64(f.TopK)
	w.physical().RouterScores(k, rows)
	if f.Router.WideScores() && padded > rows && w.does.has(paddedTokens) {
		w.Elementwise(op.Pad, f32*(rows+padded)*e)
	}
	if !w.does.has(fragmentedRouter) {
		w.physical().GatingTopK(k, chosen)
		return
	}
	switch f.Router {
	case model.RawRouter:
		w.unusedChoice(f, rows)
		w.physical().GatingTopK(k, chosen)
	case model.SoftmaxRouter:
		w.softmaxTopK(chosen, e, topK)
	case model.GroupRouter:
		w.groupTopK(f, chosen)
	case model.SoftplusRouter:
		w.softplusTopK(f, chosen)
		w.Convert((w.Width() + f32) * chosen * topK)
		return
	case model.SigmoidRouter:
		if !w.Spec().Compile {
			w.Elementwise(op.Zeros, w.Width()*e) // the correction, built in every step
		}
		w.Convert((w.Width() + f32) * chosen * e)
		w.sigmoidScores(chosen, e, w.Width())
		w.chosenScores(chosen, e, topK)
	}
	w.normalize(chosen, topK, f.Router == model.GroupRouter)
	if !w.wideCombine(f) {
		w.Convert((w.Width() + f32) * chosen * topK)
	}
}

// normalize divides the weights of the chosen experts by their sum; scaled ones are
// kept from a sum of zero, and multiplied.
func (w router) normalize(rows, topK float64, scaled bool) {
	w.Elementwise(op.Sum, f32*rows*(topK+1))
	if scaled {
		w.Elementwise(op.Add, 2*f32*rows)
	}
	w.Elementwise(op.Div, f32*rows*(2*topK+1))
	if scaled {
		w.Elementwise(op.Mul, 2*f32*rows*topK)
	}
}

// unusedChoice is the model's own choice of experts (GLM), before the operator that
// chooses again from the scores; a compiler drops it. DeepSeek has it too since
// transformers 5.13, which is newer than the reference data.
func (w router) unusedChoice(f *model.FFN, rows float64) {
	if w.Spec().Compile || f.Groups == 0 {
		return
	}
	w.groupTopK(f, rows)
	w.normalize(rows, float64(f.TopK), true)
}

// softmaxTopK is the choice as PyTorch traces it: to float32, softmax in five
// steps if compiled, top-k.
func (w router) softmaxTopK(rows, e, topK float64) {
	n := rows * e
	w.Convert((w.Width() + f32) * n)
	if w.Spec().Compile {
		w.Elementwise(op.Max, f32*(n+rows))
		w.Elementwise(op.Sub, f32*(2*n+rows))
		w.Elementwise(op.Exp, 2*f32*n)
		w.Elementwise(op.Sum, f32*(n+rows))
		w.Elementwise(op.Div, f32*(2*n+rows))
	} else {
		w.Elementwise(op.Softmax, 2*f32*n)
	}
	w.topK(n, rows, topK)
}

// topK emits the choice of the largest of n float32 scores, with their places.
func (w router) topK(n, rows, topK float64) {
	w.Elementwise(op.TopK, f32*n+(f32+indexBytes)*rows*topK)
}

// sigmoidScores is the sigmoid of float32 scores and the correction bias, which is
// so many bytes wide.
func (w router) sigmoidScores(rows, e, bias float64) {
	w.Elementwise(op.Sigmoid, 2*f32*rows*e)
	w.Elementwise(op.Add, 2*f32*rows*e+bias*e)
}

// chosenScores chooses by corrected scores and gathers the plain ones.
func (w router) chosenScores(rows, e, topK float64) {
	w.topK(rows*e, rows, topK)
	w.Elementwise(op.Gather, f32*rows*e+(f32+indexBytes)*rows*topK)
}

// groupTopK chooses groups by the sum of their two largest scores, masks the
// others, and chooses in what is left.
func (w router) groupTopK(f *model.FFN, rows float64) {
	e, topK := float64(f.Experts), float64(f.TopK)
	groups, kept := float64(max(1, f.Groups)), float64(max(1, f.GroupTopK))
	w.sigmoidScores(rows, e, f32)
	w.topK(rows*e, rows*groups, 2)
	w.Elementwise(op.Sum, f32*rows*groups*(2+1))
	w.topK(rows*groups, rows, kept)
	if !w.Spec().Compile {
		w.Elementwise(op.ZerosLike, 2*f32*rows*groups)
	}
	w.Elementwise(op.Scatter, 2*f32*rows*groups+indexBytes*rows*kept)
	if f.Groups > 1 {
		w.Elementwise(op.Clone, 2*f32*rows*e)
	}
	w.Convert((f32 + flag) * rows * e)
	w.Elementwise(op.Not, 2*flag*rows*e)
	if w.Spec().Compile {
		w.Elementwise(op.Where, (flag+2*f32)*rows*e+f32)
	} else {
		w.Elementwise(op.MaskedFill, (flag+2*f32)*rows*e)
	}
	w.chosenScores(rows, e, topK)
}

// softplusTopK is the root of the softplus of float32 scores, and the choice by them
// or by a table of all token ids.
func (w router) softplusTopK(f *model.FFN, rows float64) {
	e, topK := float64(f.Experts), float64(f.TopK)
	n := rows * e
	w.Elementwise(op.Exp, 2*f32*n)
	w.Elementwise(op.Log1p, 2*f32*n)
	w.Elementwise(op.Greater, (f32+flag)*n)
	w.Elementwise(op.Where, (3*f32+flag)*n)
	w.Elementwise(op.Sqrt, 2*f32*n)
	all := w.Count
	if w.Count = all - w.Hashed; w.Count > 0 {
		o := w.Elementwise(op.ScoreTopK, f32*n+w.Width()*e+(f32+indexBytes)*rows*topK)
		o.Vector32 = units.Ops(2*n + 4*rows*topK)
	}
	if w.Count = w.Hashed; w.Count > 0 {
		table := i32 * float64(w.Spec().Model.Vocab) * topK
		o := w.Elementwise(op.HashTopK, f32*n+indexBytes*w.Tokens+table+(f32+indexBytes)*rows*topK)
		o.Vector32 = units.Ops(5 * rows * topK)
	}
	w.Count = all
}

// wideCombine reports whether experts' outputs are summed up in float32, which the
// weights of some routers stay in.
func (w router) wideCombine(f *model.FFN) bool {
	return w.does.has(fragmentedRouter) && (f.Router == model.GroupRouter || f.Router == model.SigmoidRouter)
}

// combine emits the weighted sum of each token's expert outputs, which a fused
// kernel may have returned in the order of the tokens.
func (w mixture) combine(k *graph.Kind, r *routed, fused bool) {
	e, h := w.Width(), k.Experts.Hidden
	if !w.does.has(fragmentedRouter) {
		w.physical().Combine(k, &r.Routed)
		return
	}
	if !fused || !w.does.has(pairwiseCombine) {
		w.Elementwise(op.Unpermute, 2*e*r.Pairs*h+indexBytes*r.Pairs)
	}
	wide := e
	if router(w).wideCombine(&k.Layer.FFN) {
		wide = 4
	}
	w.Elementwise(op.Mul, (e+wide)*r.Pairs*h+wide*r.Pairs)
	w.Elementwise(op.Sum, wide*(r.Pairs+r.Rows)*h)
	if wide > e {
		w.Convert((wide + e) * r.Rows * h)
	}
}
