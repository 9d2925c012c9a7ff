package memory

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// stages cuts the layers into contiguous pipeline stages, the remainder to the
// first ones. Each layer is the index of its kind.
func stages(s *graph.Spec) [][]int {
	layers, n := s.Model.Layers, s.Layout.PP
	out := make([][]int, n)
	per, rest := len(layers)/n, len(layers)%n
	for i := range out {
		size := per
		if i < rest {
			size++
		}
		out[i], layers = layers[:size], layers[size:]
	}
	return out
}

// fullestStage is the weight of the fullest pipeline stage on one device.
func fullestStage(s *graph.Spec) units.Bytes {
	m := s.Model
	all := stages(s)
	var fullest units.Bytes
	for i, layers := range all {
		var b units.Bytes
		for _, k := range layers {
			b += layerWeights(s, &m.Kinds[k])
		}
		if i == 0 {
			b += embedding(s) + ropeTables(s) + visionWeights(s)
		}
		if i == len(all)-1 {
			b += head(s) + lastNorm(s) + mtpWeights(s) + draftWeights(s)
		}
		fullest = max(fullest, b)
	}
	return fullest
}

// lastNorm is the norm in front of the head, with what makes and joins parallel
// residual streams.
func lastNorm(s *graph.Spec) units.Bytes {
	plain, streams := s.Model.Mixing()
	return s.Quant.Base.Bytes(float64(s.Model.Hidden)+plain) + mixing(s).Bytes(streams)
}

// mixing is the format of the weights that mix residual streams.
func mixing(s *graph.Spec) dtype.Format {
	if s.Policy.TracedStreams {
		return dtype.F32
	}
	return s.Quant.Base
}

// embedding is the word embedding's share of a device, with those of the layers'
// own inputs and of positions.
func embedding(s *graph.Spec) units.Bytes {
	tables := func(cut float64) units.Bytes {
		return s.Quant.Base.Bytes(math.Ceil(float64(s.Model.Vocab)/cut)*float64(s.Model.Hidden) +
			math.Ceil(float64(s.Model.InputVocab)/cut)*s.Model.LayerInputs())
	}
	cut := float64(s.Layout.TP)
	if s.CopiesEmbedding() {
		cut = 1
	}
	return tables(cut) + s.Quant.Base.Bytes(float64(s.Model.Positions)*float64(s.Model.Hidden))
}

// head is the output head's share. A tied head costs nothing on a device that
// holds the same rows of the embedding already, unless they are stored again.
func head(s *graph.Spec) units.Bytes {
	m := s.Model
	if m.Tied && s.Layout.PP == 1 && !s.Policy.UnsharedWeights {
		return 0
	}
	return s.Head().WeightBytes(math.Ceil(float64(m.Vocab)/float64(s.Layout.TP)), float64(m.Hidden))
}

// ropeTables are the cosines and sines for every position.
func ropeTables(s *graph.Spec) units.Bytes {
	return s.Quant.Base.Bytes(2 * float64(s.Model.MaxPosition) * s.RotaryWidth())
}

// layerWeights is one decoder layer's share of a device.
func layerWeights(s *graph.Spec, l *model.Layer) units.Bytes {
	plain, streams := l.Beside(float64(s.Model.Hidden))
	b := s.Quant.Base.Bytes(plain) + mixing(s).Bytes(streams)
	return b + attentionWeights(s, &l.Attention) + ffnWeights(s, &l.FFN)
}

// attentionWeights is a token mixer's share. Traced, a compressed cache is pooled without weights.
func attentionWeights(s *graph.Spec, a *model.Attention) units.Bytes {
	mixer, tp := *a, float64(s.Layout.TP)
	if s.TracesCompression(a) {
		mixer.Compress = 0
	}
	if s.OpaqueDelta(a) {
		tp = 1
	}
	var b units.Bytes
	small := mixer.Weights(float64(s.Model.Hidden), tp, func(rows, depth float64) {
		b += s.Quant.Attention.WeightBytes(rows, depth)
	})
	return b + s.Quant.Base.Bytes(small) + indexerWeights(s, a)
}

// inWeights is the projections of queries, keys and values, for so many ranks.
func inWeights(s *graph.Spec, a *model.Attention, tp float64) units.Bytes {
	q, k, v := a.QKV(float64(a.Heads)/tp, math.Max(1, float64(a.KVHeads)/tp))
	b := s.Quant.Attention.WeightBytes(q+k+v, float64(s.Model.Hidden))
	if a.Bias {
		b += s.Quant.Base.Bytes(q + k + v)
	}
	return b
}

// indexerWeights is the selector of sparse attention, whole on every rank.
func indexerWeights(s *graph.Spec, a *model.Attention) units.Bytes {
	ix := &a.Indexer
	if !ix.Own() {
		return 0
	}
	depth := float64(a.QRank)
	if a.Kind == model.GQA {
		depth = float64(s.Model.Hidden)
	}
	h, heads, d := float64(s.Model.Hidden), float64(ix.Heads), float64(ix.Dim)
	scheme, base := s.Quant.Attention, s.Quant.Base
	b := scheme.WeightBytes(heads*d, depth) + base.Bytes(2*d)
	weights := base.Bytes(heads * h) // of the heads
	if s.Policy.FusedIndexer {
		weights = scheme.WeightBytes(heads, h)
	}
	switch {
	case a.Kind == model.GQA: // none
		return b + scheme.WeightBytes(d, h)
	case s.TracesCompression(a):
		return (b - base.Bytes(2*d) + weights) / units.Bytes(s.Layout.TP)
	case a.Compress > 1: // keys pooled as the cache is
		return b + weights + scheme.WeightBytes(4*d, h) + base.Bytes((2*float64(a.Compress)-1)*d)
	}
	return b + weights + scheme.WeightBytes(d, h)
}

