package graph

// Policy says which peculiarities of Ascend's TensorCast a graph repeats. Each
// field is one artefact: true repeats it, false models what kernels really do.
type Policy struct {
	Name string

	// FullAttention counts query × key pairs without the causal half: a prefill
	// of n tokens costs n², not n(n+1)/2.
	FullAttention bool
	// FragileGrouping runs experts one by one, each with its own launch, when
	// their row counts are not multiples of the tensor-parallel size.
	FragileGrouping bool
	// WholeIndex lets a row selection read its whole source: the rotary tables,
	// and all tokens to pick the last of each request.
	WholeIndex bool
	// QuantizedActivations turns weight-only quantization into full: W8A16 costs
	// what W8A8 costs, and FP8 and INT8 use the INT8 peak.
	QuantizedActivations bool
	// HalfPrecision computes unquantized parts in float16 whatever the
	// checkpoint says.
	HalfPrecision bool
	// SlowPrologue charges sixteen launches for the fused projections in front
	// of latent attention.
	SlowPrologue bool
	// CheapContext expands only the new tokens' latents in a prefill, never the
	// cached context it attends to.
	CheapContext bool
	// FragmentedRouter traces the router and the combination of expert outputs
	// as a dozen elementwise operators instead of one fused kernel each.
	FragmentedRouter bool
	// CopiedShared keeps whole shared experts on every rank even where the ranks
	// see the same tokens and could share the work.
	CopiedShared bool
	// CopiedEmbedding keeps the whole word embedding on every rank unless told
	// otherwise; engines cut it over the vocabulary.
	CopiedEmbedding bool
	// IgnoredCopies cuts every expert over all devices when there is no expert
	// parallelism, whatever number of copies was asked for.
	IgnoredCopies bool
	// UnevenTokens divides tokens over TP whenever EP differs from DP, and joins
	// them over DP whenever there is no EP, whatever the slices of the experts
	// need: with both EP and MoE-TP some of the work is done by no one.
	UnevenTokens bool
	// FrontLoaded lets every rank deal its tokens to experts from the first one
	// on, so that with few tokens rank 0 is full while others idle.
	FrontLoaded bool
	// ExchangedPairs sends tokens to experts and back, and sums slices of experts,
	// pair by pair of token and expert, wide, even where all ranks hold the same
	// tokens. Engines send a token once to each rank, and let it add up what its own
	// experts make of it; where all have it, each rank adds up its experts, or slices,
	// shared ones included, and the parts are summed once.
	ExchangedPairs bool
	// FreeUnsupported drops arithmetic in formats the device has no unit for,
	// instead of running it on the next wider one.
	FreeUnsupported bool
}

// TensorCast repeats every artefact; the golden numbers hold us to it.
func TensorCast() Policy {
	return Policy{
		Name:          "tensorcast",
		FullAttention: true, FragileGrouping: true, WholeIndex: true,
		QuantizedActivations: true, HalfPrecision: true, SlowPrologue: true,
		CheapContext: true, FragmentedRouter: true, CopiedShared: true, CopiedEmbedding: true,
		IgnoredCopies: true, UnevenTokens: true, FrontLoaded: true, ExchangedPairs: true,
		FreeUnsupported: true,
	}
}

// Physical repeats none.
func Physical() Policy { return Policy{Name: "physical"} }

// Artefact is one entry of a policy, as documentation and as a switch.
type Artefact struct {
	Name  string
	Doc   string
	Field func(*Policy) *bool
}

// Artefacts lists the entries in the order they are documented.
func Artefacts() []Artefact {
	return []Artefact{
		{"full-attention", "prefill attention is counted without the causal half", func(p *Policy) *bool { return &p.FullAttention }},
		{"fragile-grouping", "experts run one by one unless their row counts divide by the tensor-parallel size", func(p *Policy) *bool { return &p.FragileGrouping }},
		{"whole-index", "selecting rows reads the whole table", func(p *Policy) *bool { return &p.WholeIndex }},
		{"quantized-activations", "weight-only quantization costs what full quantization costs", func(p *Policy) *bool { return &p.QuantizedActivations }},
		{"half-precision", "unquantized parts compute in float16 whatever the checkpoint says", func(p *Policy) *bool { return &p.HalfPrecision }},
		{"slow-prologue", "the fused projections of latent attention cost sixteen launches", func(p *Policy) *bool { return &p.SlowPrologue }},
		{"cheap-context", "a prefill never expands the latents of its cached context", func(p *Policy) *bool { return &p.CheapContext }},
		{"fragmented-router", "routing and combining are a dozen operators instead of two", func(p *Policy) *bool { return &p.FragmentedRouter }},
		{"copied-shared-experts", "shared experts are copied to every rank even without expert parallelism", func(p *Policy) *bool { return &p.CopiedShared }},
		{"copied-embedding", "the word embedding is copied to every rank", func(p *Policy) *bool { return &p.CopiedEmbedding }},
		{"ignored-copies", "without expert parallelism experts are cut over all devices whatever MoE-DP says", func(p *Policy) *bool { return &p.IgnoredCopies }},
		{"uneven-tokens", "tokens come to sliced experts by the sizes of EP and DP alone", func(p *Policy) *bool { return &p.UnevenTokens }},
		{"front-loaded-experts", "every rank deals tokens to experts from the first one on", func(p *Policy) *bool { return &p.FrontLoaded }},
		{"exchanged-pairs", "tokens travel to experts and back pair by pair, and wide, even where all ranks hold the same", func(p *Policy) *bool { return &p.ExchangedPairs }},
		{"free-unsupported", "arithmetic in formats the device lacks is free", func(p *Policy) *bool { return &p.FreeUnsupported }},
	}
}
