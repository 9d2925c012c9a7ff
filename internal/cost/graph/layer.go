package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Layer is a walk through the decoder layers of a kind, which are alike: a token mixer and a feed-forward part, with norms and residual sums.
type Layer struct{ *Walk }

// Layer begins layers of a kind.
func (w *Walk) Layer(k *Kind) Layer {
	w.k, w.a = k, &k.Layer.Attention
	return Layer{w}
}

// mixer is the token mixer of a layer. A new one is a type with these methods, a value of [model.AttentionKind], and cases in
// [Layer.Attention] and [Layer.recall].
type mixer interface {
	// emit appends the operators of the mixer, with the norm in front of it, up to the sum over TP ranks.
	emit()
	// recall emits those of its operators again that look at what earlier steps left, for the layers of a step that are alike together.
	// The exchanges of context parallelism are among them where they do not follow tokens alone.
	recall()
}

// The mixers. They are called by their types: a walk through a step allocates nothing.
var _ = [...]mixer{grouped{}, latent{}, recurrent{}, cross{}}

// emit appends the operators of the layers, from mixer to residual sum.
func (w Layer) emit() {
	if w.rewrites(AtWholeLayer, w.k) {
		return
	}
	a := w.k.Layer.Attention.Kind
	if a == model.Cross && w.images.Count == 0 {
		return // text passes it by
	}
	w.Attention()
	if n := w.k.Layer.LowRank; n > 0 {
		w.thin(float64(n))
	}
	if a != model.NoAttention && w.k.Layer.Norms > 2 {
		w.Norm(w.Stream, w.Hidden) // behind the mixer, before the residual sum
	}
	if w.k.Layer.FFN.Kind != model.NoFFN {
		w.normedFeedForward()
	}
	if !w.rewrites(AtLayerSum, nil) {
		w.Add(w.Stream, w.Hidden)
	}
	if n := w.k.Layer.Input; n > 0 {
		w.thin(float64(n))
	}
	if n := w.k.Layer.Streams; n > 1 {
		// Mixing n residual streams reads and writes them around each part.
		w.Elementwise(op.Add, 4*w.Width()*w.Stream*w.Hidden*float64(n))
	}
}

// Attention emits the token mixer of a layer, its norm in front included.
func (w Layer) Attention() {
	if w.rewrites(AtMixer, w.k) {
		return
	}
	switch m := attention(w); w.a.Kind {
	case model.GQA:
		grouped{m}.emit()
	case model.MLA:
		latent{m}.emit()
	case model.GatedDelta, model.Mamba2, model.Mamba1, model.ShortConv:
		recurrent{m}.emit()
	case model.Cross:
		cross{m}.emit()
	case model.NoAttention:
	}
}

// recall emits those operators of the layer's mixer that look at what earlier steps left.
func (w Layer) recall() {
	switch m := attention(w); w.a.Kind {
	case model.GQA:
		grouped{m}.recall()
	case model.MLA:
		latent{m}.recall()
	case model.GatedDelta, model.Mamba2, model.Mamba1, model.ShortConv:
		recurrent{m}.recall()
	case model.Cross:
		cross{m}.recall()
	case model.NoAttention:
	}
}
