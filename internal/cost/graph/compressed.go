package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// tracesCompression reports whether an attention is DeepSeek-V4's, whose cached entry
// is key and value at once, as TensorCast traces it.
func (s *Spec) tracesCompression(a *model.Attention) bool {
	return s.Policy.TracedCompression && a.Kind == model.MLA && a.KeyIsVal
}

// tracedLatent emits that attention from the norm's output up to the sum over TP
// ranks: projections one by one, norms and rotations of their own, and an unquantized
// product for each group of the output.
func (w *walk) tracedLatent(k *kind, a *model.Attention) {
	s, t := w.g.spec.Quant.Attention, w.tokens
	d, rank := float64(a.HeadDim), float64(a.QRank)
	w.quantize(s, t, w.h)
	w.linear(s, t, w.h, rank, 1)
	if a.Indexer.Own() || !w.normQuantizes(s) {
		w.norm(t, rank) // the selector takes it too
		w.quantize(s, t, rank)
	} else {
		w.elementwise(normName(op.RMSNormQuant, s), w.width()*(t*rank+rank)+w.narrowBytes(s, t, rank))
	}
	w.linear(s, t, rank, k.hq*d, 1)
	w.unitHeads(t*k.hq, d)
	w.rotateTail(a, k.hq, false)
	w.tracedEntry(a)
	w.attendCompressed(k, a)
	w.rotateTail(a, k.hq, true)
	w.tracedOutput(k, a)
}

// unitHeads scales every head to a mean square of one, in five operators.
func (w *walk) unitHeads(rows, d float64) {
	n, e := rows*d, w.width()
	w.elementwise(op.Pow, 2*e*n)
	w.elementwise(op.Mean, e*(n+rows))
	w.elementwise(op.Add, 2*e*rows)
	w.elementwise(op.Rsqrt, 2*e*rows)
	w.elementwise(op.Mul, e*(2*n+rows))
}

// rotateTail emits the rotation of the last part of each head, in float32, with
// tables as wide as a head of the cache; back again with inverse.
func (w *walk) rotateTail(a *model.Attention, heads float64, inverse bool) {
	const f32 = 4
	table, n := w.tokens*float64(a.HeadDim), w.tokens*heads*float64(a.RopeDim)
	o := w.elementwise(op.RopeInPlace, w.width()*(2*table+n)+2*f32*n)
	o.Vector32 = units.Ops(5 * n)
	if inverse {
		o.Vector32 += units.Ops(table)
	}
}

// anchor adds zero times another tensor to cols-wide inputs, which keeps products
// apart that would be joined.
func (w *walk) anchor(cols float64) {
	w.elementwise(op.Add, w.width()*w.tokens*(2*cols+1))
}

// tracedEntry emits the cached entry of the new tokens: projection, norm, rotation,
// and its unrotated part rounded to fp8 and back.
func (w *walk) tracedEntry(a *model.Attention) {
	const fp8, f32 = 1, 4
	s, t, e := w.g.spec.Quant.Attention, w.tokens, w.width()
	d, plain := float64(a.HeadDim), float64(a.HeadDim-a.RopeDim)
	w.elementwise(op.Mul, 2*e*t)
	w.anchor(w.h)
	w.quantize(s, t, w.h)
	w.linear(s, t, w.h, d, 1)
	w.norm(t, d)
	w.rotateTail(a, 1, false)
	w.elementwise(op.DynamicQuantize, (e+fp8)*t*plain+f32*t)
	w.convert((e + fp8) * t * plain)
	w.elementwise(op.CopyOp, 3*e*t*plain)
	w.elementwise(op.SliceScatter, e*t*(2*d+plain))
}

// attendCompressed emits what of that attention looks at what earlier steps left: the
// selector, the cache and its compression, and the kernel.
func (w *walk) attendCompressed(k *kind, a *model.Attention) {
	d := float64(a.HeadDim)
	w.by = op.Several
	if a.Indexer.Own() {
		w.tracedSelector(a)
	}
	w.scatterWindow(a)
	w.compress(a, d, false)
	if a.Compress > 1 && !w.short() {
		w.cat(d * (w.tokens + math.Floor(w.tokens/float64(a.Compress))))
	}
	w.by = op.Context
	w.sharedKernel(k, a)
	w.by = op.Tokens
}

// window is the tokens attended to one by one.
func window(a *model.Attention) float64 { return float64(max(a.Window, a.Local)) }

// short reports whether a step counts as a decode: fewer than five tokens a request.
func (w *walk) short() bool {
	const decode = 5
	return w.tokens/w.requests < decode
}

// scatterWindow emits the write of the new entries into the window's cache, which is a
// ring: the last ones of a prefill that does not end with it go in two pieces. Layers
// that compress lose the second piece, whose result they do not read.
func (w *walk) scatterWindow(a *model.Attention) {
	rows, size := w.tokens, window(a)
	last := 0.0
	if !w.short() && rows > size {
		last = math.Mod(rows, size)
		rows = size - last
	}
	entry := 2 * w.width() * float64(a.HeadDim)
	w.elementwise(op.WindowWrite, entry*rows)
	if last > 0 && a.Compress <= 1 {
		w.elementwise(op.WindowWrite, entry*last)
	}
}

