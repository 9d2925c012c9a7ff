package tensorcast

// forms is the set of parts that have TensorCast's operators instead of the graph's. It
// is the rewriter of its policy.
type forms uint32

// The forms.
const (
	// wholeIndex lets a row selection read its whole source: the rotary tables,
	// and all tokens to pick the last of each request.
	wholeIndex forms = 1 << iota
	// slowPrologue charges sixteen launches for the fused projections in front
	// of latent attention.
	slowPrologue
	// cheapContext expands only the new tokens' latents in a prefill, never the
	// cached context it attends to.
	cheapContext
	// joinedRope joins the rotated part of queries and keys with the rest by a
	// separate operator, where only a part is rotated.
	joinedRope
	// tracedRope computes the rotation of a part of each head by elementwise
	// operators, as the source writes it, and copies the result into place.
	tracedRope
	// tracedGates computes gates by elementwise operators, as the source writes them.
	tracedGates
	// quantizedGates quantizes the gate of shared experts like other linear layers.
	quantizedGates
	// fragmentedRouter traces the router and the combination of expert outputs
	// as a dozen elementwise operators instead of one fused kernel each.
	fragmentedRouter
	// paddedTokens pads tokens to equal shares of the ranks by a separate operator.
	paddedTokens
	// unevenTokens divides tokens over TP whenever EP differs from DP, and joins
	// them over DP whenever there is no EP, whatever the shards of the experts
	// need: with both EP and MoE-TP some of the work is missing.
	unevenTokens
	// frontLoaded lets every rank assign its tokens to experts starting with the
	// first, so that with few tokens rank 0 is full while others idle: it counts as
	// full in the fused dispatch-and-combine kernel.
	frontLoaded
	// localNorms takes norms over all heads of queries or keys over those of each rank.
	localNorms
	// ownChoices reads the selected entries of the KV cache for every query of a
	// prefill with sparse attention, instead of their union once.
	ownChoices
	// scatteredReads divides the bytes that sparse attention and its indexer read from
	// the cache by the share of the bandwidth that TensorCast assumes for scattered
	// reads: about 2 % in a decode.
	scatteredReads
	// wideDelta computes the gated delta rule of Qwen's linear attention in float32,
	// with scratch memory, over all tokens of a step as one sequence unless they are
	// decoded, and computes its gates in a separate operator.
	wideDelta
	// narrowingExperts quantizes the output of the first product of MXFP4 experts in
	// the same operator.
	narrowingExperts
	// pairwiseCombine lets the fused dispatch-and-combine kernel compute the pairs of
	// token and expert that a rank sends, and return them pair by pair.
	pairwiseCombine
	// tracedVision uses the operators of Qwen3-VL's vision tower as the source writes
	// them: positions, rotations in float32, casts, attention image by image.
	tracedVision
	// joinedLayers fuses the residual sum at the end of a layer with the norm of the
	// next where layers share index selections. Other layers are compiled one by one.
	joinedLayers
)

// has reports whether a form is in the set.
func (f forms) has(form forms) bool { return f&form != 0 }
