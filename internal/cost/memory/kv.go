package memory

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// share is what the cache keeps per layer of one kind on one device.
type share struct {
	layers   float64
	perToken units.Bytes // of each cached token
	perEntry units.Bytes // of each compressed entry
	state    units.Bytes // per request, whatever its length
	window   float64     // tokens kept at most; 0 = all
	compress float64     // tokens per compressed entry; 0 = none
	cut      float64     // context parallelism
	paged    bool        // compressed entries come in whole blocks of all requests
}

// cacheShares prepares the cache of the fullest stage: for each kind, the stage
// that has most of it.
func cacheShares(s *graph.Spec) []share {
	m := s.Model
	count := make([]float64, len(m.Kinds))
	all := stages(s)
	for i, layers := range all {
		of := make([]float64, len(m.Kinds))
		for _, k := range layers {
			of[k]++
		}
		if i == len(all)-1 {
			of[m.MTP.Kind] += float64(s.Modules())
			of[m.Layers[len(m.Layers)-1]] += float64(s.Draft.Layers)
		}
		for k := range count {
			count[k] = math.Max(count[k], of[k])
		}
	}
	var out []share
	for i := range m.Kinds {
		if c := cacheShare(s, &m.Kinds[i].Attention); c.perToken > 0 || c.state > 0 || c.perEntry > 0 {
			c.layers = count[i]
			out = append(out, c)
		}
	}
	if s.MTP > 0 && s.Drafter.Head != nil {
		head := s.HeadSpec()
		c := cacheShare(&head, &head.Model.Kinds[0].Attention)
		c.layers = 1
		out = append(out, c)
	}
	return out
}

// cacheShare is one layer's cache on one device.
func cacheShare(s *graph.Spec, a *model.Attention) share {
	tp, kv := float64(s.Layout.TP), s.Quant.KV
	c := share{cut: 1}
	switch a.Kind {
	case model.GQA:
		if a.SharedKV {
			return c
		}
		heads := math.Max(1, float64(a.KVHeads)/tp)
		c.perToken = kv.Bytes(heads * float64(a.HeadDim+a.ValueDim))
		c.cut = math.Min(float64(s.Layout.DCP), math.Max(1, tp/float64(a.KVHeads)))
	case model.MLA:
		c.perToken = latentFormat(s, a).Bytes(float64(a.KVRank + a.RopeDim))
		c.cut = float64(s.Layout.DCP)
	case model.GatedDelta, model.Mamba2, model.Mamba1, model.ShortConv:
		if s.CachesStates(a) {
			c.state = stateBytes(s, a)
		}
		if full := fullAttention(s.Model); full != nil && s.CachesLinear(a) {
			return cacheShare(s, full)
		}
	case model.Cross, model.NoAttention:
	}
	if ix := &a.Indexer; ix.Own() {
		c.perToken += indexerBytes(s, ix)
		c.cut = 1
	}
	if !s.Policy.WholeCache || s.TracesCompression(a) {
		c.window = float64(a.Window)
	}
	c.paged = s.TracesCompression(a)
	if a.Compress > 1 {
		c.compress, c.perEntry = float64(a.Compress), c.perToken
		c.window = float64(a.Local)
		if c.paged && a.Indexer.Own() {
			c.perToken -= indexerBytes(s, &a.Indexer) // which is of compressed entries
		}
	}
	return c
}

// latentFormat is the format of latent entries. Where the cache is pooled without
// weights, quantized attention narrows the keys of the selector only.
func latentFormat(s *graph.Spec, a *model.Attention) dtype.Format {
	if s.TracesCompression(a) {
		return s.Quant.Base
	}
	return s.Quant.KV
}

// fullAttention is the model's attention with a KV cache, nil for none.
func fullAttention(m *model.Model) *model.Attention {
	for i := range m.Kinds {
		if a := &m.Kinds[i].Attention; a.Kind == model.GQA {
			return a
		}
	}
	return nil
}