// tracedSelector emits the selector over compressed entries: queries, their own
// compressed keys, a weight for each head, scores and choice.
func (w *walk) tracedSelector(a *model.Attention) {
	const i32 = 4
	s, t, e := w.g.spec.Quant.Attention, w.tokens, w.width()
	ix, rank := &a.Indexer, float64(a.QRank)
	heads, d := float64(ix.Heads)/w.g.tp, float64(ix.Dim)
	w.elementwise(op.Mul, 2*e*t)
	w.anchor(w.h)
	w.anchor(rank)
	w.quantize(s, t, rank)
	w.linear(s, t, rank, heads*d, 1)
	w.rotateTail(a, heads, false)
	w.compress(a, d, true)
	w.quantize(s, t, w.h)
	w.linear(s, t, w.h, heads, 1)
	w.elementwise(op.Mul, 2*e*t*heads)
	w.score(a, heads)
	entries := t * (w.windowEntries(a) + w.compressedEntries(a))
	w.elementwise(op.Cat, 2*indexBytes*entries)
	w.convert((indexBytes + i32) * entries)
}

// windowEntries is the entries of the window that each query attends to.
func (w *walk) windowEntries(a *model.Attention) float64 {
	if w.short() {
		return window(a)
	}
	return min(w.tokens, window(a))
}

// compressedEntries is the compressed entries that each query attends to: as many as
// the longest request has, or the selector chooses.
func (w *walk) compressedEntries(a *model.Attention) float64 {
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
func (w *walk) score(a *model.Attention, heads float64) {
	ix, e := &a.Indexer, w.width()
	d, n := float64(ix.Dim), w.tokens*heads*float64(ix.Dim)
	var pairs, masked, chosen, placed float64
	for i := range w.groups() {
		all, _ := w.group(i)
		q, seq := all.Tokens/all.Requests, all.Context/all.Requests
		active := max(1, min(w.g.spec.PageTokens(), math.Floor(seq/float64(a.Compress))))
		seen, most := all.Tokens*active, all.Tokens*min(float64(ix.TopK), active)
		pairs += seen
		chosen += most
		placed += most
		if seq == q { // masked and put in place
			masked += seen
			placed += 2 * most
		}
	}
	o := w.elementwise(op.CompressedIndexer, e*(n+w.tokens*heads)+indexBytes*(2*w.requests+w.tokens*w.compressedEntries(a)))
	o.Matrix = units.Ops(2 * heads * d * pairs)
	o.Vector = units.Ops(n*(math.Floor(math.Log2(d))+1+5) + 3*heads*pairs + 3*masked + chosen + placed)
	if w.g.tp > 1 {
		o.Bytes += units.Bytes(2 * e * pairs)
	}
}

// compress emits the pooling of tokens into entries d wide, in float32: two
// projections, weights of a group's tokens, norm and rotation of what is complete.
// Four tokens are pooled with the four before them. Rotate is for a selector's keys.
func (w *walk) compress(a *model.Attention, d float64, rotate bool) {
	if a.Compress <= 1 {
		return
	}
	const f32 = 4
	ratio, cols := float64(a.Compress), d
	span := ratio
	if a.Indexer.TopK > 0 {
		cols, span = 2*d, 2*ratio
	}
	t, h, e := w.tokens, w.h, w.width()
	p := pooling{ratio: ratio, cols: cols, width: d, span: span}
	for i := range w.groups() {
		all, _ := w.group(i)
		p.add(all)
	}
	o := w.elementwise(op.Compressor, e*t*h+2*indexBytes*w.requests+2*f32*h*cols+2*f32*t*h+2*f32*p.state)
	o.In = dtype.F32
	o.Matrix = units.Ops(4 * t * h * cols)
	rope := float64(a.RopeDim)
	work, entry := p.work+5*p.rows*(d+rope), w.base
	if rotate {
		work += p.rows * d * (math.Floor(math.Log2(d)) + 1 + 5)
		entry = w.g.spec.Quant.KV
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

// sharedKernel emits the kernel over the window and the compressed entries, in blocks
// of 64 entries and of at least 16 heads.
func (w *walk) sharedKernel(k *kind, a *model.Attention) {
	const block, leastHeads, f32, i32 = 64, 16, 4, 4
	t, e, d := w.tokens, w.width(), float64(a.HeadDim)
	heads := max(k.hq, leastHeads)
	entries := w.windowEntries(a) + w.compressedEntries(a)
	blocks := math.Ceil(entries / block)
	o := w.elementwise(op.SharedAttention, 2*e*t*heads*d+f32*max(float64(a.Heads), heads)+
		t*(e*entries*d+i32*blocks*block))
	o.Matrix = units.Ops(4 * t * blocks * block * heads * d)
	o.Vector = units.Ops(t * heads * (blocks*(3*block+4*(block-1)+3+d) + 1 + d))
}

// tracedOutput emits the output projection in groups, unquantized, and the one behind.
func (w *walk) tracedOutput(k *kind, a *model.Attention) {
	t, e := w.tokens, w.width()
	groups, rank := float64(a.OutGroup)/w.g.tp, float64(a.OutRank)
	depth := k.hq * float64(a.HeadDim) / groups
	o := w.elementwise(op.BatchMatMul, e*groups*(t*depth+depth*rank+t*rank))
	o.Matrix = units.Ops(2 * groups * t * depth * rank)
	w.layOutGroups(groups, rank)
	s := w.g.spec.Quant.Attention
	w.quantize(s, t, rank*groups)
	w.linear(s, t, rank*groups, w.h, 1)
	w.reduceTP(t)
}

// layOutGroups copies what groups yield into rows of tokens.
func (w *walk) layOutGroups(groups, rank float64) {
	if groups > 1 && w.tokens > 1 {
		w.elementwise(op.Clone, 2*w.width()*w.tokens*groups*rank)
	}
}