// ffnWeights is the feed-forward part.
func ffnWeights(s *graph.Spec, f *model.FFN) units.Bytes {
	h, base := float64(s.Model.Hidden), s.Quant.Base
	var b units.Bytes
	if f.Intermediate > 0 {
		b += mlpWeights(s, s.Quant.Dense, math.Ceil(float64(f.Intermediate)/float64(s.Layout.TP)), h, f)
	}
	if f.Kind != model.MoE {
		return b
	}
	width := h
	if f.Latent > 0 {
		width = float64(f.Latent)
		b += base.Bytes(2*h*width + width)
	}
	e := float64(f.Experts)
	local := math.Ceil(e / float64(s.Layout.EP))
	padded, tall := tiled(s, s.ExpertWidth(f)), tiled(s, width)
	b += units.Bytes(local) * mlpWeights(s, s.Quant.Experts, padded, tall, f)
	if f.SharedIntermediate > 0 {
		b += mlpWeights(s, s.Quant.Shared, sharedWidth(s, f), h, f)
		if f.SharedGate {
			b += base.Bytes(h)
		}
	}
	b += base.Bytes(e * h)
	if f.RouterBias || f.Bias {
		b += base.Bytes(e)
	}
	return b
}

// sharedWidth is the inner width of the shared experts that a device stores.
// Engines cut them over TP with expert parallelism as without: 93.9 GiB a device of
// DeepSeek-R1-NVFP4 at TP 4 and EP 4 (TensorRT-LLM), 106.7 of GLM-5.2 (vLLM).
func sharedWidth(s *graph.Spec, f *model.FFN) float64 {
	if s.CopiesSharedExperts() {
		return s.SharedWidth(f)
	}
	return math.Ceil(float64(f.SharedIntermediate) / float64(s.Layout.TP))
}

// tiled is a side of an expert's matrix as kernels for MXFP4 store it, padded to
// tiles of 128: TensorRT-LLM loads 63.5 GiB of gpt-oss-120b, whose sides of 2,880
// alone would take 60.8 (log of 1.1.0rc3). Some kernels pad one side further.
func tiled(s *graph.Spec, side float64) float64 {
	const group, tile = 32, 128
	if e := &s.Quant.Experts; s.Policy.UntiledExperts || e.Weight != dtype.FP4 || e.Group != group {
		return side
	}
	return math.Ceil(side/tile) * tile
}

// mlpWeights is a gate, an up and a down matrix, with their biases.
func mlpWeights(s *graph.Spec, q dtype.Scheme, inter, hidden float64, f *model.FFN) units.Bytes {
	up := 2 * inter
	if f.Ungated {
		up = inter
	}
	b := q.WeightBytes(up, hidden) + q.WeightBytes(hidden, inter)
	if f.Bias {
		b += s.Quant.Base.Bytes(up + hidden)
	}
	return b
}

// mtpWeights are the MTP modules in use, with an embedding and a head of
// their own where those are not shared.
func mtpWeights(s *graph.Spec) units.Bytes {
	switch {
	case s.MTP == 0 || s.Drafter.Method == draft.NGram:
		return 0
	case s.Drafter.Head != nil:
		return eagleWeights(s)
	}
	m := s.Model
	h := float64(m.Hidden)
	one := layerWeights(s, &m.Kinds[m.MTP.Kind]) +
		s.Quant.Attention.WeightBytes(h, 2*h) + s.Quant.Base.Bytes(2*h)
	if a := &m.Kinds[m.MTP.Kind].Attention; !s.ShardsMTP() {
		one += inWeights(s, a, 1) - inWeights(s, a, float64(s.Layout.TP))
	}
	b := units.Bytes(s.Modules()) * one
	if s.Policy.UnsharedWeights {
		b += embedding(s) + head(s)
	}
	return b
}

// eagleWeights are an EAGLE-3 head: the projection of hidden states, which is not sharded, a layer whose queries, keys and
// values come from the embedding too, and the output head. It shares the embedding.
func eagleWeights(s *graph.Spec) units.Bytes {
	h := s.HeadSpec()
	layer, wide := &h.Model.Kinds[0], float64(h.Model.Hidden)
	return layerWeights(&h, layer) + inWeights(&h, &layer.Attention, float64(h.Layout.TP)) +
		h.Quant.Base.Bytes(graph.Taps*float64(s.Model.Hidden)*wide) + head(&h)
}

// draftWeights are the layers of a draft model; it shares embedding and head.
func draftWeights(s *graph.Spec) units.Bytes {
	last := s.Model.Layers[len(s.Model.Layers)-1]
	return units.Bytes(s.Draft.Layers) * layerWeights(s, &s.Model.Kinds[last])
}

// visionWeights is the image tower, whole on every rank.
func visionWeights(s *graph.Spec) units.Bytes {
	if s.Model.Vision == nil || !s.Vision {
		return 0
	}
	return s.Quant.Base.Bytes(s.Model.Vision.Parameters())
}
