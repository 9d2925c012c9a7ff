package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// What other packages ask about a Spec. They know no entry of its policy.

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

// SharesWeights reports whether a head tied to the embedding, and those of
// MTP modules, are the same memory.
func (s *Spec) SharesWeights() bool { return !s.Policy.UnsharedWeights }

// CopiesSharedExperts reports whether every rank stores the shared experts as it
// computes them; others cut them over TP however they compute them.
func (s *Spec) CopiesSharedExperts() bool { return s.Policy.CopiedShared || s.Layout.DP > 1 }

// TilesExperts reports whether the sides of experts in block-scaled four-bit
// formats are padded to the tiles of their kernels.
func (s *Spec) TilesExperts() bool { return !s.Policy.UntiledExperts }

// ExpertWidth is the inner width of an expert on a rank.
func (s *Spec) ExpertWidth(f *model.FFN) float64 {
	width := math.Ceil(float64(f.ExpertIntermediate) / float64(s.ExpertTP().Size))
	if tile := float64(s.Quant.ExpertTile); tile > 0 && s.TilesExperts() {
		width = math.Ceil(width/tile) * tile
	}
	return width
}

// HoldsCopies reports whether absorbed projections and widened router weights
// are held beside the weights.
func (s *Spec) HoldsCopies() bool { return s.Policy.HeldCopies }

// FreesTwice reports whether the count of activations is lowered by tensors that
// are freed twice.
func (s *Spec) FreesTwice() bool { return s.Policy.FreedTwice }

// CachesWindows reports whether sliding-window layers cache no more than their
// window.
func (s *Spec) CachesWindows() bool { return !s.Policy.WholeCache }

// QuantizesIndexKeys reports whether the keys of a sparse attention's selector
// are cached in fp8.
func (s *Spec) QuantizesIndexKeys() bool { return !s.Policy.WideIndexKeys }

// LosesOrder reports whether operators on two streams wait for one another only where
// one result goes straight from one to the other.
func (s *Spec) LosesOrder() bool { return s.Policy.LostOrder }

// AddsImages reports whether the images of a decode are cached beside its context,
// not in it.
func (s *Spec) AddsImages() bool { return s.Policy.AddedImages }

// RotaryWidth is the width of the rotary tables.
func (s *Spec) RotaryWidth() float64 {
	d := 0.0
	for i := range s.Model.Kinds {
		d = max(d, s.rotated(&s.Model.Kinds[i].Attention))
	}
	return d
}

// CachesStates reports whether the states of a recurrent layer take memory.
func (s *Spec) CachesStates(a *model.Attention) bool { return !s.Policy.FreeStates || !headDecay(a) }

// CachesLinear reports whether a linear-attention layer holds a KV cache as layers
// with full attention do.
func (s *Spec) CachesLinear(a *model.Attention) bool {
	return s.Policy.CachedLinear && a.Kind == model.GatedDelta && a.Recurrent.Joined
}

// ShardsRecurrence reports whether a recurrent layer is sharded over TP.
func (s *Spec) ShardsRecurrence(a *model.Attention) bool { return !s.opaqueDelta(a) }

// ShardsMTP reports whether the attention of MTP modules is sharded over TP.
func (s *Spec) ShardsMTP() bool {
	return !s.Policy.UncutPrediction || s.Layout.TP == 1 || s.Model.Kinds[s.Model.MTP.Kind].Attention.Kind != model.GQA
}

// QuantizesIndexer reports whether all of a selector's weights are quantized.
func (s *Spec) QuantizesIndexer() bool { return s.Policy.FusedIndexer }

// PoolsFreely reports whether an attention pools its cache without weights, into
// whole pages.
func (s *Spec) PoolsFreely(a *model.Attention) bool { return s.tracesCompression(a) }

// WideStreams reports whether the weights that mix residual streams are float32.
func (s *Spec) WideStreams() bool { return s.Policy.TracedStreams }

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

// Without is the Spec with an artefact of its policy taken back, in all that was
// resolved by it.
func (s Spec) Without(a *Artefact) Spec {
	was := s.Policy
	s.Policy = a.Without(was)
	if was.HalfPrecision && !s.Policy.HalfPrecision && s.Model.DType != dtype.None {
		s.Quant = s.Quant.Rebase(s.Model.DType)
	}
	s.Vision = s.Policy.LoadsVision(s.Model, s.Vision)
	return s
}
