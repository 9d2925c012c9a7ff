package tensorcast

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// tower is the image tower.
type tower struct{ cast }

// emit is the whole of a tower that TensorCast leaves as its source writes it, compiled or not:
// Qwen3-VL's, with learned positions, for n pictures of rows × cols patches.
func (w tower) emit(graph.Part) bool {
	v, im := w.Spec().Model.Vision, w.Images()
	n, p, rows := float64(im.Count), float64(im.Patches), float64(im.Rows)
	if rows == 0 {
		rows = math.Sqrt(p)
	}
	w.picturePositions(n, rows, p/rows)
	w.patchEmbedding(v, n*p)
	w.Count = float64(v.Layers)
	w.block(v, n, p)
	w.Count = 1
	w.projectors(v, n*p, n*float64(im.Tokens))
	w.Elementwise(op.Prod, 4*i64*n)
	w.Elementwise(op.Div, 2*i64*n)
	if im.Count > 1 {
		w.Cat(n * float64(im.Tokens) * float64(v.Out))
	}
	w.Elementwise(op.Eq, (i64+flag)*w.Tokens)
	return true
}

// picturePositions emits the places of patches: four neighbours of each in the table
// of positions with their weights, the order of merged patches, rows and columns, and
// where each picture begins.
func (w tower) picturePositions(n, rows, cols float64) {
	p := rows * cols
	w.Count = n
	for _, side := range [2]float64{rows, cols} {
		w.Elementwise(op.Linspace, f32*side)
		w.Elementwise(op.ToCopy, (f32+i32)*side)
		w.Elementwise(op.Add, 2*i32*side)
		w.Elementwise(op.ClampTo, 2*i32*side)
		w.Elementwise(op.Sub, (2*f32+i32)*side)
		w.Elementwise(op.Mul, 2*i32*rows)
		for range 2 {
			w.Elementwise(op.RSub, 2*f32*side)
			w.Elementwise(op.Add, i32*(rows+cols+p))
			w.Elementwise(op.Mul, f32*(rows+cols+p))
			w.Elementwise(op.Arange, i64*side)
		}
	}
	w.Elementwise(op.Mul, 2*i64*rows)
	w.Elementwise(op.Add, i64*(rows+cols+p))
	for range 3 {
		w.Elementwise(op.Clone, 2*i64*p)
	}
	w.Elementwise(op.Repeat, 2*i64*p)
	for range 4 {
		w.picked(p, i32)
		w.picked(p, f32)
	}
	w.Elementwise(op.Stack, 2*i64*2*p)
	w.Elementwise(op.Repeat, 2*i64*2*p)
	w.Count = 1
	w.joinPositions(n, n*p)
}

// picked emits the selection of n elements of n by places.
func (w tower) picked(n, width float64) {
	w.Elementwise(op.Index, (2*width+indexBytes)*n)
}

// joinPositions joins what was made for each of n pictures, of patches together.
func (w tower) joinPositions(n, patches float64) {
	for _, width := range [2]float64{i32, f32} {
		for range 4 {
			w.Elementwise(op.Cat, 2*width*patches)
		}
		w.Elementwise(op.Stack, 2*4*width*patches)
	}
	w.Elementwise(op.Cat, 2*i64*2*patches)
	w.Elementwise(op.Mul, 3*i64*n)
	w.Elementwise(op.RepeatInterleave, 2*i64*n)
	w.Elementwise(op.IndexSelect, 3*i64*n)
	w.Elementwise(op.CumSum, (i64+i32)*n)
	w.Elementwise(op.Pad, i32*(2*n+1))
}

