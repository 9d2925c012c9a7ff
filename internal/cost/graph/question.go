package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// What follows from a Spec and several of its fields, or from a choice of its policy and
// the model.

// Head is the quantization of the output head.
func (s *Spec) Head() dtype.Scheme {
	if s.Policy.UnquantizedHead {
		return dtype.Unquantized(s.Quant.Base)
	}
	return s.Quant.Head
}

// CopiesEmbedding reports whether every rank holds the whole word embedding.
func (s *Spec) CopiesEmbedding() bool {
	return s.EmbeddingTP == EmbeddingCopied && s.Policy.CopiedEmbedding
}

// CopiesSharedExperts reports whether every rank stores the shared experts as it
// computes them; others cut them over TP however they compute them.
func (s *Spec) CopiesSharedExperts() bool { return s.Policy.CopiedShared || s.Layout.DP > 1 }

// ExpertWidth is the inner width of an expert on a rank.
func (s *Spec) ExpertWidth(f *model.FFN) float64 {
	width := math.Ceil(float64(f.ExpertIntermediate) / float64(s.ExpertTP().Size))
	if tile := float64(s.Quant.ExpertTile); tile > 0 && !s.Policy.UntiledExperts {
		width = math.Ceil(width/tile) * tile
	}
	return width
}

// matrixFormat is the format the matrix unit works in under a scheme.
func (s *Spec) matrixFormat(q dtype.Scheme) dtype.Format {
	switch {
	case !q.Quantized():
		return s.Quant.Base
	case s.Policy.QuantizedActivations:
		if q.Weight == dtype.FP4 {
			return dtype.FP4
		}
		return dtype.INT8
	case q.WeightOnly():
		return s.Quant.Base
	}
	return q.Activation
}

// quantizesInput reports whether activations are narrowed before a product.
func (s *Spec) quantizesInput(q dtype.Scheme) bool {
	return q.Quantized() && (s.Policy.QuantizedActivations || !q.WeightOnly())
}

// RotaryWidth is the width of the rotary tables.
func (s *Spec) RotaryWidth() float64 {
	d := 0.0
	for i := range s.Model.Kinds {
		d = max(d, s.Rotated(&s.Model.Kinds[i].Attention))
	}
	return d
}

// CachesStates reports whether the states of a recurrent layer take memory.
func (s *Spec) CachesStates(a *model.Attention) bool { return !s.Policy.FreeStates || !HeadDecay(a) }

// CachesLinear reports whether a linear-attention layer holds a KV cache as layers
// with full attention do.
func (s *Spec) CachesLinear(a *model.Attention) bool {
	return s.Policy.CachedLinear && a.Kind == model.GatedDelta && a.Recurrent.Joined
}

// ShardsMTP reports whether the attention of MTP modules is sharded over TP.
func (s *Spec) ShardsMTP() bool {
	return !s.Policy.UncutPrediction || s.Layout.TP == 1 || s.Model.Kinds[s.Model.MTP.Kind].Attention.Kind != model.GQA
}

// PageTokens is the tokens in a block of the KV cache.
func (s *Spec) PageTokens() float64 { return float64(s.Policy.PageTokens) }

// JumpsWithBatch reports whether a step's time jumps with the batch, because
// experts run together only where their rows divide evenly.
func (s *Spec) JumpsWithBatch() bool { return s.Policy.FragileGrouping && s.Model.HasExperts() }

// WithoutJumps is the Spec with experts that always run together: its steps take
// no longer, and do not jump.
func (s Spec) WithoutJumps() Spec {
	s.Policy.FragileGrouping = false
	return s
}

// addsBias reports whether adding a bias to a product of a weight format is arithmetic.
func (s *Spec) addsBias(weight dtype.Format) bool {
	return weight >= dtype.FP8 || !s.Policy.FreeBias
}

// joinsIndexer reports whether the projections of a selector are part of the joined
// product, and its norms, rotation and cache write part of one kernel with those of
// attention, as vLLM and ATOM have MiniMax-M3 (fused_minimax_m3_qknorm_rope_kv_insert).
func (s *Spec) joinsIndexer(a *model.Attention) bool {
	return s.Compile && a.Kind == model.GQA && a.Indexer.Own() && !a.OutGate && !a.SharedKV && !s.Policy.FusedIndexer
}

// fusesNorms reports whether a norm is one kernel.
func (s *Spec) fusesNorms() bool { return s.Compile && !s.TracesNorms() }

// TracesNorms reports whether norms are the elementwise operators of their source even
// when compiled.
func (s *Spec) TracesNorms() bool { return s.Policy.TracedNorms && s.Model.OffsetNorm }

// NormQuantizes reports whether one operator makes a norm and narrows its output
// for the product behind it, which follows q.
func (s *Spec) NormQuantizes(q dtype.Scheme) bool {
	return s.fusesNorms() && s.quantizesInput(q) && (!s.Policy.EpsilonBound || s.Model.Epsilon == model.DefaultEpsilon)
}

// Rotated is the part of a head that rotary tables are for.
func (s *Spec) Rotated(a *model.Attention) float64 {
	if a.RopeStated && s.Policy.WholeRope || s.TracesCompression(a) {
		return float64(a.HeadDim)
	}
	return float64(a.RopeDim)
}

// TracesCompression reports whether an attention is DeepSeek-V4's, whose cached entry
// is key and value at once, and has the operators of its source.
func (s *Spec) TracesCompression(a *model.Attention) bool {
	return s.Policy.TracedCompression && a.Kind == model.MLA && a.KeyIsVal
}

// TracesStreams reports whether a layer's parallel residual streams are mixed by the
// operators of their source.
func (s *Spec) TracesStreams(l *model.Layer) bool {
	return s.Policy.TracedStreams && l.Streams > 1 && !l.AltUp
}

// OpaqueDelta reports whether linear attention is one operator as a whole.
func (s *Spec) OpaqueDelta(a *model.Attention) bool {
	return s.Policy.OpaqueDelta && a.Kind == model.GatedDelta && a.Recurrent.Joined && !s.Compile
}

// HeadDecay reports whether an attention is Qwen's gated delta rule, with one decay
// for each head.
func HeadDecay(a *model.Attention) bool {
	return a.Kind == model.GatedDelta && !a.Recurrent.ChannelDecay && a.Recurrent.GateRank == 0
}

// addsUp reports whether the ranks of experts hold the same tokens, so that each
// can add up its part of a token's result and the parts are summed once.
func (s *Spec) addsUp() bool {
	l := &s.Layout
	return !s.Policy.ExchangedPairs && !s.DispatchCombine && l.DP == 1 && l.EP*l.MoETP == l.TP
}

// ExpertTP is the group over which each expert is sharded.
func (s *Spec) ExpertTP() parallel.Group {
	if s.Policy.IgnoredCopies && s.Layout.EP == 1 {
		return parallel.Group{Size: int32(s.Layout.Devices / s.Layout.PP), Stride: 1}
	}
	return s.Layout.MoETPGroup()
}

// SharedWidth is the inner width of the shared experts on one rank: whole, or
// cut over TP where that is set or where all ranks see the same tokens.
func (s *Spec) SharedWidth(f *model.FFN) float64 {
	w := float64(f.SharedIntermediate)
	if s.SharedExpertTP || !s.Policy.CopiedShared && s.Layout.DP == 1 && (s.Layout.EP == 1 || s.addsUp()) {
		w = math.Ceil(w / float64(s.Layout.TP))
	}
	return w
}
