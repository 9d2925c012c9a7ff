package tensorcast

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// compressed is DeepSeek-V4's attention to compressed entries.
type compressed struct{ cast }

// emit is the whole of DeepSeek-V4's attention from the norm's output up to the sum over TP
// ranks: projections one by one, norms and rotations of their own, and an unquantized
// product for each group of the output.
func (w compressed) emit(k *graph.Kind, a *model.Attention) {
	s, t := w.Spec().Quant.Attention, w.Tokens
	d, rank := float64(a.HeadDim), float64(a.QRank)
	w.Product(s, t, w.Hidden, rank)
	if a.Indexer.Own() || !w.Spec().NormQuantizes(s) {
		w.Norm(t, rank) // the selector takes it too
		w.Quantize(s, t, rank)
	} else {
		w.Elementwise(graph.QuantizingNorm(op.RMSNormQuant, s), w.Width()*(t*rank+rank)+w.NarrowBytes(s, t, rank))
	}
	w.Linear(s, t, rank, k.Queries*d, 1)
	w.unitHeads(t*k.Queries, d)
	w.rotateTail(a, k.Queries, false)
	w.entry(a)
	w.attend(k, a)
	w.rotateTail(a, k.Queries, true)
	w.output(k, a)
}

// unitHeads scales every head to a mean square of one, in five operators.
func (w compressed) unitHeads(rows, d float64) {
	n, e := rows*d, w.Width()
	w.Elementwise(op.Pow, 2*e*n)
	w.Elementwise(op.Mean, e*(n+rows))
	w.Elementwise(op.Add, 2*e*rows)
	w.Elementwise(op.Rsqrt, 2*e*rows)
	w.Elementwise(op.Mul, e*(2*n+rows))
}

// rotateTail emits the rotation of the last part of each head, in float32, with
// tables as wide as a head of the cache; back again with inverse.
func (w compressed) rotateTail(a *model.Attention, heads float64, inverse bool) {
	table, n := w.Tokens*float64(a.HeadDim), w.Tokens*heads*float64(a.RopeDim)
	o := w.Elementwise(op.RopeInPlace, w.Width()*(2*table+n)+2*f32*n)
	o.Vector32 = units.Ops(5 * n)
	if inverse {
		o.Vector32 += units.Ops(table)
	}
}

// anchor adds zero times another tensor to cols-wide inputs, which keeps products
// apart that would be joined.
func (w compressed) anchor(cols float64) {
	w.Elementwise(op.Add, w.Width()*w.Tokens*(2*cols+1))
}

// entry emits the cached entry of the new tokens: projection, norm, rotation,
// and its unrotated part rounded to fp8 and back.
func (w compressed) entry(a *model.Attention) {
	const fp8 = 1
	s, t, e := w.Spec().Quant.Attention, w.Tokens, w.Width()
	d, plain := float64(a.HeadDim), float64(a.HeadDim-a.RopeDim)
	w.Elementwise(op.Mul, 2*e*t)
	w.anchor(w.Hidden)
	w.Product(s, t, w.Hidden, d)
	w.Norm(t, d)
	w.rotateTail(a, 1, false)
	w.Elementwise(op.DynamicQuantize, (e+fp8)*t*plain+f32*t)
	w.Convert((e + fp8) * t * plain)
	w.Elementwise(op.CopyOp, 3*e*t*plain)
	w.Elementwise(op.SliceScatter, e*t*(2*d+plain))
}

// attend emits what of that attention looks at what earlier steps left: the
// selector, the cache and its compression, and the kernel.
func (w compressed) attend(k *graph.Kind, a *model.Attention) {
	d := float64(a.HeadDim)
	w.Follows = op.Several
	if a.Indexer.Own() {
		w.selector(a)
	}
	w.scatterWindow(a)
	w.compress(a, d, false)
	if a.Compress > 1 && !w.short() {
		w.Cat(d * (w.Tokens + math.Floor(w.Tokens/float64(a.Compress))))
	}
	w.Follows = op.Context
	w.kernel(k, a)
	w.Follows = op.Tokens
}

// window is the tokens attended to one by one.
func window(a *model.Attention) float64 { return float64(max(a.Window, a.Local)) }

