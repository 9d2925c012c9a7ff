package graph

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Spec is what a graph is built from, complete: no field takes a default here.
type Spec struct {
	Model  *model.Model
	Layout parallel.Layout
	Policy Policy
	Quant  Quant

	// Compile fuses operators; without it every elementwise step is its own.
	Compile bool
	// MTP is the number of tokens drafted in a step, by the model's own MTP modules or by Drafter.
	MTP     int
	Drafter Drafter

	// Draft is a draft model that proposes tokens before a decode step.
	Draft Draft

	EmbeddingTP EmbeddingTP
	// SharedExpertTP shards the shared experts over TP instead of replicating them.
	SharedExpertTP bool
	// SequenceParallel replaces all-reduce by reduce-scatter and all-gather
	// around the norms, where TensorCast's pass fires.
	SequenceParallel bool
	// Vision says that the image tower is loaded.
	Vision bool
	// FusesShared computes a shared expert as wide as the others among them, chosen by every token.
	FusesShared bool
	// Sparse is how kernels of sparse latent attention work, where that is known.
	Sparse Sparse
	// SharesAttention computes the attention of decodes beside prompts in the kernel of these, where every query head reads the
	// cache for itself.
	SharesAttention bool
	// UnsplitHeads is the size of heads whose decode attention to all tokens gives the keys of a request and KV head to one unit of
	// the device; 0 where kernels split them.
	UnsplitHeads int
	// WidensExperts says that kernels of experts in MXFP4 under 16-bit inputs widen the weights of a tile before they multiply.
	WidensExperts bool
	// Replayed is the most rows of a step that replays captured graphs and has as many rows as the graph: those of no request
	// choose experts like the others. 0 where such rows choose none.
	Replayed int
	// EvenExperts says that tokens choose all experts equally often, as they do where weights were drawn at random.
	EvenExperts bool
	// ReducedAllReduce is how all-reduce sends large tensors in fewer bits, where it does.
	ReducedAllReduce ReducedAllReduce
	// MatMulAllReduce overlaps a product with the all-reduce behind it.
	MatMulAllReduce bool
	// DispatchCombine replaces dispatch, experts and combination by one kernel.
	DispatchCombine bool
}

// Sparse says that kernels of sparse latent attention compute multiples of so many heads, on latents, whatever a rank has; 0 is not known.
type Sparse struct {
	Heads  int
	Decode bool // decodes too
	Whole  bool // as many keys as a query may choose, however few there are
	Dense  bool // prompts no longer than that run kernels of dense attention
}

// ReducedAllReduce is the reduced precision of all-reduces on 2, 4 and 8 ranks: one of at least Least bytes takes a Share of the time, as if
// it sent that share of them; 0 is all. With 4 bits for 16 a share is a little above a quarter.
type ReducedAllReduce [3]struct{ Share, Least float64 }

// sent is what a rank sends of its bytes to sum them over so many ranks.
func (n *ReducedAllReduce) sent(bytes float64, ranks int32) float64 {
	for i := range n {
		if ranks == 2<<i && n[i].Share > 0 && bytes >= n[i].Least {
			return n[i].Share * bytes
		}
	}
	return bytes
}

// Drafter is what drafts tokens in place of MTP modules; the zero value is these.
type Drafter struct {
	Method draft.Method
	Head   *model.Model // of EAGLE-3
}

// Draft is a draft model made of decoder layers like the target's last.
type Draft struct {
	Layers int `json:"layers" minimum:"0" maximum:"1024"`
	Block  int `json:"block" minimum:"0" maximum:"1024"` // tokens verified in a step
}

// Room is the tokens a step may add to each request's cache.
func (s *Spec) Room() int { return max(s.MTP, s.Draft.Block-1) + 1 }

// EmbeddingTP says how the word embedding is sharded over TP.
type EmbeddingTP uint8

// The ways.
const (
	EmbeddingCopied EmbeddingTP = iota
	EmbeddingCols               // cut along the hidden width
	EmbeddingRows               // cut along the vocabulary
)

// Quant is the number format of every part, resolved from the checkpoint and
// the user's actions.
type Quant struct {
	Base      dtype.Format // unquantized tensors and activations
	Attention dtype.Scheme
	Dense     dtype.Scheme
	Experts   dtype.Scheme
	Shared    dtype.Scheme
	Head      dtype.Scheme
	// KV is the format of the cache, AttentionIn of queries and scores; equal to
	// Base when attention is not quantized.
	KV          dtype.Format
	AttentionIn dtype.Format
	// State is the format of recurrent states; none is the model's own.
	State dtype.Format
	// ExpertTile is what the inner width of an expert on a rank is padded to a multiple of, in memory and in its products; 0 is
	// no padding.
	ExpertTile int
}

