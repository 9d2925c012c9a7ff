package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// vision emits the image tower for the pictures of a batch. The tower is not
// quantized, and every rank runs it whole.
func (w *walk) vision(im Images) {
	v := w.g.spec.Model.Vision
	if v == nil || im.Count == 0 {
		return
	}
	if w.tracesVision(v) {
		w.tracedVision(v, im)
	} else {
		w.tower(v, im)
	}
}

// tower emits an image tower as its kernels are.
func (w *walk) tower(v *model.Vision, im Images) {
	plain := dtype.Unquantized(w.base)
	e := w.width()
	n, p := float64(im.Count), float64(im.Patches)
	rows, h, inter := n*p, float64(v.Hidden), float64(v.Intermediate)
	pixels := 3 * float64(v.Patch*v.Patch*max(1, v.TemporalPatch))
	w.linear(plain, rows, pixels, h, 1)
	w.items[len(w.items)-1].Op.Name = op.PatchEmbed
	attend := func(layers int, length float64) {
		if layers <= 0 {
			return
		}
		w.n = float64(layers)
		w.layerNorm(rows, h)
		w.linear(plain, rows, h, 3*h, 3)
		o := w.next(op.Attention, op.VisionAttention)
		o.Heads, o.KVHeads = float64(v.Heads), float64(v.Heads)
		o.HeadDim = h / float64(v.Heads)
		o.ValueDim = o.HeadDim
		o.Prefill = op.Span{Requests: n, Tokens: rows, Pairs: rows * length, Context: rows}
		o.Out, o.KV = w.base, w.base
		w.linear(plain, rows, h, h, 1)
		w.add(rows, h)
		w.layerNorm(rows, h)
		up := 2 * inter
		if v.Ungated {
			up = inter
		}
		w.linear(plain, rows, h, up, 2)
		w.elementwise(op.GELU, e*rows*(up+inter)).Vector = units.Ops(8 * rows * inter)
		w.linear(plain, rows, inter, h, 1)
		w.add(rows, h)
		w.n = 1
	}
	full := v.Layers
	if v.Window > 0 {
		side := float64(v.Window / v.Patch)
		full = v.FullLayers
		attend(v.Layers-full, min(p, side*side))
	}
	attend(full, p)
	w.projector(n * float64(im.Tokens))
}

// projector emits the merger from patches to language tokens, and its copies
// for early decoder layers.
func (w *walk) projector(tokens float64) {
	v := w.g.spec.Model.Vision
	plain := dtype.Unquantized(w.base)
	in := float64(v.Hidden * max(1, v.Merge*v.Merge))
	mid := float64(v.MergerHidden)
	if mid == 0 {
		mid = in
	}
	w.n = float64(1 + v.DeepStack)
	w.layerNorm(tokens, in)
	w.linear(plain, tokens, in, mid, 1)
	w.elementwise(op.GELU, 2*w.width()*tokens*mid)
	w.linear(plain, tokens, mid, float64(v.Out), 1)
	w.n = 1
}

func (w *walk) layerNorm(rows, cols float64) {
	w.elementwise(op.LayerNorm, w.width()*(2*rows*cols+2*cols)).Vector32 = units.Ops(8 * rows * cols)
}
