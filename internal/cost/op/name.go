package op

// Name is what an operator is called in reports. The names are those Ascend's
// profiles use, so that a user can lay two tables side by side.
type Name uint8

// The names.
const (
	Unnamed Name = iota
	Embedding
	Index
	IndexSelect
	RMSNorm
	RMSNormQuant
	RMSNormStaticQuant
	AddRMSNorm
	LastAddRMSNorm // without the sum
	AddRMSNormQuant
	AddRMSNormStaticQuant
	MatMul
	QuantLinear
	QuantLinearInt4
	FP8Linear
	FP4Linear
	Rope
	CacheWrite
	GQAttention
	GQAttentionQuant
	Quantize
	DynamicQuantize
	SwiGLU
	SiLU
	Add
	Mul
	Sub
	Div
	Exp
	Sum
	Max
	TopK
	ToCopy
	Convert
	Pow
	Mean
	Rsqrt
	Neg
	Cat
	Pad
	GatingTopK
	InitRouting
	Unpermute
	GroupedMatMulSwiGLU
	GroupedMatMul
	GroupedMatMulQuantSwiGLU
	GroupedMatMulQuant
	GroupedMatMulFP4SwiGLUQuant
	GroupedMatMulFP4
	LatentCacheWrite
	LatentAttention
	LatentAttentionQuant
	Prologue
	PrologueQuant
	ReduceAll
	GatherAll
	ScatterReduce
	Exchange
	Send
	ArgMax
	DevicePut
	CopyOp
	Zeros
	ZerosLike
	MaskedFill
	SelectScatter
	Clone
	Sigmoid
	Clamp
	Softmax
	Gather
	Scatter
	Not
	Where
	Cos
	Sin
	ShiftIDs
	SparseLatentAttention
	SparseLatentAttentionQuant
	FusedIndexer
	IndexerScore
	IndexerCacheWrite
	DeltaRule
	LinearAttention
	DeltaConv
	DeltaConvUpdate
	DeltaGating
	DeltaSteps
	DeltaChunks
	GatedNorm
	SelectiveScan
	Conv1D
	LayerNorm
	GELU
	PatchEmbed
	VisionAttention
	ClampedSwiGLU
	RopeInPlace
	SliceScatter
	WindowWrite
	Compressor
	CompressedIndexer
	SharedAttention
	BatchMatMul
	StreamRMS
	StreamMix
	StreamPost
	StreamHead
	Log1p
	Greater
	Sqrt
	ScoreTopK
	HashTopK
	AddMatMul
	NativeLayerNorm
	Convolution
	Linspace
	ClampTo
	RSub
	Arange
	Repeat
	RepeatInterleave
	CumSum
	Stack
	Prod
	Eq
	FusedLinearAllReduce
	DispatchCombine
	DispatchCombineQuant
	nameCount
)

