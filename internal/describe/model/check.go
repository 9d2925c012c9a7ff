package model

import (
	"cmp"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Upper bounds of what a field may say. They are far above any model and low
// enough that products of a few fields stay exact.
const (
	maxLayers       = 1 << 10
	maxHidden       = 1 << 20
	maxVocab        = 1 << 24
	maxExperts      = 1 << 16
	maxHeads        = 1 << 14
	maxHeadDim      = 1 << 14
	maxPositions    = 1 << 30
	maxIntermediate = 1 << 22
)

// base holds the fields that nearly every config.json has.
type base struct {
	Hidden       int    `json:"hidden_size"`
	Layers       int    `json:"num_hidden_layers"`
	Heads        int    `json:"num_attention_heads"`
	KVHeads      int    `json:"num_key_value_heads"` // absent: as many as Heads
	HeadDim      int    `json:"head_dim"`            // absent: Hidden / Heads
	Intermediate int    `json:"intermediate_size"`
	Vocab        int    `json:"vocab_size"`
	MaxPosition  int    `json:"max_position_embeddings"`
	Tied         *bool  `json:"tie_word_embeddings"`
	TorchDType   string `json:"torch_dtype"`
	DType        string `json:"dtype"`
	// What norms add to the mean square under their root.
	Epsilon float64 `json:"rms_norm_eps"`
	// The rotated share of a head, at either of two places.
	Partial float64 `json:"partial_rotary_factor"`
	Rope    struct {
		Partial float64 `json:"partial_rotary_factor"`
	} `json:"rope_parameters"`
}

// need checks a field that must be there.
func (r *reader) need(field string, v, most int) {
	if v == 0 {
		r.addf(field, "missing (family %s)", r.family.Name)
		return
	}
	r.may(field, v, most)
}

// may checks a field that can be absent.
func (r *reader) may(field string, v, most int) {
	switch {
	case v < 0:
		r.addf(field, "%d is negative", v)
	case v > most:
		r.addf(field, "%d is implausible, at most %d is allowed", v, most)
	}
}

// divides checks that part goes into whole without rest; zeros are reported
// elsewhere.
func (r *reader) divides(field string, part int, wholeField string, whole int) {
	if part > 0 && whole > 0 && whole%part != 0 {
		r.addf(field, "%d does not divide %s %d", part, wholeField, whole)
	}
}

// DefaultEpsilon is the epsilon of norms where a config states none: the most
// common default of transformers' config classes.
const DefaultEpsilon = 1e-6

// model checks the common fields and begins a Model with them. Only when
// nothing failed may the caller go on to build layers.
func (r *reader) model(b *base) *Model {
	r.need("hidden_size", b.Hidden, maxHidden)
	r.need("num_hidden_layers", b.Layers, maxLayers)
	r.need("vocab_size", b.Vocab, maxVocab)
	r.need("max_position_embeddings", b.MaxPosition, maxPositions)
	m := &Model{
		Hidden:         b.Hidden,
		Vocab:          b.Vocab,
		MaxPosition:    b.MaxPosition,
		ScaledPosition: r.scaled(b.MaxPosition),
		DType:          r.format(b.TorchDType, b.DType),
		Epsilon:        cmp.Or(b.Epsilon, DefaultEpsilon),
		OffsetNorm:     r.style.OffsetNorm,
	}
	switch {
	case b.Tied != nil:
		m.Tied = *b.Tied
	case r.outer.Tied != nil:
		m.Tied = *r.outer.Tied
	}
	return m
}

// attention checks the fields of grouped-query attention and returns it.
func (r *reader) attention(b *base) Attention {
	r.need("num_attention_heads", b.Heads, maxHeads)
	kv := cmp.Or(b.KVHeads, b.Heads)
	r.may("num_key_value_heads", kv, maxHeads)
	r.divides("num_key_value_heads", kv, "num_attention_heads", b.Heads)
	dim := b.HeadDim
	if dim == 0 && b.Heads > 0 {
		r.divides("num_attention_heads", b.Heads, "hidden_size", b.Hidden)
		dim = b.Hidden / b.Heads
	}
	r.may("head_dim", dim, maxHeadDim)
	return Attention{
		Kind: GQA, Heads: b.Heads, KVHeads: kv,
		HeadDim: dim, ValueDim: dim, RopeDim: r.rope(b, dim),
	}
}

// rope is the rotated part of a head of width dim.
func (r *reader) rope(b *base, dim int) int {
	share := cmp.Or(b.Partial, b.Rope.Partial, 1)
	if !(share > 0 && share <= 1) {
		r.addf("partial_rotary_factor", "%g is not between 0 and 1", share)
		return dim
	}
	return int(share * float64(dim))
}

// dense checks the inner width of a plain feed-forward part and returns it.
func (r *reader) dense(width int) FFN {
	r.need("intermediate_size", width, maxIntermediate)
	return FFN{Kind: Dense, Intermediate: width}
}

// experts checks a routed feed-forward part. Names are the config's fields for
// the number of experts, those chosen, and their inner width.
func (r *reader) experts(names [3]string, n, chosen, width int) FFN {
	r.need(names[0], n, maxExperts)
	r.need(names[1], chosen, maxExperts)
	r.need(names[2], width, maxIntermediate)
	if n > 0 && chosen > n {
		r.addf(names[1], "%d is more than %s %d", chosen, names[0], n)
	}
	return FFN{Kind: MoE, Experts: n, TopK: chosen, ExpertIntermediate: width}
}

// fill makes the decoder's layers, n of them, numbered from 0.
func (m *Model) fill(n int, layer func(i int) Layer) {
	m.Layers = make([]int, n)
	for i := range n {
		m.Layers[i] = m.kind(layer(i))
	}
}

// kind finds a layer among the kinds, adding it when it is new.
func (m *Model) kind(l Layer) int {
	if l.Streams == 0 {
		l.Streams = 1
	}
	for i, k := range m.Kinds {
		if k == l {
			return i
		}
	}
	m.Kinds = append(m.Kinds, l)
	return len(m.Kinds) - 1
}

// predict sets n MTP modules, each with a layer like the
// decoder's last.
func (m *Model) predict(r *reader, n int) {
	r.may("num_nextn_predict_layers", n, maxLayers)
	if n > 0 && len(m.Layers) > 0 {
		m.MTP = MTP{Layers: n, Kind: m.Layers[len(m.Layers)-1]}
	}
}

// note states an approximation.
func (m *Model) note(s string) { m.Notes = append(m.Notes, s) }

// stateFormat reads the format of a recurrent state. Engines keep it in float32
// unless the config says otherwise, because errors add up over the sequence.
func (r *reader) stateFormat(field, s string) dtype.Format {
	if s == "" || s == "auto" {
		return dtype.F32
	}
	f := torchFormat(s)
	if f == dtype.None {
		r.addf(field, "%s is not a known number format", quoted(s))
	}
	return f
}
