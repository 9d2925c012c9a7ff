package graph

import "github.com/plimsoll-project/plimsoll/internal/describe/model"

// Policy says how the parts of a model are counted. [Physical] counts what kernels and
// engines do. The policy of another cost model makes other choices, and has a Rewriter
// for the parts whose operators differ. Policies are equal if they count the same.
type Policy struct {
	Name string
	Choices
	Rewriter Rewriter // nil leaves every part as it is
}

// Choices are the assumptions of a policy about sizes, formats, sharding and memory. The
// zero value, but for PageTokens, is what kernels and engines do.
type Choices struct {
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
	// HeldCopies stores the absorbed projections of latent attention and float32
	// copies of router weights in addition to the weights they are made of.
	HeldCopies bool
	// WholeRope rotates whole heads if a config gives the rotated part as a number of
	// elements.
	WholeRope bool
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
	// FusedIndexer makes the indexer of sparse attention one operator.
	FusedIndexer bool
	// TracedContext applies context parallelism to pure decode steps only, exchanges
	// outputs after their up-projection, and merges them by small operators.
	TracedContext bool
	// OpaqueDelta makes Qwen3-Next's linear attention one operator that reads no
	// weights and is not sharded over TP, if operators are not fused.
	OpaqueDelta bool
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
	// WholeDrafts has a module of its own for each predicted token, and computes all tokens of the step in each; engines
	// compute only the first draft so.
	WholeDrafts bool
	// AddedImages caches the images of a decode beside the context it is given.
	AddedImages bool
	// FreeUnsupported drops arithmetic in formats the device has no unit for,
	// instead of running it on the next wider one.
	FreeUnsupported bool
}

// Physical makes no choice but the size of pages: vLLM's default (--block-size 16);
// engines differ, but the entry of a page is 8 bytes, its cache tens of kilobytes.
func Physical() Policy { return Policy{Name: "physical", Choices: Choices{PageTokens: 16}} }

// LoadsVision reports whether a model's vision tower is loaded for batches with
// or without images.
func (p *Policy) LoadsVision(m *model.Model, images bool) bool {
	return m.Vision != nil && (images || !p.VisionOnDemand)
}
