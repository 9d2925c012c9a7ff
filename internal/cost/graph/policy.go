package graph

import "github.com/plimsoll-project/plimsoll/internal/describe/model"

// Policy says which artefacts of Ascend's TensorCast, assumptions that are wrong
// about hardware, a graph, its memory and its operator times have. Each field is
// one artefact: true has it, false models what kernels and engines really do.
// Numbers have TensorCast's value or that of [Physical].
type Policy struct {
	Name string

	// FullAttention counts query × key pairs without the causal half: a prefill
	// of n tokens costs n², not n(n+1)/2.
	FullAttention bool
	// VerifyAsPrefill chooses kernels by the length of a query alone, so that many
	// draft tokens are verified by prefill kernels. Engines hand them to their
	// decode kernels, however many they are.
	VerifyAsPrefill bool
	// WholeCache keeps every token in the cache of sliding-window layers.
	WholeCache bool
	// PageTokens is the size of a block of the KV cache.
	PageTokens int
	// FragileGrouping runs experts one by one, each with its own launch, when
	// their row counts are not multiples of the tensor-parallel size.
	FragileGrouping bool
	// WholeIndex lets a row selection read its whole source: the rotary tables,
	// and all tokens to pick the last of each request.
	WholeIndex bool
	// QuantizedActivations turns weight-only quantization into full: W8A16 costs
	// what W8A8 costs, and FP8 and INT8 use the INT8 peak.
	QuantizedActivations bool
	// FreeBias adds a bias to an unquantized product without arithmetic.
	FreeBias bool
	// HalfPrecision computes unquantized parts in float16 regardless of the
	// checkpoint.
	HalfPrecision bool
	// UnquantizedHead never quantizes the output head: the vendor's
	// --quantize-lmhead has no effect.
	UnquantizedHead bool
	// WideIndexKeys caches the index keys of sparse attention unquantized.
	WideIndexKeys bool
	// VisionOnDemand loads the vision tower only where a batch has images.
	VisionOnDemand bool
	// SlowPrologue charges sixteen launches for the fused projections in front
	// of latent attention.
	SlowPrologue bool
	// HeldCopies stores the absorbed projections of latent attention and float32
	// copies of router weights in addition to the weights they are made of.
	HeldCopies bool
	// CheapContext expands only the new tokens' latents in a prefill, never the
	// cached context it attends to.
	CheapContext bool
	// JoinedRope joins the rotated part of queries and keys with the rest by a
	// separate operator, where only a part is rotated.
	JoinedRope bool
	// TracedRope computes the rotation of a part of each head by elementwise
	// operators, as the source writes it, and copies the result into place.
	TracedRope bool
	// WholeRope rotates whole heads if a config gives the rotated part as a number of
	// elements.
	WholeRope bool
	// TracedGates computes gates by elementwise operators, as the source writes them.
	TracedGates bool
	// QuantizedGates quantizes the gate of shared experts like other linear layers.
	QuantizedGates bool
	// FragmentedRouter traces the router and the combination of expert outputs
	// as a dozen elementwise operators instead of one fused kernel each.
	FragmentedRouter bool
	// PaddedTokens pads tokens to equal shares of the ranks by a separate operator.
	PaddedTokens bool
	// CopiedShared keeps whole shared experts on every rank even where the ranks
	// see the same tokens and could share the work.
	CopiedShared bool
	// CopiedEmbedding keeps the whole word embedding on every rank unless asked to
	// shard it; engines shard it over the vocabulary.
	CopiedEmbedding bool
	// UnsharedWeights stores shared weights twice: a head tied to the embedding,
	// and both for MTP modules.
	UnsharedWeights bool
	// IgnoredCopies shards every expert over all devices when there is no expert
	// parallelism, and ignores MoE-DP.
	IgnoredCopies bool
	// UnevenTokens divides tokens over TP whenever EP differs from DP, and joins
	// them over DP whenever there is no EP, whatever the shards of the experts
	// need: with both EP and MoE-TP some of the work is missing.
	UnevenTokens bool
	// FrontLoaded lets every rank assign its tokens to experts starting with the
	// first, so that with few tokens rank 0 is full while others idle: it counts as
	// full in the fused dispatch-and-combine kernel.
	FrontLoaded bool
	// ExchangedPairs sends every pair of token and expert separately, to the expert
	// and back, and unquantized, even where all ranks hold the token; shards of
	// experts are summed pair by pair too. Engines send a token once to each rank,
	// which adds up the outputs of its own experts; where all ranks hold the token,
	// each adds up its experts or shards, shared experts included, and the parts are
	// summed once.
	ExchangedPairs bool
	// UntiledExperts stores MXFP4 experts without padding to kernel tiles.
	UntiledExperts bool
	// FreedTwice counts activations as TensorCast's tracker does, which frees the
	// pieces of joined projections twice.
	FreedTwice bool
	// EpsilonBound fuses a norm and the quantization after it only if the norm's
	// epsilon is 1e-6.
	EpsilonBound bool
	// TracedNorms computes norms that scale by one plus their weight by elementwise
	// operators, as the source writes them.
	TracedNorms bool
	// LocalNorms takes norms over all heads of queries or keys over those of each rank.
	LocalNorms bool
	// OwnChoices reads the selected entries of the KV cache for every query of a
	// prefill with sparse attention, instead of their union once.
	OwnChoices bool
	// ScatteredReads divides the bytes that sparse attention and its indexer read from
	// the cache by the share of the bandwidth that TensorCast assumes for scattered
	// reads: about 2 % in a decode.
	ScatteredReads bool
	// FusedIndexer makes the indexer of sparse attention one operator.
	FusedIndexer bool
	// WideDelta computes the gated delta rule of Qwen's linear attention in float32,
	// with scratch memory, over all tokens of a step as one sequence unless they are
	// decoded, and computes its gates in a separate operator.
	WideDelta bool
	// TracedContext applies context parallelism to pure decode steps only, exchanges
	// outputs after their up-projection, and merges them by small operators.
	TracedContext bool
	// OpaqueDelta makes Qwen3-Next's linear attention one operator that reads no
	// weights and is not sharded over TP, if operators are not fused.
	OpaqueDelta bool
	// NarrowingExperts quantizes the output of the first product of MXFP4 experts in
	// the same operator.
	NarrowingExperts bool
	// PairwiseCombine lets the fused dispatch-and-combine kernel compute the pairs of
	// token and expert that a rank sends, and return them pair by pair.
	PairwiseCombine bool
	// TracedVision uses the operators of Qwen3-VL's vision tower as the source writes
	// them: positions, rotations in float32, casts, attention image by image.
	TracedVision bool
	// LostOrder lets operators of two streams start early if TensorCast loses their
	// dependencies: those on operators with several results.
	LostOrder bool
	// TracedCompression uses the operators of DeepSeek-V4's attention as written:
	// no fused prologue, pooling in float32, an unquantized product for the groups of
	// the output, rotary tables as wide as a whole head.
	TracedCompression bool
	// TracedStreams mixes parallel residual streams by the operators as written, with
	// a float32 copy of all streams for each part of a layer.
	TracedStreams bool
	// FreeStates does not count the memory of the states of Qwen's linear attention.
	FreeStates bool
	// CachedLinear keeps a KV cache for Qwen3-Next's linear layers too.
	CachedLinear bool
	// UncutPrediction replicates queries, keys and values of MTP modules on every
	// rank.
	UncutPrediction bool
	// JoinedLayers fuses the residual sum at the end of a layer with the norm of the
	// next where layers share index selections. Other layers are compiled one by one.
	JoinedLayers bool
	// AddedImages caches the images of a decode beside the context it is given.
	AddedImages bool
	// FreeUnsupported drops arithmetic in formats the device has no unit for,
	// instead of running it on the next wider one.
	FreeUnsupported bool
}

