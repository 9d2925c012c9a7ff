package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Walk emits the operators of one step. It lives on the stack of Append, and its only
// memory is the caller's slice; under a policy with a Rewriter it is on the heap.
type Walk struct {
	g *Graph
	// Items are the operators so far.
	Items []op.Item

	// Of what is being emitted: how often, on which branch, in which run of equal
	// layers (0 is outside), and what its size follows.
	Count   float64
	Branch  uint8
	Run     uint16
	Follows op.Measure
	// rows is what the rows of a layer follow: tokens, or requests in a pass that computes one token of each.
	rows op.Measure
	// Last says that this run is the last, Inside that the layers have begun and the
	// last norm is still to come.
	Last, Inside bool
	reps         float64 // layers of the run
	// Hashed is the number of those that choose experts by token id.
	Hashed float64

	// Base is the format of unquantized tensors, Hidden the hidden width.
	Base   dtype.Format
	Hidden float64

	// Tokens are the new tokens, Stream the rows of the residual stream on this rank.
	Tokens, Stream float64
	Requests       float64
	logits         float64 // rows that want logits
	images         Images
	segments       []Segment
	sums           Sums // instead of segments

	// Shards is the ranks that Group divides each cache by; 0 and 1 are none.
	Shards float64
	// ContextRanks are the ranks that share the cache of a request in this step, and
	// ContextFollows is what their exchanges follow.
	ContextRanks   float64
	ContextFollows op.Measure

	rewritten *Walk // this walk, if the policy has a rewriter
}

// Spec is what the graph was built from.
func (w *Walk) Spec() *Spec { return &w.g.spec }

// TP is the number of tensor-parallel ranks.
func (w *Walk) TP() float64 { return w.g.tp }

// Emitted is the operator just emitted.
func (w *Walk) Emitted() *op.Op { return &w.Items[len(w.Items)-1].Op }

// IndexBytes and ScaleBytes are the sizes of an index (int64) and of a scale of a whole
// tensor (float32).
const (
	IndexBytes = 8
	ScaleBytes = 4
)

// measure sums a batch.
func (w *Walk) measure(b Batch) {
	w.segments = b.Segments
	for _, s := range b.Segments {
		n := float64(s.Requests)
		w.Requests += n
		w.Tokens += n * float64(s.Query)
		if s.Decode {
			w.logits += n * float64(s.Query)
		} else {
			w.logits += n
		}
	}
	w.Stream = w.Tokens
	if w.g.cutsStream() {
		w.Stream = math.Ceil(w.Tokens / w.g.tp)
	}
	w.Count = 1
}

// Next appends an operator and returns it for filling in. The pointer is good
// until the next call.
func (w *Walk) Next(k op.Kind, name op.Name) *op.Op {
	if len(w.Items) < cap(w.Items) {
		w.Items = w.Items[:len(w.Items)+1]
		w.Items[len(w.Items)-1] = op.Item{}
	} else {
		w.Items = append(w.Items, op.Item{})
	}
	it := &w.Items[len(w.Items)-1]
	it.Count, it.Branch, it.Run, it.Layers, it.Follows = w.Count, w.Branch, w.Run, w.reps, w.Follows
	it.Op.Name, it.Op.Kind = name, k
	it.Op.In = w.Base
	it.Op.VectorIn = w.Base
	return &it.Op
}

// Elementwise emits an operator that is its traffic.
func (w *Walk) Elementwise(name op.Name, bytes float64) *op.Op {
	o := w.Next(op.Elementwise, name)
	o.Bytes = units.Bytes(bytes)
	return o
}

// Continued emits more work of the operator just emitted, without a launch.
func (w *Walk) Continued(name op.Name) *op.Op {
	o := w.Next(op.Elementwise, name)
	o.Launches = -1
	w.Items[len(w.Items)-1].Continues = true
	return o
}

// Width is the size of one unquantized element.
func (w *Walk) Width() float64 { return w.Base.Width() }

// Linear emits rows × depth times depth × cols under a scheme. The input is
// already quantized where the scheme needs that. joined is the number of
// layers whose weights were joined into this product.
func (w *Walk) Linear(s dtype.Scheme, rows, depth, cols float64, joined int) {
	o := w.Next(op.GEMM, op.MatMul)
	o.Rows, o.Depth, o.Cols = rows, depth, cols
	o.Out = w.Base
	switch o.In, o.Weight = w.MatrixFormat(s), s.Weight; {
	case !s.Quantized():
		o.Weight = w.Base
		return
	case s.Weight == dtype.FP4:
		o.Name = op.FP4Linear
	case s.Weight == dtype.INT4:
		o.Name = op.QuantLinearInt4
	case s.Weight == dtype.FP8:
		o.Name = op.FP8Linear
	default:
		o.Name = op.QuantLinear
	}
	w.scales(o, s, 1, joined)
}

