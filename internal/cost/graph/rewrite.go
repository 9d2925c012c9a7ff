package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Rewriter replaces the operators of parts of a graph by those of another cost model.
// Implementations are comparable values.
type Rewriter interface {
	// Parts are the parts of a spec's graph that may be rewritten, found once. An error
	// is a spec that the other model cannot count.
	Parts(s *Spec) (Places, error)
	// Rewrite emits the operators of a part and reports true, or reports false and
	// leaves the part to the graph.
	Rewrite(w *Walk, p Part) bool
}

// Part is a part of a graph that is about to be emitted, or was just emitted where its
// place says so. Fields that a place does not use are zero.
type Part struct {
	Place  Place
	Weight dtype.Format // of a product, with Group weights to a scale
	Group  int32
	Joined int32 // products joined into the one just emitted
	First  int32 // index of the first item of the part
	Kind   *Kind // the kind of layer it belongs to
	FFN    *model.FFN
	Rows   float64
	Cols   float64
	Table  float64 // rows of the table that Index selects from
}

// Places is a set of places.
type Places uint64

// Add adds a place to the set.
func (s *Places) Add(p Place) { *s |= 1 << p }

// Place names a part.
type Place uint8

// The places, in the order of a step.
const (
	AtBegin          Place = iota // the batch is known, nothing is emitted
	AtVision                      // the image tower
	AtSplitStreams                // behind the embedding: nothing
	AtFirstNorm                   // in front of the first layer: nothing
	AtWholeLayer                  // a decoder layer
	AtMixer                       // the token mixer of a layer, with its norm
	AtNorm                        // Rows × Cols
	AtIndex                       // Rows × Cols of Table rows
	AtQKV                         // query, key and value products
	AtSumSquares                  // the sum behind a norm over all heads
	AtRope                        // the rotation of queries and keys
	AtOutGate                     // the gate on attention's output
	AtLatentInputs                // norm and projections in front of latent attention
	AtIndexer                     // the selector of sparse latent attention
	AtLatentWrite                 // in front of the write to the latent cache: nothing
	AtAttended                    // attention, just emitted
	AtGatheredQuery               // queries gathered for context parallelism, just emitted
	AtMergeOutputs                // partial outputs of context parallelism
	AtDeltaInputs                 // the input projections of a gated delta rule
	AtRecurrence                  // convolution and recurrence
	AtGatedNorm                   // the norm behind the recurrence
	AtMoE                         // a mixture of experts
	AtRouter                      // scores and choice of experts, Rows tokens
	AtExpertsBetween              // quantization between the products of experts
	AtSharedGate                  // the gate on the shared experts, whose products begin at First
	AtSharedSum                   // the sum of shared and routed experts
	AtProduct                     // the scales of the quantized product just emitted
	AtActivated                   // the activation of an MLP, just emitted
	AtLayerSum                    // the residual sum at the end of a layer
	AtJoinStreams                 // behind the last layer: nothing
	AtLastNorm                    // the norm behind the last layer
	AtRecall                      // what of a layer looks at earlier steps
	AtEnd                         // everything is emitted
)

// offers reports whether a part goes to the policy's rewriter.
func (w *Walk) offers(at Place) bool { return w.g.places>>at&1 != 0 }

// rewrite hands a part to the policy's rewriter.
func (w *Walk) rewrite(p Part) bool { return w.g.spec.Policy.Rewriter.Rewrite(w.rewritten, p) }

// rewrites hands a part without sizes to the policy's rewriter, if it is offered. It is
// inlined, so that a part that is not offered costs one comparison.
func (w *Walk) rewrites(at Place, k *Kind) bool { return w.offers(at) && w.rewriteKind(at, k) }

//go:noinline
func (w *Walk) rewriteKind(at Place, k *Kind) bool { return w.rewrite(Part{Place: at, Kind: k}) }

// start prepares a walk: w itself, or one on the heap where a rewriter gets hold of it.
func (g *Graph) start(w *Walk, dst []op.Item) *Walk {
	if g.places != 0 {
		heap := g.spare.Swap(nil)
		if heap == nil {
			heap = new(Walk)
		}
		*heap = Walk{rewritten: heap}
		w = heap
	}
	w.g, w.Items, w.Base, w.Hidden, w.policy = g, dst, g.base, g.hidden, &g.spec.Policy
	w.ContextRanks, w.ContextFollows = float64(g.spec.Layout.DCP), op.Tokens
	return w
}

// finish returns the operators of a walk and keeps its memory for the next.
func (g *Graph) finish(w *Walk) []op.Item {
	items := w.Items
	if heap := w.rewritten; heap != nil {
		heap.Items, heap.segments = nil, nil
		g.spare.Store(heap)
	}
	return items
}