// Segment is a number of equal requests in a batch.
type Segment struct {
	Requests int
	Query    int  // new tokens of each
	Seq      int  // tokens of each after this step: cached + new
	Decode   bool // wants logits for every new token, not for the last only
}

// Batch is what one data-parallel rank processes in a step.
type Batch struct {
	Segments []Segment
	// ImagePatches and ImageTokens are the vision tower's input patches and the
	// tokens it yields, over all images of the rank's batch.
	Images Images
}

// Images describes the pictures of a batch; the zero value is none.
type Images struct {
	Count   int // pictures on this rank
	Patches int // patches of each
	Rows    int // patches along the height of each; 0 = as for a square
	Tokens  int // language tokens of each
}

// Pictures are so many images of a size in pixels.
func Pictures(v *model.Vision, count, height, width int) Images {
	return Images{Count: count, Patches: v.Patches(height, width), Rows: v.Rows(height), Tokens: v.Tokens(height, width)}
}

// Graph is a prepared Spec: every size that does not depend on the batch.
// It is immutable and safe for concurrent use.
type Graph struct {
	spec  Spec
	runs  []run // layers of the busiest pipeline stage… all stages, in order
	kinds []Kind
	// recalls are the runs and what predicts behind them, those of equal attention together.
	recalls []recall
	// pp is the number of stage boundaries.
	boundaries float64
	tp         float64
	hidden     float64
	base       dtype.Format
	vocabRank  float64
	ropeDim    float64
	maxPos     float64
	mtp        Kind   // of MTP modules
	head       *Graph // of an EAGLE-3 head
	// layerInputs is the width of all layers' own inputs together.
	layerInputs float64
	places      Places               // parts that are rewritten
	spare       atomic.Pointer[Walk] // where any is; nil while in use
}

// run is a number of equal layers.
type run struct {
	kind   int
	count  float64
	hashed float64 // of those, layers that choose experts by token id
}

// recall is a number of layers that look at what earlier steps left alike.
type recall struct {
	graph  *Graph
	kind   *Kind
	count  float64
	run    uint16 // the first of theirs, from 1; 0 outside
	single bool   // computes one token of each request
}

// Kind holds one rank's share of a layer kind.
type Kind struct {
	Layer   model.Layer
	Queries float64 // query heads
	Keys    float64 // key/value heads
	cached  float64 // of those in the cache
	whole   bool    // attention's inputs are not cut over TP, only its output
	inter   float64 // dense inner width, rounded up
	Experts ExpertShare
}

// ExpertShare is one rank's share of a mixture of experts.
type ExpertShare struct {
	Local  float64 // experts on this rank
	deal   op.Deal
	dealt  op.Dealt
	Inner  float64 // inner width of each
	shared float64 // inner width of the shared experts
	Hidden float64 // width the routed experts work in
}

// New prepares a graph. It reports layouts that are impossible for the model.
func New(s Spec) (*Graph, error) {
	if s.Model == nil || len(s.Model.Layers) == 0 {
		return nil, errors.New("graph: the model has no layers")
	}
	if err := s.Layout.Check(s.Model); err != nil {
		return nil, err
	}
	if s.SharedExpertTP && s.Layout.EP <= 1 {
		return nil, field.Errorf("%s needs %s above 1", field.Name("shared_expert_tp"), field.Name("ep_size"))
	}
	m := s.Model
	g := &Graph{
		spec:       s,
		boundaries: float64(s.Layout.PP - 1),
		tp:         float64(s.Layout.TP),
		hidden:     float64(m.Hidden),
		base:       s.Quant.Base,
		vocabRank:  math.Ceil(float64(m.Vocab) / float64(s.Layout.TP)),
		maxPos:     float64(m.MaxPosition),
		ropeDim:    s.RotaryWidth(), layerInputs: m.LayerInputs(),
	}
	if r := s.Policy.Rewriter; r != nil {
		var err error
		if g.places, err = r.Parts(&g.spec); err != nil {
			return nil, err
		}
	}
	for _, l := range m.Kinds {
		g.kinds = append(g.kinds, share(l, s))
	}
	g.mtp = g.kinds[m.MTP.Kind]
	if !s.ShardsMTP() {
		a := &g.mtp.Layer.Attention
		g.mtp.Queries, g.mtp.Keys, g.mtp.whole = float64(a.Heads), float64(a.KVHeads), true
	}
	for i, k := range m.Layers {
		r := run{kind: k, count: 1}
		if i < m.HashLayers {
			r.hashed = 1
		}
		g.runs = append(g.runs, r)
	}
	g.runs = mergeRuns(g.runs)
	if s.MTP > 0 && s.Drafter.Head != nil {
		var err error
		if g.head, err = New(s.HeadSpec()); err != nil {
			return nil, err
		}
	}
	g.recalls = g.mergeRecalls()
	return g, nil
}

