package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// walk emits the operators of one step. It lives on the stack of Append; its
// only memory is the caller's slice.
type walk struct {
	g     *Graph
	items []op.Item
	n     float64    // repeat count of what is being emitted
	br    uint8      // branch of what is being emitted
	run   uint16     // run of layers being emitted, 0 outside
	reps  float64    // layers of that run
	ends  bool       // that run is the last
	joins bool       // its layers are compiled together
	hash  float64    // of those, layers that choose experts by token id
	by    op.Measure // what the size of what is being emitted follows
	base  dtype.Format
	h     float64 // hidden width

	tokens   float64 // new tokens
	stream   float64 // rows of the residual stream on this rank
	requests float64
	logits   float64 // rows that want logits
	images   Images
	segments []Segment
	sums     Sums    // instead of segments
	shards   float64 // ranks that groups divide each cache by; 0 and 1 = none
}

// int64 indices, and scalar scales in float32.
const (
	indexBytes = 8
	scaleBytes = 4
)

// measure sums a batch.
func (w *walk) measure(b Batch) {
	w.segments = b.Segments
	for _, s := range b.Segments {
		n := float64(s.Requests)
		w.requests += n
		w.tokens += n * float64(s.Query)
		if s.Decode {
			w.logits += n * float64(s.Query)
		} else {
			w.logits += n
		}
	}
	w.stream = w.tokens
	if w.g.cutsStream() {
		w.stream = math.Ceil(w.tokens / w.g.tp)
	}
	w.n = 1
}

// next appends an operator and returns it for filling in. The pointer is good
// until the next call.
func (w *walk) next(k op.Kind, name op.Name) *op.Op {
	if len(w.items) < cap(w.items) {
		w.items = w.items[:len(w.items)+1]
		w.items[len(w.items)-1] = op.Item{}
	} else {
		w.items = append(w.items, op.Item{})
	}
	it := &w.items[len(w.items)-1]
	it.Count, it.Branch, it.Run, it.Layers, it.Follows = w.n, w.br, w.run, w.reps, w.by
	it.Op.Name, it.Op.Kind = name, k
	it.Op.In = w.base
	it.Op.VectorIn = w.base
	return &it.Op
}

// elementwise emits an operator that is its traffic.
func (w *walk) elementwise(name op.Name, bytes float64) *op.Op {
	o := w.next(op.Elementwise, name)
	o.Bytes = units.Bytes(bytes)
	return o
}

// continued emits more work of the operator just emitted, without a launch.
func (w *walk) continued(name op.Name) *op.Op {
	o := w.next(op.Elementwise, name)
	o.Launches = -1
	w.items[len(w.items)-1].Continues = true
	return o
}

// width is the size of one unquantized element.
func (w *walk) width() float64 { return w.base.Width() }

// linear emits rows × depth times depth × cols under a scheme. The input is
// already quantized where the scheme wants it so. merged is the number of
// layers whose weights were joined into this product.
func (w *walk) linear(s dtype.Scheme, rows, depth, cols float64, merged int) {
	o := w.next(op.GEMM, op.MatMul)
	o.Rows, o.Depth, o.Cols = rows, depth, cols
	o.Out = w.base
	w.quantizedProduct(o, s, 1)
	if s.Weight == dtype.FP4 && s.Group > 0 && w.g.spec.Policy.QuantizedActivations {
		// A merged MXFP4 product carries the scales of one member only.
		o.Bytes = units.Bytes((rows + cols/float64(merged)) * math.Ceil(depth/float64(s.Group)))
	}
}

