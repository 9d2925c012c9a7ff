package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
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
	// MTP is the number of extra tokens predicted in a step.
	MTP int

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
	// MatMulAllReduce overlaps a product with the all-reduce behind it.
	MatMulAllReduce bool
	// DispatchCombine replaces dispatch, experts and combination by one kernel.
	DispatchCombine bool
}

// Draft is a draft model made of decoder layers like the target's last.
type Draft struct {
	Layers int `json:"layers"`
	Block  int `json:"block"` // tokens verified in a step
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

// Graph is a prepared Spec: every size that does not depend on the batch.
// It is immutable and safe for concurrent use.
type Graph struct {
	spec  Spec
	runs  []run // layers of the busiest pipeline stage… all stages, in order
	kinds []kind
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
	mtp        kind // of MTP modules
	// layerInputs is the width of all layers' own inputs together.
	layerInputs float64
}

// run is a number of equal layers.
type run struct {
	kind   int
	count  float64
	hashed float64 // of those, layers that choose experts by token id
}

// recall is a number of layers that look at what earlier steps left alike.
type recall struct {
	kind  *kind
	count float64
	run   uint16 // the first of theirs, from 1; 0 outside
}

// kind holds one rank's share of a layer kind.
type kind struct {
	layer model.Layer
	hq    float64 // query heads
	hk    float64 // key/value heads
	hc    float64 // of those in the cache
	whole bool    // attention's inputs are not cut over TP, only its output
	inter float64 // dense inner width, rounded up
	moe   expertShare
}

// expertShare is one rank's share of a mixture of experts.
type expertShare struct {
	local  float64 // experts on this rank
	deal   op.Deal
	dealt  op.Dealt
	inter  float64 // inner width of each
	shared float64 // inner width of the shared experts
	hidden float64 // width the routed experts work in
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
	if s.Quant.AttentionIn >= dtype.FP8 && !s.Quant.Attention.Quantized() && s.Policy.QuantizedActivations && hasLatent(s.Model) {
		return nil, fmt.Errorf("quantized latent attention needs quantized linear layers, not %s", s.Quant.Attention.Name())
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
	for _, l := range m.Kinds {
		g.kinds = append(g.kinds, share(l, s))
	}
	g.mtp = g.kinds[m.MTP.Kind]
	if !s.ShardsMTP() {
		a := &g.mtp.layer.Attention
		g.mtp.hq, g.mtp.hk, g.mtp.whole = float64(a.Heads), float64(a.KVHeads), true
	}
	for i, k := range m.Layers {
		r := run{kind: k, count: 1}
		if i < m.HashLayers {
			r.hashed = 1
		}
		g.runs = append(g.runs, r)
	}
	g.runs = mergeRuns(g.runs)
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
		add(recall{&g.kinds[r.kind], r.count, uint16(i + 1)})
	}
	if n := g.spec.MTP; n > 0 {
		add(recall{&g.mtp, float64(n), 0})
	}
	if n := g.spec.Draft.Layers; n > 0 {
		add(recall{g.lastKind(), float64(n), 0})
	}
	return out
}

// like reports whether layers do the same as others. Inside runs and outside only attention
// itself counts as the same, not what chooses for it.
func (r recall) like(o recall) bool {
	a := &r.kind.layer.Attention
	alone := (a.Kind == model.GQA || a.Kind == model.MLA) && !a.Indexer.Own()
	return *a == o.kind.layer.Attention && r.kind.hq == o.kind.hq && r.kind.hc == o.kind.hc &&
		(alone || (r.run > 0) == (o.run > 0))
}

// share is one rank's shard of a layer kind. Columns that do not divide are padded.
func share(l model.Layer, s Spec) kind {
	tp := float64(s.Layout.TP)
	k := kind{layer: l}
	a, f := l.Attention, l.FFN
	k.hq = float64(a.Heads) / tp
	k.hk = float64(a.KVHeads) / tp
	if k.hk < 1 {
		k.hk = 1
	}
	k.hc = k.hk
	k.inter = math.Ceil(float64(f.Intermediate) / tp)
	if f.Kind == model.MoE {
		k.moe.deal = op.Deal{Experts: uint32(f.Experts), Choice: uint32(f.TopK), Ranks: uint32(s.Layout.EP)}
		k.moe.local = k.moe.deal.Local()
		k.moe.dealt = k.moe.deal.Dealt()
		k.moe.inter = s.ExpertWidth(&f)
		k.moe.shared = s.SharedWidth(&f)
		k.moe.hidden = float64(s.Model.Hidden)
		if f.Latent > 0 {
			k.moe.hidden = float64(f.Latent)
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

// ExpertTP is the group over which each expert is sharded.
func (s *Spec) ExpertTP() parallel.Group {
	if s.Policy.IgnoredCopies && s.Layout.EP == 1 {
		return parallel.Group{Size: int32(s.Layout.Devices / s.Layout.PP), Stride: 1}
	}
	return s.Layout.MoETPGroup()
}

// addsUp reports whether the ranks of experts hold the same tokens, so that each
// can add up its part of a token's result and the parts are summed once.
func (s *Spec) addsUp() bool {
	l := &s.Layout
	return !s.Policy.ExchangedPairs && !s.DispatchCombine && l.DP == 1 && l.EP*l.MoETP == l.TP
}

// SharedWidth is the inner width of the shared experts on one rank: whole, or
// cut over TP where that is asked for or where all ranks see the same tokens.
func (s *Spec) SharedWidth(f *model.FFN) float64 {
	w := float64(f.SharedIntermediate)
	if s.SharedExpertTP || !s.Policy.CopiedShared && s.Layout.DP == 1 && (s.Layout.EP == 1 || s.addsUp()) {
		w = math.Ceil(w / float64(s.Layout.TP))
	}
	return w
}

func hasLatent(m *model.Model) bool {
	for _, k := range m.Kinds {
		if k.Attention.Kind == model.MLA {
			return true
		}
	}
	return false
}

// Append appends the operators of one step to dst, in order.
func (g *Graph) Append(dst []op.Item, b Batch) []op.Item {
	w := walk{g: g, items: dst, base: g.base, h: g.hidden}
	w.measure(b)
	w.forward(b)
	return w.items
}
