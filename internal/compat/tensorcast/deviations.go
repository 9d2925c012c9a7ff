package tensorcast

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
)

// choice is a deviation that is a choice of the graph.
func choice(name, doc string, of func(c *graph.Choices) *bool) Deviation {
	return Deviation{Name: name, Doc: doc, choice: of}
}

// form is a deviation of operators, which this package emits.
func form(name, doc string, f forms) Deviation { return Deviation{Name: name, Doc: doc, form: f} }

// Deviations lists what TensorCast does differently.
func Deviations() []Deviation {
	return []Deviation{
		choice("full-attention", "prefill attention computes all query-key pairs, not only the causal half", func(c *graph.Choices) *bool { return &c.FullAttention }),
		choice("verify-as-prefill", "queries of six or more tokens (speculative decoding) use prefill kernels", func(c *graph.Choices) *bool { return &c.VerifyAsPrefill }),
		choice("whole-cache", "sliding-window layers keep every token in the KV cache", func(c *graph.Choices) *bool { return &c.WholeCache }),
		{Name: "large-pages", Doc: "the KV cache is allocated in blocks of 128 tokens", page: 128},
		choice("fragile-grouping", "experts run one by one unless TP divides their row counts", func(c *graph.Choices) *bool { return &c.FragileGrouping }),
		form("whole-index", "an index lookup reads the whole table", wholeIndex),
		choice("quantized-activations", "weight-only quantization costs as much as full quantization; FP8 uses the INT8 peak", func(c *graph.Choices) *bool { return &c.QuantizedActivations }),
		choice("free-bias", "the bias of an unquantized product is free", func(c *graph.Choices) *bool { return &c.FreeBias }),
		choice("half-precision", "unquantized parts compute in float16 regardless of the checkpoint", func(c *graph.Choices) *bool { return &c.HalfPrecision }),
		choice("unquantized-head", "the output head is never quantized", func(c *graph.Choices) *bool { return &c.UnquantizedHead }),
		choice("wide-index-keys", "the index keys of sparse attention are cached in the format of the KV cache", func(c *graph.Choices) *bool { return &c.WideIndexKeys }),
		choice("vision-on-demand", "the vision tower is loaded only if a batch has images", func(c *graph.Choices) *bool { return &c.VisionOnDemand }),
		form("slow-prologue", "the fused projections before latent attention cost sixteen launches", slowPrologue),
		choice("held-copies", "absorbed projections and float32 router weights are stored in addition to the weights", func(c *graph.Choices) *bool { return &c.HeldCopies }),
		form("cheap-context", "prefill does not expand the latent KV cache of its context", cheapContext),
		form("joined-rope", "rotated and unrotated parts of queries and keys are joined by a separate operator", joinedRope),
		form("traced-rope", "rotating a part of each head takes ten operators and two copies", tracedRope),
		choice("whole-rope", "whole heads are rotated if the config gives the rotated part in elements", func(c *graph.Choices) *bool { return &c.WholeRope }),
		form("traced-gates", "the gates of attention and of shared experts take separate sigmoids and copies", tracedGates),
		form("quantized-gates", "the gate of shared experts is quantized like other linear layers", quantizedGates),
		form("fragmented-router", "routing and combining take a dozen operators instead of two", fragmentedRouter),
		form("padded-tokens", "padding tokens to equal shares of the ranks is a separate operator", paddedTokens),
		choice("copied-shared-experts", "shared experts are replicated on every rank even without expert parallelism", func(c *graph.Choices) *bool { return &c.CopiedShared }),
		choice("copied-embedding", "the word embedding is replicated on every rank", func(c *graph.Choices) *bool { return &c.CopiedEmbedding }),
		choice("unshared-weights", "a tied output head is stored twice; MTP modules have their own embedding and head", func(c *graph.Choices) *bool { return &c.UnsharedWeights }),
		choice("ignored-copies", "without expert parallelism experts are sharded over all devices and MoE-DP is ignored", func(c *graph.Choices) *bool { return &c.IgnoredCopies }),
		form("uneven-tokens", "tokens are distributed to sharded experts by EP and DP alone; with EP and MoE-TP some work is missing", unevenTokens),
		form("front-loaded-experts", "every rank assigns its tokens to experts starting with the first expert", frontLoaded),
		choice("exchanged-pairs", "every token-expert pair is sent separately and unquantized, even if all ranks hold the token", func(c *graph.Choices) *bool { return &c.ExchangedPairs }),
		choice("untiled-experts", "MXFP4 experts are stored without padding to kernel tiles", func(c *graph.Choices) *bool { return &c.UntiledExperts }),
		choice("freed-twice", "activation memory is too small by tensors that are freed twice", func(c *graph.Choices) *bool { return &c.FreedTwice }),
		choice("epsilon-bound-norms", "a norm and the quantization after it are fused only if the norm's epsilon is 1e-6", func(c *graph.Choices) *bool { return &c.EpsilonBound }),
		choice("traced-norms", "norms that scale by one plus their weight take eight operators", func(c *graph.Choices) *bool { return &c.TracedNorms }),
		form("local-norms", "norms over all heads of queries or keys are over those of each rank, with no sum over TP", localNorms),
		form("own-choices", "every query of a prefill with sparse attention reads its selected entries of the KV cache separately", ownChoices),
		form("scattered-reads", "sparse attention reads the KV cache at a small share of the bandwidth", scatteredReads),
		choice("fused-indexer", "the indexer of sparse attention is one unquantized operator", func(c *graph.Choices) *bool { return &c.FusedIndexer }),
		form("wide-delta-rule", "the gated delta rule computes in float32 with scratch memory, on all tokens of a prefill as one sequence", wideDelta),
		choice("traced-context", "context parallelism applies to pure decode steps only, and merges outputs by small operators", func(c *graph.Choices) *bool { return &c.TracedContext }),
		choice("opaque-linear-attention", "without fusion Qwen3-Next's linear attention is one operator without weights, not sharded over TP", func(c *graph.Choices) *bool { return &c.OpaqueDelta }),
		form("narrowing-experts", "the first product of MXFP4 experts also quantizes its output", narrowingExperts),
		form("pairwise-combine", "the fused dispatch-and-combine kernel computes the token-expert pairs a rank sends and returns them one by one", pairwiseCombine),
		form("traced-vision", "the vision tower of Qwen3-VL is not fused, its rotation is in float32", tracedVision),
		choice("lost-order", "with two streams, operators that follow one with several results start before it ends", func(c *graph.Choices) *bool { return &c.LostOrder }),
		choice("traced-compression", "DeepSeek-V4's attention is not fused, its pooling is in float32", func(c *graph.Choices) *bool { return &c.TracedCompression }),
		choice("traced-streams", "the mixing of parallel residual streams is not fused", func(c *graph.Choices) *bool { return &c.TracedStreams }),
		choice("free-states", "the states of Qwen's linear attention use no memory", func(c *graph.Choices) *bool { return &c.FreeStates }),
		choice("cached-linear-layers", "Qwen3-Next's linear-attention layers have a KV cache like its full-attention layers", func(c *graph.Choices) *bool { return &c.CachedLinear }),
		choice("uncut-prediction", "queries, keys and values of MTP modules are replicated on every rank", func(c *graph.Choices) *bool { return &c.UncutPrediction }),
		choice("whole-drafts", "every draft token has an MTP module of its own, which computes all tokens of the step", func(c *graph.Choices) *bool { return &c.WholeDrafts }),
		form("joined-layers", "layers that share index selections are compiled together, so that a residual sum and the next layer's norm are one operator", joinedLayers),
		choice("added-images", "the images of a decode are added to the KV cache of its context", func(c *graph.Choices) *bool { return &c.AddedImages }),
		choice("free-unsupported", "arithmetic in number formats the device lacks is free", func(c *graph.Choices) *bool { return &c.FreeUnsupported }),
	}
}