// quantizedProduct sets formats, scales and dequantization of a product whose
// shape is set. matrices is the number of weight matrices in it.
func (w *walk) quantizedProduct(o *op.Op, s dtype.Scheme, matrices float64) {
	o.In, o.Weight = w.matrixFormat(s), s.Weight
	switch {
	case !s.Quantized():
		o.In, o.Weight = w.base, w.base
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
	if w.g.spec.Policy.QuantizedActivations {
		if s.Group > 0 { // block scales of inputs and weights, one byte each
			o.Bytes = units.Bytes((o.Rows + matrices*o.Cols) * math.Ceil(o.Depth/float64(s.Group)))
		} else {
			o.Bytes = units.Bytes(2 * scaleBytes * matrices)
		}
		if s.Weight == dtype.INT4 {
			// TensorCast dequantizes four-bit weights in float32 first.
			o.Vector32 = units.Ops(matrices * o.Depth * o.Cols)
		}
		return
	}
	o.Bytes = matrices2(matrices)*(s.WeightBytes(o.Cols, o.Depth)-s.Weight.Bytes(o.Cols*o.Depth)) + actScales(o, s)
}

func matrices2(n float64) units.Bytes { return units.Bytes(n) }

// actScales is the traffic of activation scales: one per group, or per row.
func actScales(o *op.Op, s dtype.Scheme) units.Bytes {
	if s.WeightOnly() {
		return 0
	}
	if s.Group > 0 && s.Scale != dtype.None {
		return s.Scale.Bytes(o.Rows * math.Ceil(o.Depth/float64(s.Group)))
	}
	return units.Bytes(scaleBytes * o.Rows)
}

// matrixFormat is the format the matrix unit works in under a scheme.
func (w *walk) matrixFormat(s dtype.Scheme) dtype.Format {
	switch {
	case !s.Quantized():
		return w.base
	case w.g.spec.Policy.QuantizedActivations:
		// TensorCast hands every quantized product except MXFP4 int8 inputs.
		if s.Weight == dtype.FP4 {
			return dtype.FP4
		}
		return dtype.INT8
	case s.WeightOnly():
		return w.base
	default:
		return s.Activation
	}
}

// quantizesInput reports whether activations are narrowed before a product.
func (s *Spec) quantizesInput(q dtype.Scheme) bool {
	return q.Quantized() && (s.Policy.QuantizedActivations || !q.WeightOnly())
}

// narrowBytes is the size of rows × cols activations under a scheme, with their
// scales.
func (w *walk) narrowBytes(s dtype.Scheme, rows, cols float64) float64 {
	if w.matrixFormat(s) == dtype.FP4 {
		return rows*cols/2 + rows*math.Ceil(cols/float64(s.Group))
	}
	return rows*cols + scaleBytes
}

// quantize emits the narrowing of rows × cols activations in front of a
// product, where the scheme has one.
func (w *walk) quantize(s dtype.Scheme, rows, cols float64) {
	if !w.g.spec.quantizesInput(s) {
		return
	}
	name := op.DynamicQuantize
	if s.Static {
		name = op.Quantize
	}
	o := w.elementwise(name, w.width()*rows*cols+w.narrowBytes(s, rows, cols))
	if w.matrixFormat(s) == dtype.FP4 {
		o.Vector = units.Ops(2*rows*cols + rows*math.Ceil(cols/float64(s.Group)))
	}
}

// collective emits communication in a group; a group of one emits nothing.
// payload is this rank's input, traffic what memory reads and writes.
func (w *walk) collective(c op.Comm, name op.Name, g parallel.Group, payload, traffic float64) {
	if g.Size <= 1 {
		return
	}
	o := w.next(op.Collective, name)
	o.Comm, o.Group = c, g
	o.Payload, o.Bytes = units.Bytes(payload), units.Bytes(traffic)
}

// allReduce sums rows × cols activations over a group.
func (w *walk) allReduce(g parallel.Group, rows, cols float64) {
	b := w.width() * rows * cols
	w.collective(op.AllReduce, op.ReduceAll, g, b, 2*b)
}

// allGather joins each rank's rows × cols activations.
func (w *walk) allGather(g parallel.Group, rows, cols float64) {
	b := w.width() * rows * cols
	w.collective(op.AllGather, op.GatherAll, g, b, b*float64(1+g.Size))
}

// add emits the sum of two rows × cols tensors.
func (w *walk) add(rows, cols float64) { w.elementwise(op.Add, 3*w.width()*rows*cols) }

// cat emits a concatenation that yields n elements.
func (w *walk) cat(n float64) { w.elementwise(op.Cat, 2*w.width()*n) }