// Product emits the same of an input that is quantized first, where the scheme needs that.
func (w *Walk) Product(s dtype.Scheme, rows, depth, cols float64) {
	w.Quantize(s, rows, depth)
	w.Linear(s, rows, depth, cols, 1)
}

// scales adds the scales of a quantized product of so many weight matrices.
func (w *Walk) scales(o *op.Op, s dtype.Scheme, matrices float64, joined int) {
	if !w.offers(AtProduct) || !w.rewrite(Part{Place: AtProduct, Weight: s.Weight, Group: int32(s.Group), Joined: int32(joined)}) {
		o.Bytes = units.Bytes(matrices)*(s.WeightBytes(o.Cols, o.Depth)-s.Weight.Bytes(o.Cols*o.Depth)) + actScales(o, s)
	}
}

// actScales is the traffic of activation scales: one per group, or per row.
func actScales(o *op.Op, s dtype.Scheme) units.Bytes {
	if s.WeightOnly() {
		return 0
	}
	if s.Group > 0 && s.Scale != dtype.None {
		return s.Scale.Bytes(o.Rows * math.Ceil(o.Depth/float64(s.Group)))
	}
	return units.Bytes(ScaleBytes * o.Rows)
}

// MatrixFormat is the format the matrix unit works in under a scheme.
func (w *Walk) MatrixFormat(s dtype.Scheme) dtype.Format { return w.g.spec.matrixFormat(s) }

// NarrowBytes is the size of rows × cols activations under a scheme, with their
// scales.
func (w *Walk) NarrowBytes(s dtype.Scheme, rows, cols float64) float64 {
	if w.MatrixFormat(s) == dtype.FP4 {
		return rows*cols/2 + rows*math.Ceil(cols/float64(s.Group))
	}
	return rows*cols + ScaleBytes
}

// Quantize emits the narrowing of rows × cols activations in front of a
// product, where the scheme has one.
func (w *Walk) Quantize(s dtype.Scheme, rows, cols float64) {
	if !w.g.spec.quantizesInput(s) {
		return
	}
	name := op.DynamicQuantize
	if s.Static {
		name = op.Quantize
	}
	o := w.Elementwise(name, w.Width()*rows*cols+w.NarrowBytes(s, rows, cols))
	if w.MatrixFormat(s) == dtype.FP4 {
		o.Vector = units.Ops(2*rows*cols + rows*math.Ceil(cols/float64(s.Group)))
	}
}

// Collective emits communication in a group; a group of one emits nothing.
// payload is this rank's input, traffic what memory reads and writes.
func (w *Walk) Collective(c op.Comm, name op.Name, g parallel.Group, payload, traffic float64) {
	if g.Size <= 1 {
		return
	}
	o := w.Next(op.Collective, name)
	o.Comm, o.Group = c, g
	o.Payload, o.Bytes = units.Bytes(payload), units.Bytes(traffic)
}

// AllReduce sums rows × cols activations over a group.
func (w *Walk) AllReduce(g parallel.Group, rows, cols float64) {
	b := w.Width() * rows * cols
	w.Collective(op.AllReduce, op.ReduceAll, g, w.g.spec.Narrow.sent(b, g.Size), 2*b)
}

// AllGather joins each rank's rows × cols activations.
func (w *Walk) AllGather(g parallel.Group, rows, cols float64) {
	b := w.Width() * rows * cols
	w.Collective(op.AllGather, op.GatherAll, g, b, b*float64(1+g.Size))
}

// Add emits the sum of two rows × cols tensors.
func (w *Walk) Add(rows, cols float64) { w.Elementwise(op.Add, 3*w.Width()*rows*cols) }

// Cat emits a concatenation that yields n elements.
func (w *Walk) Cat(n float64) { w.Elementwise(op.Cat, 2*w.Width()*n) }

// Convert emits a change of format; eager and compiled traces name it apart.
func (w *Walk) Convert(bytes float64) {
	name := op.Convert
	if !w.g.spec.Compile {
		name = op.ToCopy
	}
	w.Elementwise(name, bytes)
}

// Images are the pictures of the batch.
func (w *Walk) Images() Images { return w.images }