// patchEmbedding emits the embedding of patches, their interpolated positions and the
// tables of the rotation.
func (w tower) patchEmbedding(v *model.Vision, patches float64) {
	e, h := w.Width(), float64(v.Hidden)
	pixels := 3 * float64(v.Patch*v.Patch*max(1, v.TemporalPatch))
	n := patches * h
	o := w.Next(op.Elementwise, op.Convolution)
	o.Bytes = units.Bytes(e * (patches*pixels + h*pixels + h + n))
	o.Matrix = units.Ops(2*patches*pixels*h + n)
	w.Elementwise(op.Embedding, 4*(i32*patches+2*e*n))
	w.Elementwise(op.Mul, 4*((e+f32)*n+f32*patches))
	w.Elementwise(op.Sum, (4+1)*f32*n)
	w.Elementwise(op.ToCopy, (f32+e)*n)
	w.Add(patches, h)
	head := h / float64(v.Heads)
	w.Elementwise(op.Mul, 2*i64*patches+f32*head/4+f32*patches*head/2)
	w.Elementwise(op.Cat, 2*f32*patches*head)
	w.Elementwise(op.Cos, 2*f32*patches*head)
	w.Elementwise(op.Sin, 2*f32*patches*head)
}

// block emits one layer of the tower for n pictures of p patches: rotation in
// float32, attention picture by picture.
func (w tower) block(v *model.Vision, n, p float64) {
	e, h, inter := w.Width(), float64(v.Hidden), float64(v.Intermediate)
	patches, head := n*p, h/float64(v.Heads)
	size := patches * h
	w.nativeNorm(patches, h)
	w.biased(patches, h, 3*h)
	for range 2 { // queries and keys
		w.Elementwise(op.ToCopy, (e+f32)*size)
		w.Elementwise(op.Mul, f32*(2*size+patches*head))
		w.Elementwise(op.Neg, f32*size)
		w.Elementwise(op.Cat, 2*f32*size)
		w.Elementwise(op.Mul, f32*(2*size+patches*head))
		w.Elementwise(op.Add, 3*f32*size)
		w.Elementwise(op.ToCopy, (e+f32)*size)
	}
	w.Elementwise(op.Sub, 3*i32*n)
	outer := w.Count
	w.Count *= n
	o := w.Next(op.Attention, op.GQAttention)
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = float64(v.Heads), float64(v.Heads), head, head
	o.Prefill = op.Span{Requests: 1, Tokens: p, Pairs: p * p, Context: p}
	o.Out, o.KV = w.Base, w.Base
	w.Count = outer
	w.Cat(size)
	w.biased(patches, h, h)
	w.Add(patches, h)
	w.nativeNorm(patches, h)
	w.biased(patches, h, inter)
	w.Elementwise(op.GELU, 2*e*patches*inter)
	w.biased(patches, inter, h)
	w.Add(patches, h)
}

// projectors emits the merger from patches to language tokens, which norms
// patches, and its copies for early decoder layers, which norm tokens.
func (w tower) projectors(v *model.Vision, patches, tokens float64) {
	in := float64(v.Hidden * max(1, v.Merge*v.Merge))
	w.nativeNorm(patches, float64(v.Hidden))
	if v.DeepStack > 0 {
		w.Count = float64(v.DeepStack)
		w.nativeNorm(tokens, in)
	}
	w.Count = float64(1 + v.DeepStack)
	w.biased(tokens, in, in)
	w.Elementwise(op.GELU, 2*w.Width()*tokens*in)
	w.biased(tokens, in, float64(v.Out))
	w.Count = 1
}

// biased emits an unquantized product with a bias.
func (w tower) biased(rows, depth, cols float64) {
	o := w.Next(op.GEMM, op.AddMatMul)
	o.Rows, o.Depth, o.Cols = rows, depth, cols
	o.Weight, o.Out = w.Base, w.Base
	w.Bias(true, cols)
}

// nativeNorm emits a layer norm that also returns its mean and deviation.
func (w tower) nativeNorm(rows, cols float64) {
	w.Elementwise(op.NativeLayerNorm, w.Width()*(2*rows*cols+2*cols)+2*f32*rows)
}