// short reports whether a step counts as a decode: fewer than five tokens a request.
func (w compressed) short() bool {
	const decode = 5
	return w.Tokens/w.Requests < decode
}

// scatterWindow emits the write of the new entries into the window's cache, which is a
// ring: the last ones of a prefill that does not end with it go in two pieces. Layers
// that compress lose the second piece, whose result they do not read.
func (w compressed) scatterWindow(a *model.Attention) {
	rows, size := w.Tokens, window(a)
	last := 0.0
	if !w.short() && rows > size {
		last = math.Mod(rows, size)
		rows = size - last
	}
	entry := 2 * w.Width() * float64(a.HeadDim)
	w.Elementwise(op.WindowWrite, entry*rows)
	if last > 0 && a.Compress <= 1 {
		w.Elementwise(op.WindowWrite, entry*last)
	}
}

// selector emits the selector over compressed entries: queries, their own
// compressed keys, a weight for each head, scores and choice.
func (w compressed) selector(a *model.Attention) {
	s, t, e := w.Spec().Quant.Attention, w.Tokens, w.Width()
	ix, rank := &a.Indexer, float64(a.QRank)
	heads, d := float64(ix.Heads)/w.TP(), float64(ix.Dim)
	w.Elementwise(op.Mul, 2*e*t)
	w.anchor(w.Hidden)
	w.anchor(rank)
	w.Product(s, t, rank, heads*d)
	w.rotateTail(a, heads, false)
	w.compress(a, d, true)
	w.Product(s, t, w.Hidden, heads)
	w.Elementwise(op.Mul, 2*e*t*heads)
	w.score(a, heads)
	entries := t * (w.windowEntries(a) + w.compressedEntries(a))
	w.Elementwise(op.Cat, 2*indexBytes*entries)
	w.Convert((indexBytes + i32) * entries)
}

// windowEntries is the entries of the window that each query attends to.
func (w compressed) windowEntries(a *model.Attention) float64 {
	if w.short() {
		return window(a)
	}
	return min(w.Tokens, window(a))
}

// compressedEntries is the compressed entries that each query attends to: as many as
// the longest request has, or the selector chooses.
func (w compressed) compressedEntries(a *model.Attention) float64 {
	if a.Compress <= 1 {
		return 0
	}
	n := max(1, math.Floor(w.longest()/float64(a.Compress)))
	if a.Indexer.TopK > 0 {
		n = min(n, float64(a.Indexer.TopK))
	}
	return n
}

// score emits the scores of a selector and its choice. TensorCast takes the size of a
// page for that of the cache, so no query sees more than one page.
func (w compressed) score(a *model.Attention, heads float64) {
	ix, e := &a.Indexer, w.Width()
	d, n := float64(ix.Dim), w.Tokens*heads*float64(ix.Dim)
	var pairs, masked, chosen, placed float64
	for i := range w.Groups() {
		all, _ := w.Group(i)
		q, seq := all.Tokens/all.Requests, all.Context/all.Requests
		active := max(1, min(w.Spec().PageTokens(), math.Floor(seq/float64(a.Compress))))
		seen, most := all.Tokens*active, all.Tokens*min(float64(ix.TopK), active)
		pairs += seen
		chosen += most
		placed += most
		if seq == q { // masked and put in place
			masked += seen
			placed += 2 * most
		}
	}
	o := w.Elementwise(op.CompressedIndexer, e*(n+w.Tokens*heads)+indexBytes*(2*w.Requests+w.Tokens*w.compressedEntries(a)))
	o.Matrix = units.Ops(2 * heads * d * pairs)
	o.Vector = units.Ops(n*(math.Floor(math.Log2(d))+1+5) + 3*heads*pairs + 3*masked + chosen + placed)
	if w.TP() > 1 {
		o.Bytes += units.Bytes(2 * e * pairs)
	}
}

