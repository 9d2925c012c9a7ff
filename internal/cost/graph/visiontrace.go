package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// tracesVision reports whether a tower is one whose operators TensorCast leaves as
// they are written, compiled or not: Qwen3-VL's, with learned positions.
func (w *walk) tracesVision(v *model.Vision) bool {
	return w.g.spec.Policy.TracedVision && v.Positions > 0 && v.Ungated && v.Window == 0
}

// tracedVision emits that tower for n pictures of rows × cols patches.
func (w *walk) tracedVision(v *model.Vision, im Images) {
	n, p, rows := float64(im.Count), float64(im.Patches), float64(im.Rows)
	if rows == 0 {
		rows = math.Sqrt(p)
	}
	w.picturePositions(n, rows, p/rows)
	w.patchEmbedding(v, n*p)
	w.n = float64(v.Layers)
	w.tracedBlock(v, n, p)
	w.n = 1
	w.tracedProjectors(v, n*p, n*float64(im.Tokens))
	const bits64, flag = 8, 1
	w.elementwise(op.Prod, 4*bits64*n)
	w.elementwise(op.Div, 2*bits64*n)
	if im.Count > 1 {
		w.cat(n * float64(im.Tokens) * float64(v.Out))
	}
	w.elementwise(op.Eq, (bits64+flag)*w.tokens)
}

// picturePositions emits the places of patches: four neighbours of each in the table
// of positions with their weights, the order of merged patches, rows and columns, and
// where each picture begins.
func (w *walk) picturePositions(n, rows, cols float64) {
	const i32, f32, i64 = 4, 4, 8
	p := rows * cols
	w.n = n
	for _, side := range [2]float64{rows, cols} {
		w.elementwise(op.Linspace, f32*side)
		w.elementwise(op.ToCopy, (f32+i32)*side)
		w.elementwise(op.Add, 2*i32*side)
		w.elementwise(op.ClampTo, 2*i32*side)
		w.elementwise(op.Sub, (2*f32+i32)*side)
		w.elementwise(op.Mul, 2*i32*rows)
		for range 2 {
			w.elementwise(op.RSub, 2*f32*side)
			w.elementwise(op.Add, i32*(rows+cols+p))
			w.elementwise(op.Mul, f32*(rows+cols+p))
			w.elementwise(op.Arange, i64*side)
		}
	}
	w.elementwise(op.Mul, 2*i64*rows)
	w.elementwise(op.Add, i64*(rows+cols+p))
	for range 3 {
		w.elementwise(op.Clone, 2*i64*p)
	}
	w.elementwise(op.Repeat, 2*i64*p)
	for range 4 {
		w.picked(p, i32)
		w.picked(p, f32)
	}
	w.elementwise(op.Stack, 2*i64*2*p)
	w.elementwise(op.Repeat, 2*i64*2*p)
	w.n = 1
	w.joinPositions(n, n*p)
}

// picked emits the selection of n elements of n by places.
func (w *walk) picked(n, width float64) {
	w.elementwise(op.Index, (2*width+indexBytes)*n)
}

// joinPositions joins what was made for each of n pictures, of patches together.
func (w *walk) joinPositions(n, patches float64) {
	const i32, f32, i64 = 4, 4, 8
	for _, width := range [2]float64{i32, f32} {
		for range 4 {
			w.elementwise(op.Cat, 2*width*patches)
		}
		w.elementwise(op.Stack, 2*4*width*patches)
	}
	w.elementwise(op.Cat, 2*i64*2*patches)
	w.elementwise(op.Mul, 3*i64*n)
	w.elementwise(op.RepeatInterleave, 2*i64*n)
	w.elementwise(op.IndexSelect, 3*i64*n)
	w.elementwise(op.CumSum, (i64+i32)*n)
	w.elementwise(op.Pad, i32*(2*n+1))
}