// TensorCast has every artefact; golden numbers check it.
func TensorCast() Policy {
	return Policy{
		Name:          "tensorcast",
		FullAttention: true, VerifyAsPrefill: true, WholeCache: true, PageTokens: 128, FragileGrouping: true, WholeIndex: true,
		QuantizedActivations: true, FreeBias: true, HalfPrecision: true, UnquantizedHead: true, WideIndexKeys: true,
		VisionOnDemand: true, SlowPrologue: true, HeldCopies: true, CheapContext: true, JoinedRope: true,
		FragmentedRouter: true, PaddedTokens: true, CopiedShared: true, CopiedEmbedding: true, UnsharedWeights: true,
		IgnoredCopies: true, UnevenTokens: true, FrontLoaded: true, ExchangedPairs: true,
		UntiledExperts: true, FreedTwice: true, FreeUnsupported: true, EpsilonBound: true, TracedNorms: true, LocalNorms: true,
		TracedRope: true, WholeRope: true, TracedGates: true, QuantizedGates: true, WideDelta: true, OpaqueDelta: true,
		OwnChoices: true, ScatteredReads: true, FusedIndexer: true, TracedVision: true, TracedCompression: true,
		TracedStreams: true, FreeStates: true, CachedLinear: true, UncutPrediction: true, JoinedLayers: true,
		AddedImages: true, TracedContext: true, LostOrder: true, NarrowingExperts: true, PairwiseCombine: true,
	}
}

