package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// vision emits the image tower for the pictures of a batch. The tower is not
// quantized, and every rank runs it whole.
func (w pass) vision(im Images) {
	v := w.g.spec.Model.Vision
	if v == nil || im.Count == 0 {
		return
	}
	if !w.rewrites(AtVision, nil) {
		tower{w.Walk, v}.emit(im)
	}
}

// tower is the image tower of a model.
type tower struct {
	*Walk

	v *model.Vision
}

// emit is the whole of an image tower as its kernels are.
func (w tower) emit(im Images) {
	plain := dtype.Unquantized(w.Base)
	e := w.Width()
	n, p := float64(im.Count), float64(im.Patches)
	rows, h, inter := n*p, float64(w.v.Hidden), float64(w.v.Intermediate)
	pixels := 3 * float64(w.v.Patch*w.v.Patch*max(1, w.v.TemporalPatch))
	w.Linear(plain, rows, pixels, h, 1)
	w.Items[len(w.Items)-1].Op.Name = op.PatchEmbed
	attend := func(layers int, length float64) {
		if layers <= 0 {
			return
		}
		w.Count = float64(layers)
		w.layerNorm(rows, h)
		w.Linear(plain, rows, h, 3*h, 3)
		o := w.Next(op.Attention, op.VisionAttention)
		o.Heads, o.KVHeads = float64(w.v.Heads), float64(w.v.Heads)
		o.HeadDim = h / float64(w.v.Heads)
		o.ValueDim = o.HeadDim
		o.Prefill = op.Span{Requests: n, Tokens: rows, Pairs: rows * length, Context: rows}
		o.Out, o.KV = w.Base, w.Base
		w.Linear(plain, rows, h, h, 1)
		w.Add(rows, h)
		w.layerNorm(rows, h)
		up := 2 * inter
		if w.v.Ungated {
			up = inter
		}
		w.Linear(plain, rows, h, up, 2)
		w.Elementwise(op.GELU, e*rows*(up+inter)).Vector = units.Ops(8 * rows * inter)
		w.Linear(plain, rows, inter, h, 1)
		w.Add(rows, h)
		w.Count = 1
	}
	full := w.v.Layers
	if w.v.Window > 0 {
		side := float64(w.v.Window / w.v.Patch)
		full = w.v.FullLayers
		attend(w.v.Layers-full, min(p, side*side))
	}
	attend(full, p)
	w.projector(n * float64(im.Tokens))
}

// projector emits the merger from patches to language tokens, and its copies
// for early decoder layers.
func (w tower) projector(tokens float64) {
	v := w.g.spec.Model.Vision
	plain := dtype.Unquantized(w.Base)
	in := float64(v.Hidden * max(1, v.Merge*v.Merge))
	mid := float64(v.MergerHidden)
	if mid == 0 {
		mid = in
	}
	w.Count = float64(1 + v.DeepStack)
	w.layerNorm(tokens, in)
	w.Linear(plain, tokens, in, mid, 1)
	w.Elementwise(op.GELU, 2*w.Width()*tokens*mid)
	w.Linear(plain, tokens, mid, float64(v.Out), 1)
	w.Count = 1
}

func (w tower) layerNorm(rows, cols float64) {
	w.Elementwise(op.LayerNorm, w.Width()*(2*rows*cols+2*cols)).Vector32 = units.Ops(8 * rows * cols)
}
