package tensorcast

// forms is the set of parts that have TensorCast's operators instead of the graph's. It
// is the rewriter of its policy.
type forms uint32

// The forms, each of which is a deviation; deviations.go says what it does.
const (
	wholeIndex forms = 1 << iota // of the rotary tables, and of all tokens to pick the last of each request
	slowPrologue
	cheapContext
	joinedRope
	tracedRope
	tracedGates
	quantizedGates
	fragmentedRouter
	paddedTokens
	// unevenTokens divides tokens over TP whenever EP differs from DP, and joins
	// them over DP whenever there is no EP, whatever the shards of the experts
	// need.
	unevenTokens
	// frontLoaded leaves ranks idle with few tokens, while rank 0 counts as full in
	// the fused dispatch-and-combine kernel.
	frontLoaded
	localNorms
	ownChoices     // instead of their union once
	scatteredReads // about 2 % of the bandwidth in a decode
	wideDelta      // its gates in a separate operator
	narrowingExperts
	pairwiseCombine
	tracedVision // positions, casts, attention image by image
	joinedLayers // other layers are compiled one by one
)

// has reports whether a form is in the set.
func (f forms) has(form forms) bool { return f&form != 0 }