// indexerBytes is a token's key of the selector of sparse attention. Engines keep
// it in fp8 with a float32 scale whatever the format of the cache: vLLM 0.26 logs
// 50.62 GiB for 1,139,456 tokens of GLM-5.2, 576 bytes for each of 78 layers and
// 132 for each of the 21 with a selector of their own.
func indexerBytes(s *graph.Spec, ix *model.Indexer) units.Bytes {
	if s.Policy.WideIndexKeys {
		return s.Quant.KV.Bytes(float64(ix.Dim))
	}
	return dtype.FP8.Bytes(float64(ix.Dim)) + dtype.F32.Bytes(1)
}

// IndexKey is a token's key for the selection of sparse attention in one layer; 0
// without such layers.
func (m *Model) IndexKey() units.Bytes {
	for i := range m.spec.Model.Kinds {
		if ix := &m.spec.Model.Kinds[i].Attention.Indexer; ix.TopK > 0 {
			return indexerBytes(m.spec, ix)
		}
	}
	return 0
}

// stateBytes is the recurrent state and the convolution window of a request.
func stateBytes(s *graph.Spec, a *model.Attention) units.Bytes {
	state, conv := a.State(float64(s.Layout.TP))
	return cmp.Or(s.Quant.State, a.Recurrent.StateFormat, s.Quant.Base).Bytes(state) + s.Quant.Base.Bytes(conv)
}

// State is the recurrent states of a request on a device, over all layers.
func (m *Model) State() units.Bytes {
	var b units.Bytes
	for i := range m.layers {
		b += units.Bytes(m.layers[i].layers) * m.layers[i].state
	}
	return b
}

// KV is the cache of a batch, in whole blocks, with room for the tokens the
// step produces.
func (m *Model) KV(b graph.Batch) units.Bytes {
	room, page := m.spec.Room(), m.spec.PageTokens()
	var total units.Bytes
	for i := range m.layers {
		c := &m.layers[i]
		tokens, entries, requests, all := 0.0, 0.0, 0.0, 0.0
		for _, s := range b.Segments {
			n, seq := float64(s.Requests), float64(s.Seq+room)
			requests += n
			all += n * seq
			kept := seq
			if c.window > 0 {
				kept = math.Min(seq, c.window)
			}
			if c.compress > 0 {
				entries += n * math.Ceil(seq/c.compress)
				if c.window == 0 {
					kept = 0
				}
			}
			tokens += n * kept
		}
		if c.paged && c.compress > 0 {
			entries = page * math.Ceil(math.Floor(all/c.compress)/page)
		}
		blocks := math.Ceil(math.Ceil(tokens/page) / c.cut)
		total += units.Bytes(c.layers) * (units.Bytes(blocks*page)*c.perToken +
			units.Bytes(entries)*c.perEntry + units.Bytes(requests)*c.state)
	}
	return total
}

// BytesPerToken is the cache one more token takes on one device: over all layers
// without a window, and for the given share of those with one; all of them where no other layer has a cache, as in Mistral-7B-v0.1: sequences
// up to the window keep every token.
func (m *Model) BytesPerToken(windowed float64) units.Bytes {
	if !slices.ContainsFunc(m.layers, func(c share) bool { return c.window == 0 && c.perToken > 0 || c.compress > 0 }) {
		windowed = 1
	}
	var b units.Bytes
	for i := range m.layers {
		c := &m.layers[i]
		switch {
		case c.compress > 0: // the window beside the compressed entries is full
			b += units.Bytes(c.layers) * c.perEntry / units.Bytes(c.compress)
		case c.window == 0:
			b += units.Bytes(c.layers) * c.perToken / units.Bytes(c.cut)
		default:
			b += units.Bytes(windowed*c.layers) * c.perToken / units.Bytes(c.cut)
		}
	}
	return b
}
