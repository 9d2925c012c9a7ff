package engine

import (
	"plimsoll/internal/dtype"
	"plimsoll/internal/units"
)

// Profile is one engine in one range of versions, with its defaults.
type Profile struct {
	Name     string // what users type: "vllm"
	Title    string // "vLLM v1"
	Aliases  []string
	Versions Range
	// Released is the month in which the range began, "2026-01"; "" is unknown.
	Released string

	// Policy says who goes first when prompts and running sequences compete.
	Policy Policy
	// ChunkedPrefill engines cut a prompt to what is left of the token budget; the
	// others run a prompt whole or let it wait.
	ChunkedPrefill bool
	// TokenBudget is the most new tokens of one step, prompts and running
	// sequences together; under PrefillFirst the most prompt tokens.
	TokenBudget int
	// MaxSequences is the most sequences that run together on one rank.
	MaxSequences int

	// MemoryShare and MemoryShareOf are the engine's rule for the memory it takes;
	// see KVBytes.
	MemoryShare   float64
	MemoryShareOf ShareOf
	// Workspace is what neither weights nor activations nor KV cache use: the
	// context, libraries and captured graphs, as far as the rule counts them.
	Workspace units.Bytes
	// Communication is the workspace that exchanging with other devices adds, and
	// PerPeer what each of the devices adds to that.
	Communication, PerPeer units.Bytes
	// LogitsCopies is how many float32 copies of the logits of MaxSequences are
	// alive at the peak of the trial step that measures activations; 0 where the
	// trial samples few sequences.
	LogitsCopies float64
	// MaxContext is the longest sequence, for which some workspaces have room; 0 is
	// the longest that the model knows.
	MaxContext int
	// IndexRows is for how many sequences of MaxContext the engine has room to
	// gather the keys by which sparse attention selects.
	IndexRows int
	// WindowShare is the part of a sliding-window layer's cache that a token
	// takes besides the window: 0 where only the window is kept, 1 where such
	// layers keep everything.
	WindowShare float64
	// StateRatio is the memory kept for the states of recurrent layers, as a share
	// of the KV cache beside it; 0 where states are not set aside.
	StateRatio float64
	// BlockTokens is the size of a KV block; a sequence takes whole blocks.
	BlockTokens int
	// KVFormat is the format of the KV cache; None is what the checkpoint asks for.
	KVFormat dtype.Format
	// Reserve is the share of a request's remaining output for which room must be
	// free when it is admitted: 0 takes blocks as needed and preempts, 1 reserves
	// to completion.
	Reserve float64
	// PrefixCaching engines keep finished prompts for requests that begin the same.
	PrefixCaching bool

	Graph     Graph
	BatchWait BatchWait
	// ReceiveInterval is how many decode steps pass between looks at new requests.
	ReceiveInterval int
	// HeldTokens is how many tokens a request whose prompt was computed elsewhere
	// generates before the client sees the first.
	HeldTokens  int
	AttentionDP AttentionDP
	MTP         MTP

	// Tiers are defaults that depend on the device; see On.
	Tiers []Tier
	// ShareRule, where the engine has one, derives MemoryShare; see On.
	ShareRule *ShareRule

	// Exposed is the share of the host's work in a step that the GPU waits for: 1
	// where nothing overlaps.
	Exposed float64
	// Hosts are the host's times by device generation; Generic is for those that
	// are not listed. Use HostFor.
	Hosts map[string]Terms

	// Options are the engine's own names of these settings, by their key.
	Options map[string]string
	// Source says where the numbers come from.
	Source string
}

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
	// OfTotal bounds all that the engine takes: share × memory − weights −
	// activations − workspace is for the KV cache.
	OfTotal ShareOf = "total"
	// OfStatic bounds weights and KV cache alone; activations and graphs live in
	// the rest.
	OfStatic ShareOf = "static"
	// OfFree is taken of what weights, activations and workspace leave.
	OfFree ShareOf = "free"
)

// Graph says which steps replay captured device graphs; others are launched
// kernel by kernel.
type Graph struct {
	MaxBatch     int // the largest decode batch captured
	EagerPrefill bool
	// Kernel is what a captured kernel keeps for every batch size that is
	// captured; 0 where the rule for the memory does not count graphs.
	Kernel units.Bytes
}

// BatchWait holds new prompts back to gather more of them: for up to Steps steps
// while they fill less than Ratio of the token budget.
type BatchWait struct {
	Steps int
	Ratio float64
}

// AttentionDP is how data-parallel attention changes the schedule.
type AttentionDP struct {
	// SplitsBudget engines divide the token budget by the number of ranks.
	SplitsBudget bool
}

// MTP is how the engine drafts tokens.
type MTP struct {
	Tokens int // drafted for each step by default; 0 is off
	// Overlapped engines hide host work while drafting as they do without.
	Overlapped bool
}
