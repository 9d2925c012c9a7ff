package tensorcast

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// For which specs each part is TensorCast's.

func (f forms) always(*graph.Spec) bool { return true }

func (f forms) contextual(s *graph.Spec) bool { return s.Policy.TracedContext && s.Layout.DCP > 1 }

func (f forms) tracesNorms(s *graph.Spec) bool { return s.TracesNorms() }

func (f forms) readsTables(s *graph.Spec) bool { return f.has(wholeIndex) && s.Compile }

func (f forms) localNorms(*graph.Spec) bool { return f.has(localNorms) }

func (f forms) tracesGates(*graph.Spec) bool { return f.has(tracedGates) }

func (f forms) slowPrologue(*graph.Spec) bool { return f.has(slowPrologue) }

func (f forms) fusesIndexer(s *graph.Spec) bool { return s.Policy.FusedIndexer }

func (f forms) losesOrder(s *graph.Spec) bool { return s.Policy.LostOrder }

// tracesVision: Qwen3-VL's tower, with learned positions.
func (f forms) tracesVision(s *graph.Spec) bool {
	v := s.Model.Vision
	return f.has(tracedVision) && v != nil && v.Positions > 0 && v.Ungated && v.Window == 0
}

// tracesStreams: layers with parallel residual streams.
func (f forms) tracesStreams(s *graph.Spec) bool {
	return hasKind(s, s.TracesStreams)
}

// clamps: activations with limits.
func (f forms) clamps(s *graph.Spec) bool {
	return s.Policy.TracedStreams && hasKind(s, func(l *model.Layer) bool { return l.FFN.Clamped })
}

// joinsLayers: layers that share index selections are compiled together, so that the
// residual sum of one and the norm of the next are one operator.
func (f forms) joinsLayers(s *graph.Spec) bool {
	return f.has(joinedLayers) && f.has(slowPrologue) && s.Compile && !s.TracesNorms() &&
		hasKind(s, func(l *model.Layer) bool { return l.Attention.Indexer.Shared })
}

// ownMixer: attention of DeepSeek-V4, and linear attention that is one operator.
func (f forms) ownMixer(s *graph.Spec) bool {
	return hasKind(s, func(l *model.Layer) bool { return s.TracesCompression(&l.Attention) || s.OpaqueDelta(&l.Attention) })
}

// linearLayers: Qwen's linear attention.
func (f forms) linearLayers(s *graph.Spec) bool {
	return hasKind(s, func(l *model.Layer) bool { return l.Attention.Kind == model.GatedDelta })
}

// splitsQKV: only products with scales of one shape are joined.
func (f forms) splitsQKV(s *graph.Spec) bool {
	return s.Compile && s.Quant.Attention.Weight == dtype.FP4 && s.Policy.QuantizedActivations
}

// partRotated: heads of which only a part is rotated.
func (f forms) partRotated(s *graph.Spec) bool {
	return hasKind(s, func(l *model.Layer) bool { return l.Attention.RopeDim != l.Attention.HeadDim })
}

func (f forms) quantizesAttention(s *graph.Spec) bool {
	return s.Quant.AttentionIn >= dtype.FP8 && s.Policy.QuantizedActivations
}

// amendsAttention: latent attention, and any in a narrow format.
func (f forms) amendsAttention(s *graph.Spec) bool { return f.quantizesAttention(s) || hasLatent(s) }

func (f forms) narrowsExperts(s *graph.Spec) bool {
	return f.has(narrowingExperts) && s.Quant.Experts.Weight == dtype.FP4
}

func (f forms) amendsProducts(s *graph.Spec) bool {
	return f.has(narrowingExperts) || s.Policy.QuantizedActivations
}

// hasLatent reports whether a model has latent attention.
func hasLatent(s *graph.Spec) bool {
	return hasKind(s, func(l *model.Layer) bool { return l.Attention.Kind == model.MLA })
}

// hasKind reports whether a model has layers of a kind.
func hasKind(s *graph.Spec, is func(*model.Layer) bool) bool {
	for i := range s.Model.Kinds {
		if is(&s.Model.Kinds[i]) {
			return true
		}
	}
	return false
}