// compress emits the pooling of tokens into entries d wide, in float32: two
// projections, weights of a group's tokens, norm and rotation of what is complete.
// Four tokens are pooled with the four before them. Rotate is for a selector's keys.
func (w compressed) compress(a *model.Attention, d float64, rotate bool) {
	if a.Compress <= 1 {
		return
	}
	ratio, cols := float64(a.Compress), d
	span := ratio
	if a.Indexer.TopK > 0 {
		cols, span = 2*d, 2*ratio
	}
	t, h, e := w.Tokens, w.Hidden, w.Width()
	p := pooling{ratio: ratio, cols: cols, width: d, span: span}
	for i := range w.Groups() {
		all, _ := w.Group(i)
		p.add(all)
	}
	o := w.Elementwise(op.Compressor, e*t*h+2*indexBytes*w.Requests+2*f32*h*cols+2*f32*t*h+2*f32*p.state)
	o.In = dtype.F32
	o.Matrix = units.Ops(4 * t * h * cols)
	rope := float64(a.RopeDim)
	work, entry := p.work+5*p.rows*(d+rope), w.Base
	if rotate {
		work += p.rows * d * (math.Floor(math.Log2(d)) + 1 + 5)
		entry = w.Spec().Quant.KV
	} else {
		work += 3 * p.rows * (d - rope)
	}
	o.Vector32 = units.Ops(t*h + work)
	o.Bytes += units.Bytes(6*p.rows*d) + entry.Bytes(p.rows*d)
}

// pooling sums the work of requests' tokens that are pooled into entries.
type pooling struct {
	ratio, cols, width, span float64

	rows  float64 // entries completed
	state float64 // elements of values and of scores kept for entries to come
	work  float64
}

// add counts equal requests.
func (p *pooling) add(all op.Span) {
	n := all.Requests
	q, seq := all.Tokens/n, all.Context/n
	done := math.Floor(seq/p.ratio) - math.Floor((seq-q)/p.ratio)
	overlap := p.span > p.ratio
	p.rows += n * done
	if seq > q { // token by token
		p.work += n * q * p.cols
		p.state += n * q * p.cols
		p.work += n * done * 6 * p.span * p.width
		if overlap {
			p.work += n * done * 2 * p.span * p.width
			p.state += n * done * p.ratio * p.cols
		}
		return
	}
	kept := q - done*p.ratio
	if overlap && done > 0 {
		kept += p.ratio
		p.work += n * done * 2 * p.span * p.cols
	}
	p.state += n * kept * p.cols
	p.work += n * (kept*p.cols + done*p.ratio*p.cols + done*6*p.span*p.cols)
}

// kernel is that over the window and the compressed entries, in blocks
// of 64 entries and of at least 16 heads.
func (w compressed) kernel(k *graph.Kind, a *model.Attention) {
	const block, leastHeads = 64, 16
	t, e, d := w.Tokens, w.Width(), float64(a.HeadDim)
	heads := max(k.Queries, leastHeads)
	entries := w.windowEntries(a) + w.compressedEntries(a)
	blocks := math.Ceil(entries / block)
	o := w.Elementwise(op.SharedAttention, 2*e*t*heads*d+f32*max(float64(a.Heads), heads)+
		t*(e*entries*d+i32*blocks*block))
	o.Matrix = units.Ops(4 * t * blocks * block * heads * d)
	o.Vector = units.Ops(t * heads * (blocks*(3*block+4*(block-1)+3+d) + 1 + d))
}

// output emits the output projection in groups, unquantized, and the one behind.
func (w compressed) output(k *graph.Kind, a *model.Attention) {
	t, e := w.Tokens, w.Width()
	groups, rank := float64(a.OutGroup)/w.TP(), float64(a.OutRank)
	depth := k.Queries * float64(a.HeadDim) / groups
	o := w.Elementwise(op.BatchMatMul, e*groups*(t*depth+depth*rank+t*rank))
	o.Matrix = units.Ops(2 * groups * t * depth * rank)
	w.layOutGroups(groups, rank)
	s := w.Spec().Quant.Attention
	w.Product(s, t, rank*groups, w.Hidden)
	w.ReduceTP(t)
}

// layOutGroups copies what groups yield into rows of tokens.
func (w compressed) layOutGroups(groups, rank float64) {
	if groups > 1 && w.Tokens > 1 {
		w.Elementwise(op.Clone, 2*w.Width()*w.Tokens*groups*rank)
	}
}
