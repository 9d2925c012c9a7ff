package model

import (
	"cmp"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Model is a language model as far as its cost depends on it.
type Model struct {
	// ID is the catalog's id ("Qwen/Qwen3-32B"), or the path or id it was read
	// from. Measurements of a model are filed under it.
	ID string
	// Asked is the requested name, if it is not the ID.
	Asked        string
	Architecture string // "Qwen3ForCausalLM"
	Family       string // "qwen3"

	Hidden      int
	Vocab       int
	MaxPosition int // rows of the rotary table
	// ScaledPosition is how far the config's rope scaling reaches beyond MaxPosition, 0
	// without one.
	ScaledPosition int
	Tied           bool // the output head shares the embedding's weights
	// Positions is the rows of a learned embedding of positions; 0 = none.
	Positions int
	// InputVocab is the rows of a second embedding with a vector of each token for
	// every layer, Input wide (Gemma 3n, Gemma 4 E2B and E4B); 0 = none.
	InputVocab int
	// DType is what the checkpoint computes in where it is not quantized.
	DType dtype.Format
	// Epsilon is what norms add under their root, OffsetNorm that they scale by one
	// plus the weight (Gemma 3, Qwen3-Next): neither costs a kernel anything, but
	// TensorCast fuses norms by both.
	Epsilon    float64
	OffsetNorm bool
	// MXFP8 says that the publisher's conversion to 8 bits has a scale for every 32 weights of
	// a row, not for blocks of 128×128 (MiniMaxAI/MiniMax-M3-MXFP8).
	MXFP8 bool
	// HashLayers is the number of first layers that choose experts by a table of
	// token ids, Sinkhorn the rounds in which weights of parallel residual streams
	// are balanced (DeepSeek-V4).
	HashLayers, Sinkhorn int

	// Kinds are the distinct layer kinds; Layers gives each decoder layer's
	// index into Kinds, in order.
	Kinds  []Layer
	Layers []int

	// MTP describes the MTP modules of the checkpoint.
	MTP MTP
	// Vision is the image tower, nil for a text model.
	Vision *Vision
	// Quant is how the checkpoint itself is quantized.
	Quant Quantization
	// Notes state the approximations made for this model, one sentence each.
	Notes []string
}

// Layer is one kind of decoder layer: a token mixer and a feed-forward part,
// either of which may be absent (Nemotron-H puts one in each layer).
type Layer struct {
	Attention Attention
	FFN       FFN
	// Norms is the number of hidden-wide norms (2 for the usual pre-norm pair,
	// 4 for Gemma's sandwich).
	Norms int
	// Parallel layers feed the same normed input to both parts and add up what they
	// give (Command R, Falcon, Phi-2).
	Parallel bool
	// Streams is the number of parallel residual streams (4 with DeepSeek-V4's
	// hyper-connections), 1 otherwise. AltUp says that they are Gemma 3n's: a layer
	// works on one and updates the others by coefficients.
	Streams int
	AltUp   bool
	// Input is the width of the layer's own vector of each token: the hidden state
	// is projected down to it, multiplied with it and projected up again.
	Input int
	// LowRank is the rank of two matrices beside the token mixer (Gemma 3n's LAuReL).
	LowRank int
}

// AttentionKind names a token mixer.
type AttentionKind uint8

// The token mixers.
const (
	NoAttention AttentionKind = iota
	GQA                       // grouped-query attention with a KV cache
	MLA                       // multi-head latent attention
	GatedDelta                // gated delta rule: Qwen3-Next, Kimi's KDA
	Mamba2                    // Mamba-2 state space
	Mamba1                    // Mamba state space: a step size for every channel
	ShortConv                 // gated short convolution (LFM2)
	Cross                     // attends to images instead of text (Llama 3.2 Vision)
)

// Attention is the token mixer of a layer. Fields that a kind does not use are
// zero.
type Attention struct {
	Kind AttentionKind

	Heads    int // query heads
	KVHeads  int // key/value heads; for MLA equal to Heads
	HeadDim  int // query and key width of a head
	ValueDim int // value width of a head
	RopeDim  int // rotated part of HeadDim
	// RopeStated says that the config has RopeDim in elements, not as a share.
	RopeStated bool

	QKNorm   QKNorm
	Bias     bool // bias on q, k, v
	OutBias  bool // bias on the output projection
	OutGate  bool // output gate as wide as the queries (Qwen3-Next, Kimi-K3)
	Sinks    bool // one learned sink logit per head
	Window   int  // attends to the last Window tokens; 0 = all
	Chunked  bool // Window is a fixed chunk grid (Llama 4), not sliding
	KeyIsVal bool // no value projection: values are the keys (Gemma 4 global)
	SharedKV bool // reuses an earlier layer's KV: no k, v projection, no cache

	// MLA.
	QRank    int // query low rank; 0 = full-rank queries
	KVRank   int // latent width in the cache
	OutRank  int // output low rank per group (DeepSeek-V4); 0 = full rank
	OutGroup int // groups of the low-rank output

	// Sparse attention: a lightning indexer selects TopK tokens.
	Indexer Indexer
	// Compress keeps one cache entry per Compress tokens (DeepSeek-V4); 0 and 1
	// mean every token.
	Compress int
	// Local is the number of recent tokens kept and attended uncompressed beside
	// a compressed cache (DeepSeek-V4).
	Local int

	// Recurrent kinds (GatedDelta, Mamba2, Mamba1, ShortConv).
	Recurrent Recurrent
}

// QKNorm says which norm queries and keys get.
type QKNorm uint8

// The kinds of query/key norm.
const (
	NoQKNorm    QKNorm = iota
	PerHead            // over HeadDim, weights shared by all heads (Qwen3)
	WholeVector        // over all heads together (MiniMax-M2)
)

// Indexer is the token selector of sparse attention.
type Indexer struct {
	Heads, Dim int
	TopK       int  // tokens attended to after selection; 0 = no indexer
	Shared     bool // uses an earlier layer's selection: no indexer of its own
}

// Own reports whether a layer computes a selection itself.
func (x *Indexer) Own() bool { return x.TopK > 0 && !x.Shared }

// Recurrent is the state of a linear-attention or state-space layer.
type Recurrent struct {
	KeyHeads, ValueHeads int // Mamba2: ValueHeads = heads
	KeyDim, ValueDim     int // Mamba2: KeyDim = state size, ValueDim = head dim
	Groups               int // Mamba2: groups of B and C
	Conv                 int // causal convolution kernel width
	GateRank             int // low rank of the output/decay gates (KDA), of Mamba's step size; 0 = full
	// ChannelDecay marks a decay per key channel (KDA), which has a low-rank
	// projection of its own, instead of one per head.
	ChannelDecay bool
	// Joined says that the input projections are two matrices (Qwen3-Next), not four.
	Joined      bool
	StateFormat dtype.Format
}

// FFNKind names a feed-forward part.
type FFNKind uint8

// The feed-forward parts.
const (
	NoFFN FFNKind = iota
	Dense
	MoE
)

// FFN is the feed-forward part of a layer.
type FFN struct {
	Kind FFNKind
	// Intermediate is the inner width of a dense part. A MoE layer that also
	// runs a dense part beside the experts (Gemma 4, Llama 4 does not) has it too.
	Intermediate int
	// Ungated parts have an up and a down matrix only (Nemotron-H's relu²).
	Ungated bool
	Bias    bool
	Clamped bool // gate and up are limited first (DeepSeek-V4)

	Experts            int // routed experts
	TopK               int
	ExpertIntermediate int  // inner width of one routed expert
	SharedIntermediate int  // inner width of all shared experts together
	SharedGate         bool // sigmoid gate on the shared expert (Qwen2-MoE)
	RouterBias         bool // per-expert correction bias
	// Latent is the width the routed experts work in when tokens are projected
	// down before dispatch (Nemotron-3, Kimi-K3); 0 = Hidden.
	Latent int
	// Router is how experts are chosen; TensorCast traces each way differently.
	Router Router
	// Groups are the groups of experts a grouped router chooses GroupTopK of first.
	Groups, GroupTopK int
}

// Router names a way to choose experts.
type Router uint8

// The routers.
const (
	SoftmaxRouter  Router = iota // softmax, then the largest (Qwen3, Mixtral)
	RawRouter                    // scores in float32, the rest outside the gate module (DeepSeek-V3, GLM)
	GroupRouter                  // sigmoid of float32 scores, groups first, inside it (DeepSeek-V3.2)
	SigmoidRouter                // sigmoid and a correction bias (MiniMax-M2)
	SoftplusRouter               // root of the softplus of float32 scores (DeepSeek-V4)
)

// WideScores reports whether a router scores in float32.
func (r Router) WideScores() bool { return r == RawRouter || r == GroupRouter || r == SoftplusRouter }

// MTP describes the MTP modules.
type MTP struct {
	Layers int // modules in the checkpoint
	Kind   int // index into Kinds of the module's decoder layer
}

// Vision is the image tower.
type Vision struct {
	Layers, Hidden, Intermediate, Heads int
	Patch                               int // pixels per patch side
	TemporalPatch                       int // frames per patch
	Merge                               int // patches per side merged into one token
	Out                                 int // width handed to the language model
	Window                              int // pixels per side of windowed attention; 0 = full
	FullLayers                          int // layers with full attention when Window > 0
	Ungated                             bool
	// MergerHidden is the inner width of the projector; 0 = Hidden·Merge².
	MergerHidden int
	// DeepStack is the number of extra projectors feeding early decoder layers.
	DeepStack int
	// TokensPerImage fixes the token count whatever the size (Gemma); 0 = from
	// height × width. PatchesPerImage fixes what the tower works on, where images
	// do not come as tokens (Llama 3.2 Vision).
	TokensPerImage, PatchesPerImage int
	// Pooled towers average the merged patches and project them with one matrix
	// (Gemma) instead of concatenating them into a two-layer projector. Joined
	// towers concatenate them and project them with one matrix (Idefics 3).
	Pooled, Joined bool
	// Positions is the number of learned position embeddings.
	Positions int
	// Bias marks biases on the tower's linear layers.
	Bias bool
	// PlainLayers and PlainHidden are what config.json says under num_hidden_layers and hidden_size, 0 under other names:
	// an engine reads no others.
	PlainLayers, PlainHidden int
}

// Quantization is the checkpoint's own storage per part of the model.
type Quantization struct {
	Method    string // as the checkpoint names it: "fp8", "modelopt", "mxfp4", ""
	Attention dtype.Scheme
	Dense     dtype.Scheme // dense feed-forward parts
	Experts   dtype.Scheme
	Shared    dtype.Scheme // shared experts
	Head      dtype.Scheme // output head
	KV        dtype.Format // None = as DType
}

// Name is what the user calls the model.
func (m *Model) Name() string { return cmp.Or(m.Asked, m.ID) }

// Taken is the note of what the requested name was resolved to, "" if it is the
// model's own id. It is the first of the notes.
func (m *Model) Taken() string {
	if m.Asked == "" {
		return ""
	}
	return m.Notes[0]
}

// Shortened is the model cut after its first layers.
func (m *Model) Shortened(layers int) *Model {
	out := *m
	out.Layers = m.Layers[:min(layers, len(m.Layers))]
	return &out
}

// HasExperts reports whether any layer routes tokens to experts.
func (m *Model) HasExperts() bool {
	for _, k := range m.Kinds {
		if k.FFN.Kind == MoE {
			return true
		}
	}
	return false
}