// Spec returns what the graph was built from.
func (g *Graph) Spec() *Spec { return &g.spec }

// mergeRuns joins runs of the same kind: the sum over a step does not depend on
// the order of layers, and hybrids alternate kinds dozens of times.
func mergeRuns(runs []run) []run {
	var out []run
	at := map[int]int{}
	for _, r := range runs {
		if i, ok := at[r.kind]; ok {
			out[i].count += r.count
			out[i].hashed += r.hashed
			continue
		}
		at[r.kind] = len(out)
		out = append(out, r)
	}
	return out
}

// mergeRecalls joins runs of equal attention: what looks at earlier steps is the same in
// all of them, but that TensorCast prepares context parallelism in the first layer.
func (g *Graph) mergeRecalls() []recall {
	var out []recall
	add := func(r recall) {
		if i := slices.IndexFunc(out, r.like); i >= 0 && !g.spec.Policy.TracedContext {
			out[i].count += r.count
		} else {
			out = append(out, r)
		}
	}
	for i, r := range g.runs {
		add(recall{graph: g, kind: &g.kinds[r.kind], count: r.count, run: uint16(i + 1)})
	}
	by, kind := g.drafts()
	whole, single := g.spec.passes()
	if whole > 0 {
		add(recall{graph: by, kind: kind, count: whole, run: g.draftRun()})
	}
	if n := g.spec.Draft.Layers; n > 0 {
		add(recall{graph: g, kind: g.lastKind(), count: float64(n)})
	}
	if single > 0 { // last, as a walk does not return from these
		out = append(out, recall{graph: by, kind: kind, count: single, run: g.draftRun(), single: true})
	}
	return out
}

// like reports whether layers do the same as others. Inside runs and outside only attention
// itself counts as the same, not what chooses for it.
func (r recall) like(o recall) bool {
	a := &r.kind.Layer.Attention
	alone := (a.Kind == model.GQA || a.Kind == model.MLA) && !a.Indexer.Own()
	return r.graph == o.graph && *a == o.kind.Layer.Attention && r.kind.Queries == o.kind.Queries && r.kind.cached == o.kind.cached &&
		(alone || (r.run > 0) == (o.run > 0))
}

// share is one rank's shard of a layer kind. Columns that do not divide are padded.
func share(l model.Layer, s Spec) Kind {
	tp := float64(s.Layout.TP)
	k := Kind{Layer: l}
	a, f := l.Attention, l.FFN
	k.Queries = float64(a.Heads) / tp
	k.Keys = float64(a.KVHeads) / tp
	if k.Keys < 1 {
		k.Keys = 1
	}
	k.cached = k.Keys
	k.inter = math.Ceil(float64(f.Intermediate) / tp)
	if f.Kind == model.MoE {
		k.Experts.deal = op.Deal{Experts: uint32(f.Experts), Choice: uint32(f.TopK), Ranks: uint32(s.Layout.EP)}
		k.Experts.Local = k.Experts.deal.Local()
		k.Experts.dealt = k.Experts.deal.Dealt(s.EvenExperts)
		k.Experts.Inner = s.ExpertWidth(&f)
		k.Experts.shared = s.SharedWidth(&f)
		k.Experts.Hidden = float64(s.Model.Hidden)
		if f.Latent > 0 {
			k.Experts.Hidden = float64(f.Latent)
		}
	}
	return k
}

// cutsStream reports whether sequence parallelism keeps the residual stream cut
// over TP. TensorCast's pass fires only where the embedding already sums over
// TP and no norm quantizes; mixtures of experts cut their tokens their own way.
func (g *Graph) cutsStream() bool {
	s := &g.spec
	fires := s.SequenceParallel && s.Compile && s.Layout.TP > 1 && s.EmbeddingTP == EmbeddingRows
	return fires && !s.Model.HasExperts() && !s.quantizesInput(s.Quant.Attention) && !s.quantizesInput(s.Quant.Dense)
}

// Append appends the operators of one step to dst, in order.
func (g *Graph) Append(dst []op.Item, b Batch) []op.Item {
	var stack Walk
	w := g.start(&stack, dst)
	w.measure(b)
	w.rewrites(AtBegin, nil)
	pass{w}.run(b)
	w.rewrites(AtEnd, nil)
	return g.finish(w)
}
