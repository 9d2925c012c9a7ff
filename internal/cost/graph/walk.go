package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
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
	// Last says that this run is the last, Inside that the layers have begun and the
	// last norm is still to come.
	Last, Inside bool
	reps         float64 // layers of the run
	// k is a rank's share of the layers that are emitted, a their attention, or what they have instead, as the model has it.
	k *Kind
	a *model.Attention
	// Hashed is the number of those that choose experts by token id.
	Hashed float64

	// Base is the format of unquantized tensors, Hidden the hidden width.
	Base   dtype.Format
	Hidden float64

	// Tokens are the new tokens, Stream the rows of the residual stream on this rank.
	Tokens, Stream float64
	logits         float64 // rows that want logits
	images         Images
	groups

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

// index emits the selection of rows from a table of the same width.
func (w *Walk) index(table, rows, cols float64) {
	if w.offers(AtIndex) && w.rewrite(Part{Place: AtIndex, Table: table, Rows: rows, Cols: cols}) {
		return
	}
	name := op.Index
	if !w.g.spec.Compile {
		name = op.IndexSelect
	}
	w.Elementwise(name, w.Width()*2*rows*cols+IndexBytes*rows)
}
