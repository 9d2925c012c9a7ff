package memory

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Live hidden-wide tensors and rotary rows at the widest point of a layer. Both
// numbers are read off TensorCast's memory tracker: over tensor-parallel sizes
// 1, 2, 4 and 8 its prefill peak is 4 hidden widths, 8 rotary widths and 20
// bytes of indices per token plus the cut part below, to the byte.
const (
	liveHidden  = 4
	liveRope    = 8
	liveIndices = 20
)

// prepareActivation finds the columns live at the widest point of any layer.
func (m *Model) prepareActivation() {
	s := m.spec
	base := s.Quant.Base
	rope := 0.0
	for i := range s.Model.Kinds {
		l := &s.Model.Kinds[i]
		m.widest = math.Max(m.widest, math.Max(attentionWidth(s, &l.Attention), ffnWidth(s, l)))
		rope = math.Max(rope, float64(l.Attention.RopeDim))
	}
	m.perToken = base.Width()*(liveHidden*float64(s.Model.Hidden)+liveRope*rope+m.widest) + liveIndices
	m.hiddenConstants = absorbedWeights(s)
}

// attentionWidth is what queries, keys and values take before the kernel.
func attentionWidth(s *graph.Spec, a *model.Attention) float64 {
	tp := float64(s.Layout.TP)
	hq, hk := float64(a.Heads)/tp, math.Max(1, float64(a.KVHeads)/tp)
	switch a.Kind {
	case model.GQA, model.Cross:
		return 2*hq*float64(a.HeadDim) + 3*hk*float64(a.HeadDim)
	case model.MLA:
		return hq * float64(a.HeadDim)
	case model.GatedDelta, model.Mamba2, model.Mamba1, model.ShortConv:
		r := &a.Recurrent
		return 3 * float64(r.ValueHeads*r.ValueDim) / tp
	case model.NoAttention:
	}
	return 0
}

// ffnWidth is what the feed-forward part takes: gate and up of a dense one, the
// dispatched rows of a mixture. TensorCast's tracker frees the pieces of joined
// projections twice, which lowers every later reading by the attention's
// tensors; the golden numbers include that.
func ffnWidth(s *graph.Spec, l *model.Layer) float64 {
	f, tp := &l.FFN, float64(s.Layout.TP)
	if f.Kind == model.MoE {
		rows := float64(f.TopK)
		if s.Layout.EP > 1 {
			rows /= tp
		}
		return rows * float64(s.Model.Hidden)
	}
	width := 2 * math.Ceil(float64(f.Intermediate)/tp)
	if a := &l.Attention; s.Policy.FreedTwice && a.Kind == model.GQA {
		hq, hk := float64(a.Heads)/tp, math.Max(1, float64(a.KVHeads)/tp)
		width -= 3*hq*float64(a.HeadDim) + 3*hk*float64(a.HeadDim)
	}
	return width
}

// absorbedWeights are tensors TensorCast holds beside the registered weights:
// both absorbed projections of latent attention in the attention's format, less
// the registered one they replace, and router weights widened to float32.
func absorbedWeights(s *graph.Spec) units.Bytes {
	if !s.Policy.HeldCopies {
		return 0
	}
	var b units.Bytes
	layers := func(kind int) float64 {
		n := 0.0
		for _, k := range s.Model.Layers {
			if k == kind {
				n++
			}
		}
		if s.MTP > 0 && s.Model.MTP.Kind == kind {
			n += float64(s.MTP)
		}
		return n / float64(s.Layout.PP)
	}
	for i := range s.Model.Kinds {
		a, f := &s.Model.Kinds[i].Attention, &s.Model.Kinds[i].FFN
		n := layers(i)
		if a.Kind == model.MLA {
			up := float64(a.Heads) / float64(s.Layout.TP) * float64(a.HeadDim-a.RopeDim+a.ValueDim) * float64(a.KVRank)
			format := s.Quant.Base
			if s.Quant.AttentionIn >= dtype.FP8 {
				format = s.Quant.AttentionIn
			}
			b += units.Bytes(n) * (2*format.Bytes(up) - s.Quant.Attention.Weight.Bytes(up))
		}
		if f.Router.WideScores() && s.Compile {
			b += units.Bytes(n * float64(f.Experts*s.Model.Hidden) * (4 - s.Quant.Base.Width()))
		}
	}
	return b
}

// Trial is the largest amount of intermediate tensors in the step by which an
// engine measures how much it must keep free: one of so many tokens, after which
// so many sequences are sampled, with the given number of float32 copies of their
// logits over the whole vocabulary. While it samples, the step's hidden states
// before and after the last norm are still there, and the buffers of the experts
// but for those of fp4 kernels, which route inside (vLLM 0.26 logs 2.3 GiB for
// GLM-5.2 beside the workspace of its selector: logits and hidden states).
func (m *Model) Trial(tokens, sequences int, copies float64) units.Bytes {
	s := m.spec
	step := m.Activation(graph.Batch{Segments: []graph.Segment{{Requests: 1, Query: tokens, Seq: tokens}}})
	const f32 = 4
	hidden := s.Quant.Base.Bytes(2 * float64(tokens*s.Model.Hidden))
	logits := units.Bytes(copies * float64(sequences) * float64(s.Model.Vocab) * f32)
	experts := m.dispatched(tokens)
	if s.Quant.Experts.Activation == dtype.FP4 {
		return max(step, hidden+experts, hidden+logits)
	}
	return max(step, hidden+experts+logits)
}

// dispatched is what the grouped products of the experts read and write: a row
// for each token and chosen expert, as wide as the model and as gate and up.
func (m *Model) dispatched(tokens int) units.Bytes {
	s, widest := m.spec, 0.0
	for i := range s.Model.Kinds {
		f := &s.Model.Kinds[i].FFN
		if f.Kind != model.MoE {
			continue
		}
		inner := math.Ceil(float64(f.ExpertIntermediate) / float64(s.ExpertTP().Size))
		widest = math.Max(widest, float64(f.TopK)*(float64(s.Model.Hidden)+2*inner))
	}
	return s.Quant.Base.Bytes(float64(tokens) * widest)
}

// Activation is the largest amount of intermediate tensors in a step.
func (m *Model) Activation(b graph.Batch) units.Bytes {
	tokens := 0.0
	for _, s := range b.Segments {
		tokens += float64(s.Requests * s.Query)
	}
	return units.Bytes(tokens*m.perToken) + m.hiddenConstants
}
