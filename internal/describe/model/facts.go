package model

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Facts are the figures that follow from a Model, in the form they are printed.
type Facts struct {
	// ID is the requested name, TakenAs the catalog's id where that is another.
	ID           string `json:"id"`
	TakenAs      string `json:"taken_as,omitempty"`
	Architecture string `json:"architecture"`
	Family       string `json:"family"`
	Layers       int    `json:"layers"`
	Hidden       int    `json:"hidden"`
	Vocab        int    `json:"vocab"`
	MaxPosition  int    `json:"max_position"`
	DType        string `json:"dtype"`
	Quantization string `json:"quantization,omitempty"`
	// Storage names the checkpoint's scheme for each part the model has.
	Storage StorageFacts `json:"storage"`

	// Parameters leaves out the MTP modules and has the image tower;
	// Active is what one text token uses, embedding and head included.
	Parameters    int64      `json:"parameters"`
	Active        int64      `json:"active_parameters"`
	MTPParameters int64      `json:"mtp_parameters,omitempty"`
	Parts         Parameters `json:"parameters_by_part"`

	KV KVFacts `json:"kv_bytes_per_token"`
	// StateBytes is the recurrent state of one sequence, whatever its length.
	StateBytes units.Bytes `json:"state_bytes_per_sequence,omitempty"`
	Weights    WeightFacts `json:"weight_bytes"`
	Kinds      []KindFacts `json:"layer_kinds"`
	Notes      []string    `json:"notes,omitempty"`
}

// StorageFacts are the names of number formats and schemes, "" for a part the
// model does not have.
type StorageFacts struct {
	Attention string `json:"attention,omitempty"`
	Dense     string `json:"dense,omitempty"`
	Experts   string `json:"experts,omitempty"`
	Shared    string `json:"shared_experts,omitempty"`
	Head      string `json:"head,omitempty"`
	KV        string `json:"kv"`
}

// KVFacts are cache bytes per token over all layers.
type KVFacts struct {
	Checkpoint units.Bytes `json:"checkpoint"` // in the format the checkpoint asks for
	BF16       units.Bytes `json:"bf16"`
	FP8        units.Bytes `json:"fp8"`
	// Windowed is the part of BF16 in layers with a window, which stops growing
	// there.
	Windowed units.Bytes `json:"bf16_windowed,omitempty"`
}

// WeightFacts are the weights' bytes, MTP modules left out: as the
// checkpoint has them, and with all linear layers in one format.
type WeightFacts struct {
	Checkpoint units.Bytes `json:"checkpoint"`
	BF16       units.Bytes `json:"bf16"`
	FP8        units.Bytes `json:"fp8"`
	INT8       units.Bytes `json:"int8"`
	INT4       units.Bytes `json:"int4"`
	NVFP4      units.Bytes `json:"nvfp4"`
}

// KindFacts describe one kind of layer.
type KindFacts struct {
	Count       int         `json:"count"`
	Description string      `json:"description"`
	Parameters  int64       `json:"parameters"`
	KVBytes     units.Bytes `json:"kv_bytes_per_token"` // in bf16
}

// Facts derives the model's figures.
func (m *Model) Facts() Facts {
	p := m.Parameters()
	cache := m.Quant.KV
	if cache == dtype.None {
		cache = m.DType
	}
	f := Facts{
		ID: m.Name(), Architecture: m.Architecture, Family: m.Family,
		Layers: len(m.Layers), Hidden: m.Hidden, Vocab: m.Vocab, MaxPosition: m.MaxPosition,
		DType: m.DType.String(), Quantization: m.Quant.Method, Storage: storage(&m.Quant, &p, cache),
		Parameters: whole(p.Total()), Active: whole(p.active()), MTPParameters: whole(p.MTP), Parts: p,
		KV: KVFacts{
			Checkpoint: m.KVBytesPerToken(cache),
			BF16:       m.KVBytesPerToken(dtype.BF16),
			FP8:        m.KVBytesPerToken(dtype.FP8),
		},
		StateBytes: m.StateBytes(),
		Weights: WeightFacts{
			Checkpoint: m.WeightBytes(m.Quant),
			BF16:       m.WeightBytes(m.all(dtype.Unquantized(dtype.BF16))),
			FP8:        m.WeightBytes(m.all(fp8Block(128, 128))),
			INT8:       m.WeightBytes(m.all(dtype.Scheme{Weight: dtype.INT8, Activation: dtype.INT8})),
			INT4:       m.WeightBytes(m.all(dtype.Scheme{Weight: dtype.INT4, Activation: dtype.BF16, Group: 128, Scale: dtype.BF16})),
			NVFP4:      m.WeightBytes(m.all(fp4(16, dtype.FP4))),
		},
		Notes: m.Notes,
	}
	if m.Asked != "" {
		f.TakenAs = m.ID
	}
	for i, n := range m.Counts() {
		l := m.Kinds[i]
		kv := dtype.BF16.Bytes(l.Attention.KVElements())
		if l.Attention.Window > 0 {
			f.KV.Windowed += units.Bytes(n) * kv
		}
		f.Kinds = append(f.Kinds, KindFacts{
			Count: n, Description: l.String(),
			Parameters: whole(l.parameters(float64(m.Hidden)).decoder()), KVBytes: kv,
		})
	}
	return f
}