//nolint:gochecknoglobals // a constant table
var names = [nameCount]string{
	Embedding:                   "embedding",
	Index:                       "index",
	IndexSelect:                 "index_select",
	RMSNorm:                     "rms_norm",
	RMSNormQuant:                "rms_norm_dynamic_quant",
	RMSNormStaticQuant:          "rms_norm_quant",
	AddRMSNormStaticQuant:       "add_rms_norm_quant2",
	AddRMSNorm:                  "add_rms_norm2",
	LastAddRMSNorm:              "add_rms_norm",
	AddRMSNormQuant:             "add_rms_norm_dynamic_quant2",
	MatMul:                      "mm",
	QuantLinear:                 "static_quant_linear",
	QuantLinearInt4:             "static_quant_linear_int4",
	FP8Linear:                   "fp8_linear",
	FP4Linear:                   "mxfp4_linear",
	Rope:                        "apply_rope",
	CacheWrite:                  "reshape_and_cache",
	GQAttention:                 "attention",
	GQAttentionQuant:            "attention_quant",
	Quantize:                    "quantize",
	DynamicQuantize:             "dynamic_quantize",
	SwiGLU:                      "swiglu",
	SiLU:                        "silu",
	Add:                         "add",
	Mul:                         "mul",
	Sub:                         "sub",
	Div:                         "div",
	Exp:                         "exp",
	Sum:                         "sum",
	Max:                         "amax",
	TopK:                        "topk",
	ToCopy:                      "_to_copy",
	Convert:                     "convert_element_type",
	Pow:                         "pow",
	Mean:                        "mean",
	Rsqrt:                       "rsqrt",
	Neg:                         "neg",
	Cat:                         "cat",
	Pad:                         "constant_pad_nd",
	GatingTopK:                  "moe_gating_top_k_softmax",
	InitRouting:                 "init_routing_v2",
	Unpermute:                   "unpermute_tokens",
	GroupedMatMulSwiGLU:         "grouped_matmul_swiglu",
	GroupedMatMul:               "grouped_matmul",
	GroupedMatMulQuantSwiGLU:    "grouped_matmul_quant_swiglu",
	GroupedMatMulQuant:          "grouped_matmul_quant",
	GroupedMatMulFP4SwiGLUQuant: "grouped_matmul_mxfp4_swiglu_quant",
	GroupedMatMulFP4:            "grouped_matmul_mxfp4",
	LatentCacheWrite:            "concat_and_cache_mla",
	LatentAttention:             "multihead_latent_attention",
	LatentAttentionQuant:        "multihead_latent_attention_quant",
	Prologue:                    "mlapo",
	PrologueQuant:               "mlapo_quant",
	ReduceAll:                   "all_reduce",
	GatherAll:                   "all_gather",
	ScatterReduce:               "reduce_scatter",
	Exchange:                    "all_to_all",
	Send:                        "send_recv",
	ArgMax:                      "argmax",
	DevicePut:                   "device_put",
	CopyOp:                      "copy",
	Zeros:                       "zeros",
	ZerosLike:                   "zeros_like",
	MaskedFill:                  "masked_fill",
	SelectScatter:               "select_scatter",
	Clone:                       "clone",
	Sigmoid:                     "sigmoid",
	Clamp:                       "clamp_min",
	Softmax:                     "_softmax",
	Gather:                      "gather",
	Scatter:                     "scatter",
	Not:                         "bitwise_not",
	Where:                       "where",
	Cos:                         "cos",
	Sin:                         "sin",
	ShiftIDs:                    "shift_and_update_input_ids",
	SparseLatentAttention:       "mla_sparse_attention",
	SparseLatentAttentionQuant:  "mla_sparse_attention_quant",
	FusedIndexer:                "dsa_indexer",
	IndexerScore:                "lightning_indexer",
	IndexerCacheWrite:           "indexer_cache",
	DeltaRule:                   "gated_delta_rule",
	LinearAttention:             "linear_attention",
	DeltaConv:                   "linear_attn_causal_conv",
	DeltaConvUpdate:             "linear_attn_causal_conv_update",
	DeltaGating:                 "linear_attn_fused_gdn_gating",
	DeltaSteps:                  "linear_attn_recurrent_gated_delta_rule",
	DeltaChunks:                 "linear_attn_chunk_gated_delta_rule",
	GatedNorm:                   "linear_attn_gated_rmsnorm",
	SelectiveScan:               "selective_scan",
	Conv1D:                      "causal_conv1d",
	LayerNorm:                   "layer_norm",
	GELU:                        "gelu",
	PatchEmbed:                  "patch_embed",
	VisionAttention:             "vision_attention",
	ClampedSwiGLU:               "v4_clamped_swiglu",
	RopeInPlace:                 "apply_rope_inplace",
	SliceScatter:                "slice_scatter",
	WindowWrite:                 "scatter_nd_update_mla",
	Compressor:                  "compressor",
	CompressedIndexer:           "quant_lightning_indexer",
	SharedAttention:             "sparse_attn_sharedkv",
	BatchMatMul:                 "bmm",
	StreamRMS:                   "hc_pre_inv_rms",
	StreamMix:                   "hc_pre_sinkhorn",
	StreamPost:                  "hc_post",
	StreamHead:                  "hc_head",
	Log1p:                       "log1p",
	Greater:                     "gt",
	Sqrt:                        "sqrt",
	ScoreTopK:                   "moe_gating_top_k",
	HashTopK:                    "moe_gating_top_k_hash",
	AddMatMul:                   "addmm",
	NativeLayerNorm:             "native_layer_norm",
	Convolution:                 "convolution",
	Linspace:                    "linspace",
	ClampTo:                     "clamp",
	RSub:                        "rsub",
	Arange:                      "arange",
	Repeat:                      "repeat",
	RepeatInterleave:            "repeat_interleave",
	CumSum:                      "cumsum",
	Stack:                       "stack",
	Prod:                        "prod",
	Eq:                          "eq",
	FusedLinearAllReduce:        "linear_all_reduce",
	DispatchCombine:             "dispatch_ffn_combine",
	DispatchCombineQuant:        "dispatch_ffn_combine_quant",
}

// String returns the name.
func (n Name) String() string { return names[n] }

// Yields reports whether an operator yields one new tensor, which others can wait
// for: not several, and not one written in place.
func (n Name) Yields() bool {
	switch n { //nolint:exhaustive // all others yield one
	case Prologue, PrologueQuant, DynamicQuantize, Rope, GatingTopK, TopK,
		RMSNormQuant, RMSNormStaticQuant, AddRMSNorm, AddRMSNormQuant, AddRMSNormStaticQuant,
		CacheWrite, LatentCacheWrite, FusedIndexer:
		return false
	}
	return true
}
