package engine

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Profile is one engine in one range of versions, with its defaults. settings.go
// has the meaning, unit and limits of each setting; the comments here say only
// what the code needs beyond that.
type Profile struct {
	Name     string // as users type it: "vllm"
	Title    string // "vLLM v1"
	Aliases  []string
	Versions Range
	// Released is the month in which the range began, "2026-01"; "" is unknown.
	Released string
	// Known is the newest release of the engine that was examined; "" is unknown.
	Known string

	Policy Policy
	// ChunkedPrefill engines split a prompt to fit the rest of the token budget; others
	// run a prompt whole or let it wait.
	ChunkedPrefill bool
	// TokenBudget counts prompts and running sequences together; under PrefillFirst
	// prompts alone.
	TokenBudget  int
	MaxSequences int // on one rank
	// SequencesGiven means that MaxSequences was set.
	SequencesGiven bool
	// ExposedGiven means that Exposed was set, CachingGiven that PrefixCaching was.
	ExposedGiven, CachingGiven bool

	MemoryShare   float64
	MemoryShareOf ShareOf
	// Workspace is the memory beside weights, activations and KV cache that the memory
	// rule counts. On adds the next two.
	Workspace              units.Bytes
	Communication, PerPeer units.Bytes
	LogitsCopies           float64 // 0 where the profiling run samples few sequences
	MaxContext             int     // 0: the model's maximum
	IndexRows              int
	// WindowShare is 0 where only the window is kept, 1 where layers with a window
	// keep everything.
	WindowShare float64
	StateRatio  float64 // 0 where states are not set aside
	Recurrent   Recurrent
	BlockTokens int // a sequence takes whole blocks
	KVFormat    dtype.Format
	StateFormat dtype.Format // of recurrent states
	// Reserve 0 takes blocks as needed and preempts, 1 reserves to completion.
	Reserve float64
	// PrefillAhead is for PrefillFirst only: prompts are computed although MaxSequences generate.
	PrefillAhead  bool
	PrefixCaching bool
	EvenExperts   bool

	ReceiveInterval int
	HeldTokens      int
	Graph           Graph
	BatchWait       BatchWait
	AttentionDP     AttentionDP
	MTP             MTP

	// Tiers are defaults that depend on the device or the model; see On.
	Tiers []Tier
	// ShareRule, if set, derives MemoryShare; see On.
	ShareRule *ShareRule
	// LatentRule, if set, makes latent attention slower; see LatentKernels.
	LatentRule *LatentRule
	// SparseRule, if set, is how kernels of sparse latent attention work; see SparseKernels.
	SparseRule *SparseRule
	// ReduceRule, if set, is how all-reduce sends large tensors in few bits; see Reduces.
	ReduceRule *ReduceRule
	// SharedFusion are the device generations on which the shared expert is fused with the routed ones; see FusesShared.
	SharedFusion []string
	// SharedAttention are the device generations on which one kernel computes the attention of prompts and decodes; see
	// SharesAttention.
	SharedAttention []string
	// UnsplitAttention are the device generations on which one unit of the device reads all keys of a request and KV head; see
	// UnsplitHeads.
	UnsplitAttention []string
	// WidenedExperts are the device generations on which kernels of gpt-oss's experts widen the weights of a tile before they multiply;
	// see WidensExperts.
	WidenedExperts []string
	// Slow are formats with slow kernels; see Slower.
	Slow []SlowKernels
	// ProductTiles are the tiles of dense products; see TilesOf.
	ProductTiles Tiles

	Exposed float64 // 1 where nothing overlaps
	// OverlapOff says that a launch must turn the overlapped scheduler off, or the engine does not start. On sets it.
	OverlapOff bool
	Alone      float64 // share of Exposed that an engine with one device waits for
	// LaunchAhead says that kernels are launched one by one, or in pieces, while a single device is
	// busy with the step before: it waits for launches only that outlast its work.
	LaunchAhead bool
	// Hosts are the host times by device generation; Generic is for unlisted ones. Use
	// HostFor.
	Hosts map[string]*Terms

	// Options are the engine's own names of the settings, by their key, and of other
	// launch options (launch.go). Renamed are those that differ between
	// the releases of a range, newest first. Use Option.
	Options map[string]string
	Renamed map[string][]Named
	// Source is the source of the numbers.
	Source string
}