// storage names the schemes of the parts that have weights.
func storage(q *Quantization, p *Parameters, cache dtype.Format) StorageFacts {
	name := func(weights float64, s dtype.Scheme) string {
		if weights == 0 {
			return ""
		}
		return s.Name()
	}
	return StorageFacts{
		Attention: name(p.Attention, q.Attention),
		Dense:     name(p.Dense, q.Dense),
		Experts:   name(p.Experts, q.Experts),
		Shared:    name(p.Shared, q.Shared),
		Head:      name(p.Head, q.Head),
		KV:        cache.String(),
	}
}

func whole(n float64) int64 { return int64(math.Round(n)) }

// KVElements is the number of cache elements one token adds in a layer; an
// indexer's keys are included.
func (a Attention) KVElements() float64 {
	if a.SharedKV {
		return 0
	}
	n := 0
	switch a.Kind {
	case GQA:
		n = a.KVHeads * (a.HeadDim + a.ValueDim)
	case MLA:
		n = a.KVRank + a.RopeDim
	case GatedDelta, Mamba2, Mamba1, ShortConv, Cross, NoAttention:
	}
	if a.Indexer.Own() {
		n += a.Indexer.Dim
	}
	return float64(n) / float64(max(a.Compress, 1))
}

// KVBytesPerToken is the cache one token takes in all layers, windows not
// considered.
func (m *Model) KVBytesPerToken(f dtype.Format) units.Bytes {
	n := 0.0
	for i, count := range m.Counts() {
		n += float64(count) * m.Kinds[i].Attention.KVElements()
	}
	return f.Bytes(n)
}

// StateBytes is the recurrent state of one sequence in all layers: the matrix
// for each head, and the last inputs of the convolution.
func (m *Model) StateBytes() units.Bytes {
	var b units.Bytes
	for i, count := range m.Counts() {
		state, conv := m.Kinds[i].Attention.State(1)
		s := m.Kinds[i].Attention.Recurrent.StateFormat
		b += units.Bytes(count) * (s.Bytes(state) + m.DType.Bytes(conv))
	}
	return b
}

// State counts the elements of a recurrent layer's state, and of the last inputs of its convolution, on one of tp ranks.
func (a *Attention) State(tp float64) (matrix, conv float64) {
	c := &a.Recurrent
	heads := perRank(c.ValueHeads, tp)
	conv = heads * float64(c.ValueDim)
	switch a.Kind {
	case GatedDelta:
		conv += 2 * perRank(c.KeyHeads, tp) * float64(c.KeyDim)
	case Mamba2:
		conv += 2 * perRank(c.Groups, tp) * float64(c.KeyDim)
	case Mamba1, ShortConv: // their values alone
	case GQA, MLA, Cross, NoAttention:
		return 0, 0
	}
	return heads * float64(c.KeyDim*c.ValueDim), conv * float64(max(0, c.Conv-1))
}

// WeightBytes is the storage of the model's weights, MTP modules left
// out, when its parts are stored as q says. Embeddings, routers, norms and the
// image tower stay in the model's own format.
func (m *Model) WeightBytes(q Quantization) units.Bytes {
	p := m.Parameters()
	b := m.DType.Bytes(p.Embedding + p.Router + p.Small + p.Vision)
	b += q.Attention.WeightBytes(p.Attention, 1)
	b += q.Dense.WeightBytes(p.Dense, 1)
	b += q.Experts.WeightBytes(p.Experts, 1)
	b += q.Shared.WeightBytes(p.Shared, 1)
	return b + q.Head.WeightBytes(p.Head, 1)
}

// all puts every linear layer but the head into one scheme.
func (m *Model) all(s dtype.Scheme) Quantization {
	return Quantization{Attention: s, Dense: s, Experts: s, Shared: s, Head: dtype.Unquantized(m.DType)}
}
