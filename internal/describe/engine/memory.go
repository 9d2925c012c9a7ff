package engine

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Needs is the memory that one device needs besides the KV cache, and per token of it.
type Needs struct {
	// Memory is the device memory visible to a process.
	Memory units.Bytes
	// Weights are the device's share of them.
	Weights units.Bytes
	// Activation is the most that a step within the engine's limits needs.
	Activation units.Bytes
	// PerToken is the cache of a token on the device.
	PerToken units.Bytes
	// Kernels is the number of kernels per step.
	Kernels int
	// IndexKey is a token's key for the selection of sparse attention, Context the
	// longest sequence the model knows.
	IndexKey units.Bytes
	Context  int
	// State is the recurrent states of a sequence, Drafts how many draft tokens have states of their own while they are
	// checked.
	State  units.Bytes
	Drafts int
}

// Budget is how an engine divides the memory of one device.
type Budget struct {
	Memory units.InGiB `json:"device_gib"`
	// Share is of the memory, see ShareOf.
	Share      float64     `json:"share"`
	ShareOf    ShareOf     `json:"share_of"`
	Weights    units.InGiB `json:"weights_gib"`
	Activation units.InGiB `json:"activation_gib"`
	Workspace  units.InGiB `json:"workspace_gib"`
	KV         units.InGiB `json:"kv_gib"`               // 0 if the rest does not fit
	States     units.InGiB `json:"states_gib,omitempty"` // recurrent ones
	PerToken   units.InKiB `json:"kv_per_token_kib"`
	Tokens     int         `json:"-"` // capacity of the cache, in whole blocks
	Sequences  int         `json:"-"` // whose recurrent states fit; 0 is no bound
}

// InUse is the memory of a device that is in use with a share of its cache.
func (b *Budget) InUse(kv float64) units.InGiB {
	return b.Weights + b.Activation + units.InGiB(kv)*b.KV
}

// Budget divides the memory of a device.
func (p *Profile) Budget(n Needs) Budget {
	n.Activation += p.gathered(&n)
	workspace := p.Workspace + p.graphs(&n)
	share := units.Bytes(p.MemoryShare)
	var kv, states units.Bytes
	sequences := 0
	switch p.MemoryShareOf {
	case OfTotal:
		kv = share*n.Memory - n.Weights - n.Activation - workspace
	case OfStatic:
		// The share applies to the memory free before loading. When the rest
		// cannot hold the activations the engine would fail under load.
		room := n.Memory - workspace
		kv = min(share*room, room-n.Activation) - n.Weights
	case OfFree:
		kv = share * (n.Memory - n.Weights - n.Activation - workspace)
	}
	kv = max(kv, 0)
	if n.State > 0 {
		kv, states, sequences = p.states(kv, &n)
	}
	return Budget{
		Memory: units.InGiB(n.Memory), Share: p.MemoryShare, ShareOf: p.MemoryShareOf, Weights: units.InGiB(n.Weights), Activation: units.InGiB(n.Activation),
		Workspace: units.InGiB(workspace), KV: units.InGiB(kv), States: units.InGiB(states), PerToken: units.InKiB(n.PerToken), Tokens: p.tokens(kv, n.PerToken),
		Sequences: sequences,
	}
}

// states divides the memory for KV cache and recurrent states, and is how many sequences the states suffice for. SGLang
// (model_executor/model_runner_kv_cache_mixin.py, handle_max_mamba_cache) first takes what drafts need, then states for
// max_sequences where it is given and nothing is kept for a prefix cache, or else their share; a sequence has several
// of them where the prefix cache keeps some.
func (p *Profile) states(all units.Bytes, n *Needs) (kv, states units.Bytes, sequences int) {
	drafts := units.Bytes(0)
	if n.Drafts > 0 && p.Recurrent.Slots > 0 {
		drafts = min(all, n.State*units.Bytes(p.MaxSequences*(1+n.Drafts)))
	}
	all -= drafts
	kv = all / units.Bytes(1+p.StateRatio)
	slots := 1
	switch {
	case p.Recurrent.Slots > 0 && p.PrefixCaching:
		slots = p.Recurrent.Slots
	case p.Recurrent.Slots > 0 && p.SequencesGiven:
		kv = max(0, all-n.State*units.Bytes(p.MaxSequences))
	}
	states = all - kv
	if p.Recurrent.Slots > 0 {
		sequences = max(1, int(states/n.State)/slots)
	}
	return kv, states + drafts, sequences
}

// context is the longest sequence the engine has room for.
func (p *Profile) context(n *Needs) int { return cmp.Or(p.MaxContext, n.Context) }

// gathered is the room for keys of sparse attention.
func (p *Profile) gathered(n *Needs) units.Bytes {
	return units.Bytes(p.IndexRows*p.context(n)) * n.IndexKey
}

// graphs is the memory of captured graphs: a little for each kernel of each graph, and the
// selection scores of sparse attention for the largest batch.
func (p *Profile) graphs(n *Needs) units.Bytes {
	if p.Graph.Kernel == 0 {
		return 0
	}
	out := p.Graph.Kernel * units.Bytes(n.Kernels*p.Graph.sizes())
	if n.IndexKey > 0 {
		out += dtype.F32.Bytes(float64(p.Graph.MaxBatch * p.context(n)))
	}
	return out
}

// sizes is how many batch sizes are captured: 1, 2, 4, multiples of 8 up to 256
// and of 16 above.
func (g *Graph) sizes() int {
	const fine = 256
	return min(3, bits.Len(uint(g.MaxBatch))) + min(g.MaxBatch, fine)/8 + max(0, g.MaxBatch-fine)/16
}

// For is the maximum with which an engine captures a graph for a batch above those of its own: the batch itself where the sizes are listed,
// and the next of its own sizes where it has a list by a maximum.
func (g *Graph) For(batch int) int {
	const step = 16
	if g.EagerPrefill {
		return batch
	}
	return (batch + step - 1) / step * step
}

// GraphSizes are the batch sizes that engines capture up to a limit, which is one
// of them: 1, 2, 4, multiples of 8 up to 256 and of 16 above (the rule of vLLM's and
// SGLang's defaults).
func GraphSizes(limit int) []int {
	const fine = 256
	var out []int
	for n := 1; n < limit; {
		out = append(out, n)
		switch {
		case n < 8:
			n *= 2
		case n < fine:
			n += 8
		default:
			n += 16
		}
	}
	if limit > 0 {
		out = append(out, limit)
	}
	return out
}

// tokens is how many tokens fit, in whole blocks. Without a cache the answer is as
// good as unbounded.
func (p *Profile) tokens(kv, perToken units.Bytes) int {
	const unbounded = math.MaxInt32
	if kv == 0 {
		return 0
	}
	block := perToken * units.Bytes(p.BlockTokens)
	blocks := math.Floor(float64(kv / block)) // +Inf without a cache
	if tokens := blocks * float64(p.BlockTokens); tokens < unbounded {
		return int(tokens)
	}
	return unbounded / p.BlockTokens * p.BlockTokens
}