// Physical has none. Pages are vLLM's default (--block-size 16); engines differ,
// but the entry of a page is 8 bytes, its cache tens of kilobytes.
func Physical() Policy { return Policy{Name: "physical", PageTokens: 16} }

// IsTensorCast reports whether the policy is TensorCast's, with all artefacts or
// without some.
func (p *Policy) IsTensorCast() bool { return p.Name == TensorCast().Name }

// LoadsVision reports whether a model's vision tower is loaded for batches with
// or without images.
func (p *Policy) LoadsVision(m *model.Model, images bool) bool {
	return m.Vision != nil && (images || !p.VisionOnDemand)
}

// Artefact is one field of a policy, with its documentation.
type Artefact struct {
	Name  string
	Doc   string
	reset func(p, physical *Policy)
}

// Without is a policy without the artefact.
func (a *Artefact) Without(p Policy) Policy {
	physical := Physical()
	a.reset(&p, &physical)
	return p
}

// In reports whether a policy has the artefact.
func (a *Artefact) In(p Policy) bool { return a.Without(p) != p }

// entry is the artefact of one field.
func entry[T any](name, doc string, field func(*Policy) *T) Artefact {
	return Artefact{name, doc, func(p, physical *Policy) { *field(p) = *field(physical) }}
}

// Artefacts lists the entries in the order they are documented.
func Artefacts() []Artefact {
	return []Artefact{
		entry("full-attention", "prefill attention computes all query-key pairs, not only the causal half", func(p *Policy) *bool { return &p.FullAttention }),
		entry("verify-as-prefill", "queries of six or more tokens (speculative decoding) use prefill kernels", func(p *Policy) *bool { return &p.VerifyAsPrefill }),
		entry("whole-cache", "sliding-window layers keep every token in the KV cache", func(p *Policy) *bool { return &p.WholeCache }),
		entry("large-pages", "the KV cache is allocated in blocks of 128 tokens", func(p *Policy) *int { return &p.PageTokens }),
		entry("fragile-grouping", "experts run one by one unless TP divides their row counts", func(p *Policy) *bool { return &p.FragileGrouping }),
		entry("whole-index", "an index lookup reads the whole table", func(p *Policy) *bool { return &p.WholeIndex }),
		entry("quantized-activations", "weight-only quantization costs as much as full quantization; FP8 uses the INT8 peak", func(p *Policy) *bool { return &p.QuantizedActivations }),
		entry("free-bias", "the bias of an unquantized product is free", func(p *Policy) *bool { return &p.FreeBias }),
		entry("half-precision", "unquantized parts compute in float16 regardless of the checkpoint", func(p *Policy) *bool { return &p.HalfPrecision }),
		entry("unquantized-head", "the output head is never quantized", func(p *Policy) *bool { return &p.UnquantizedHead }),
		entry("wide-index-keys", "the index keys of sparse attention are cached in the format of the KV cache", func(p *Policy) *bool { return &p.WideIndexKeys }),
		entry("vision-on-demand", "the vision tower is loaded only if a batch has images", func(p *Policy) *bool { return &p.VisionOnDemand }),
		entry("slow-prologue", "the fused projections before latent attention cost sixteen launches", func(p *Policy) *bool { return &p.SlowPrologue }),
		entry("held-copies", "absorbed projections and float32 router weights are stored in addition to the weights", func(p *Policy) *bool { return &p.HeldCopies }),
		entry("cheap-context", "prefill does not expand the latent KV cache of its context", func(p *Policy) *bool { return &p.CheapContext }),
		entry("joined-rope", "rotated and unrotated parts of queries and keys are joined by a separate operator", func(p *Policy) *bool { return &p.JoinedRope }),
		entry("traced-rope", "rotating a part of each head takes ten operators and two copies", func(p *Policy) *bool { return &p.TracedRope }),
		entry("whole-rope", "whole heads are rotated if the config gives the rotated part in elements", func(p *Policy) *bool { return &p.WholeRope }),
		entry("traced-gates", "the gates of attention and of shared experts take separate sigmoids and copies", func(p *Policy) *bool { return &p.TracedGates }),
		entry("quantized-gates", "the gate of shared experts is quantized like other linear layers", func(p *Policy) *bool { return &p.QuantizedGates }),
		entry("fragmented-router", "routing and combining take a dozen operators instead of two", func(p *Policy) *bool { return &p.FragmentedRouter }),
		entry("padded-tokens", "padding tokens to equal shares of the ranks is a separate operator", func(p *Policy) *bool { return &p.PaddedTokens }),
		entry("copied-shared-experts", "shared experts are replicated on every rank even without expert parallelism", func(p *Policy) *bool { return &p.CopiedShared }),
		entry("copied-embedding", "the word embedding is replicated on every rank", func(p *Policy) *bool { return &p.CopiedEmbedding }),
		entry("unshared-weights", "a tied output head is stored twice; MTP modules have their own embedding and head", func(p *Policy) *bool { return &p.UnsharedWeights }),
		entry("ignored-copies", "without expert parallelism experts are sharded over all devices and MoE-DP is ignored", func(p *Policy) *bool { return &p.IgnoredCopies }),
		entry("uneven-tokens", "tokens are distributed to sharded experts by EP and DP alone; with EP and MoE-TP some work is missing", func(p *Policy) *bool { return &p.UnevenTokens }),
		entry("front-loaded-experts", "every rank assigns its tokens to experts starting with the first expert", func(p *Policy) *bool { return &p.FrontLoaded }),
		entry("exchanged-pairs", "every token-expert pair is sent separately and unquantized, even if all ranks hold the token", func(p *Policy) *bool { return &p.ExchangedPairs }),
		entry("untiled-experts", "MXFP4 experts are stored without padding to kernel tiles", func(p *Policy) *bool { return &p.UntiledExperts }),
		entry("freed-twice", "activation memory is too small by tensors that are freed twice", func(p *Policy) *bool { return &p.FreedTwice }),
		entry("epsilon-bound-norms", "a norm and the quantization after it are fused only if the norm's epsilon is 1e-6", func(p *Policy) *bool { return &p.EpsilonBound }),
		entry("traced-norms", "norms that scale by one plus their weight take eight operators", func(p *Policy) *bool { return &p.TracedNorms }),
		entry("local-norms", "norms over all heads of queries or keys are over those of each rank, with no sum over TP", func(p *Policy) *bool { return &p.LocalNorms }),
		entry("own-choices", "every query of a prefill with sparse attention reads its selected entries of the KV cache separately", func(p *Policy) *bool { return &p.OwnChoices }),
		entry("scattered-reads", "sparse attention reads the KV cache at a small share of the bandwidth", func(p *Policy) *bool { return &p.ScatteredReads }),
		entry("fused-indexer", "the indexer of sparse attention is one unquantized operator", func(p *Policy) *bool { return &p.FusedIndexer }),
		entry("wide-delta-rule", "the gated delta rule computes in float32 with scratch memory, on all tokens of a prefill as one sequence", func(p *Policy) *bool { return &p.WideDelta }),
		entry("traced-context", "context parallelism applies to pure decode steps only, and merges outputs by small operators", func(p *Policy) *bool { return &p.TracedContext }),
		entry("opaque-linear-attention", "without fusion Qwen3-Next's linear attention is one operator without weights, not sharded over TP", func(p *Policy) *bool { return &p.OpaqueDelta }),
		entry("narrowing-experts", "the first product of MXFP4 experts also quantizes its output", func(p *Policy) *bool { return &p.NarrowingExperts }),
		entry("pairwise-combine", "the fused dispatch-and-combine kernel computes the token-expert pairs a rank sends and returns them one by one", func(p *Policy) *bool { return &p.PairwiseCombine }),
		entry("traced-vision", "the vision tower of Qwen3-VL is not fused, its rotation is in float32", func(p *Policy) *bool { return &p.TracedVision }),
		entry("lost-order", "with two streams, operators that follow one with several results start before it ends", func(p *Policy) *bool { return &p.LostOrder }),
		entry("traced-compression", "DeepSeek-V4's attention is not fused, its pooling is in float32", func(p *Policy) *bool { return &p.TracedCompression }),
		entry("traced-streams", "the mixing of parallel residual streams is not fused", func(p *Policy) *bool { return &p.TracedStreams }),
		entry("free-states", "the states of Qwen's linear attention use no memory", func(p *Policy) *bool { return &p.FreeStates }),
		entry("cached-linear-layers", "Qwen3-Next's linear-attention layers have a KV cache like its full-attention layers", func(p *Policy) *bool { return &p.CachedLinear }),
		entry("uncut-prediction", "queries, keys and values of MTP modules are replicated on every rank", func(p *Policy) *bool { return &p.UncutPrediction }),
		entry("joined-layers", "layers that share index selections are compiled together, so that a residual sum and the next layer's norm are one operator", func(p *Policy) *bool { return &p.JoinedLayers }),
		entry("added-images", "the images of a decode are added to the KV cache of its context", func(p *Policy) *bool { return &p.AddedImages }),
		entry("free-unsupported", "arithmetic in number formats the device lacks is free", func(p *Policy) *bool { return &p.FreeUnsupported }),
	}
}