// patchEmbedding emits the embedding of patches, their interpolated positions and the
// tables of the rotation.
func (w *walk) patchEmbedding(v *model.Vision, patches float64) {
	const f32, i32, i64 = 4, 4, 8
	e, h := w.width(), float64(v.Hidden)
	pixels := 3 * float64(v.Patch*v.Patch*max(1, v.TemporalPatch))
	n := patches * h
	o := w.next(op.Elementwise, op.Convolution)
	o.Bytes = units.Bytes(e * (patches*pixels + h*pixels + h + n))
	o.Matrix = units.Ops(2*patches*pixels*h + n)
	w.elementwise(op.Embedding, 4*(i32*patches+2*e*n))
	w.elementwise(op.Mul, 4*((e+f32)*n+f32*patches))
	w.elementwise(op.Sum, (4+1)*f32*n)
	w.elementwise(op.ToCopy, (f32+e)*n)
	w.add(patches, h)
	head := h / float64(v.Heads)
	w.elementwise(op.Mul, 2*i64*patches+f32*head/4+f32*patches*head/2)
	w.elementwise(op.Cat, 2*f32*patches*head)
	w.elementwise(op.Cos, 2*f32*patches*head)
	w.elementwise(op.Sin, 2*f32*patches*head)
}

// tracedBlock emits one layer of the tower for n pictures of p patches: rotation in
// float32, attention picture by picture.
func (w *walk) tracedBlock(v *model.Vision, n, p float64) {
	const f32, i32 = 4, 4
	e, h, inter := w.width(), float64(v.Hidden), float64(v.Intermediate)
	patches, head := n*p, h/float64(v.Heads)
	size := patches * h
	w.nativeNorm(patches, h)
	w.biased(patches, h, 3*h)
	for range 2 { // queries and keys
		w.elementwise(op.ToCopy, (e+f32)*size)
		w.elementwise(op.Mul, f32*(2*size+patches*head))
		w.elementwise(op.Neg, f32*size)
		w.elementwise(op.Cat, 2*f32*size)
		w.elementwise(op.Mul, f32*(2*size+patches*head))
		w.elementwise(op.Add, 3*f32*size)
		w.elementwise(op.ToCopy, (e+f32)*size)
	}
	w.elementwise(op.Sub, 3*i32*n)
	outer := w.n
	w.n *= n
	o := w.next(op.Attention, op.GQAttention)
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = float64(v.Heads), float64(v.Heads), head, head
	o.Prefill = op.Span{Requests: 1, Tokens: p, Pairs: p * p, Context: p}
	o.Out, o.KV = w.base, w.base
	w.n = outer
	w.cat(size)
	w.biased(patches, h, h)
	w.add(patches, h)
	w.nativeNorm(patches, h)
	w.biased(patches, h, inter)
	w.elementwise(op.GELU, 2*e*patches*inter)
	w.biased(patches, inter, h)
	w.add(patches, h)
}

// tracedProjectors emits the merger from patches to language tokens, which norms
// patches, and its copies for early decoder layers, which norm tokens.
func (w *walk) tracedProjectors(v *model.Vision, patches, tokens float64) {
	in := float64(v.Hidden * max(1, v.Merge*v.Merge))
	w.nativeNorm(patches, float64(v.Hidden))
	if v.DeepStack > 0 {
		w.n = float64(v.DeepStack)
		w.nativeNorm(tokens, in)
	}
	w.n = float64(1 + v.DeepStack)
	w.biased(tokens, in, in)
	w.elementwise(op.GELU, 2*w.width()*tokens*in)
	w.biased(tokens, in, float64(v.Out))
	w.n = 1
}

// biased emits an unquantized product with a bias.
func (w *walk) biased(rows, depth, cols float64) {
	o := w.next(op.GEMM, op.AddMatMul)
	o.Rows, o.Depth, o.Cols = rows, depth, cols
	o.Weight, o.Out = w.base, w.base
	w.bias(true, cols)
}

// nativeNorm emits a layer norm that also returns its mean and deviation.
func (w *walk) nativeNorm(rows, cols float64) {
	const f32 = 4
	w.elementwise(op.NativeLayerNorm, w.width()*(2*rows*cols+2*cols)+2*f32*rows)
}