// Server is the engine whose server runs, and whose command line it reads; see the function.
func (p *Profile) Server() string { return Server(p.Name) }

// Generic is the key in Hosts of generations that are not listed.
const Generic = "default"

// Policy is the order in which a step is filled.
type Policy string

// The policies.
const (
	// DecodeFirst takes every running sequence, then fills the token budget with
	// chunks of prompts.
	DecodeFirst Policy = "decode-first"
	// PrefillFirst runs waiting prompts alone; decoding pauses meanwhile.
	PrefillFirst Policy = "prefill-first"
	// InFlight mixes running sequences with whole prompts.
	InFlight Policy = "in-flight"
)

// ShareOf is what MemoryShare is a share of.
type ShareOf string

// The rules in use.
const (
	// OfTotal limits all that the engine allocates: share × memory − weights −
	// activations − workspace is for the KV cache.
	OfTotal ShareOf = "total"
	// OfStatic limits weights and KV cache; activations and graphs use the rest.
	OfStatic ShareOf = "static"
	// OfFree is a share of what weights, activations and workspace leave free.
	OfFree ShareOf = "free"
)

// Graph selects the steps that replay captured device graphs; others are launched
// kernel by kernel.
type Graph struct {
	// MaxBatch is the largest decode batch, and without EagerPrefill the most tokens of a
	// step with prompts, which replays graphs in pieces.
	MaxBatch     int
	EagerPrefill bool
	// PerSequence bounds MaxBatch per sequence of MaxSequences; 0 is no bound.
	PerSequence int
	// Padded says that a step has as many rows as its graph, and that those of no request choose experts too.
	Padded bool
	// Given means that MaxBatch was set and is not derived.
	Given  bool
	Kernel units.Bytes // 0 where the rule for the memory does not count graphs
}

// BatchWait holds new prompts back to gather more of them.
type BatchWait struct {
	Steps int
	Ratio float64
}

// Recurrent is how an engine keeps the states of recurrent layers for its prefix cache.
type Recurrent struct {
	// Slots are the states of a running sequence, those that the cache keeps and writes included; 0 does not bound the
	// sequences by their states.
	Slots      int
	Overlapped bool     // host work overlaps with the GPU nevertheless
	Drafts     bool     // there is a prefix cache while drafting too
	Uncached   []string // families without a prefix cache
	// Unbuffered are families without the buffers among the Slots that let host work overlap.
	Unbuffered []string
	// RefusedOn are vendors on whose devices releases before RefusedUntil choose the buffers for other families and then do not start with
	// them.
	RefusedOn    []string
	RefusedUntil string
	Given        bool // slots or overlap were set and are not derived
	// Cuts says that prompts are cut where states are kept, which is not predicted; see CutsFor.
	Cuts bool
	// Releases before AskedUntil keep a prefix cache of a model with recurrent layers only if asked to, those before NoneUntil
	// not at all; AskedFor and None say it of a release.
	AskedUntil, NoneUntil string
	AskedFor, None        bool
}

// AttentionDP is how data-parallel attention changes the schedule.
type AttentionDP struct {
	SplitsBudget bool
	WaitSteps    int
	// Fill 0 does not wait for more prompts than one on each rank.
	Fill       float64
	StallSteps int
}

// MTP is how the engine drafts tokens.
type MTP struct {
	Tokens int // 0 is off
	// Sequences is the default of MaxSequences of all data-parallel ranks together while drafting; 0 is MaxSequences.
	Sequences  int
	Overlapped bool
}
