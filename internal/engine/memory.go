package engine

import (
	"math"

	"plimsoll/internal/units"
)

// KVBytes is the memory of one device that the engine gives to the KV cache, 0
// when the rest does not fit. Memory is what the device reports as its size,
// weights are that device's share of them, activation is the most that a step
// within the token budget needs.
func (p *Profile) KVBytes(memory, weights, activation units.Bytes) units.Bytes {
	share := units.Bytes(p.MemoryShare)
	var b units.Bytes
	switch p.MemoryShareOf {
	case OfTotal:
		b = share*memory - weights - activation - p.Workspace
	case OfStatic:
		// The share is of what is free before the weights are loaded. When the rest
		// cannot hold the activations the engine would fail under load.
		room := memory - p.Workspace
		b = min(share*room, room-activation) - weights
	case OfFree:
		b = share * (memory - weights - activation - p.Workspace)
	}
	return max(b, 0)
}

// KVTokens is the number of tokens whose KV cache fits on one device, in whole
// blocks. PerToken is what a token takes on that device; without any the answer is
// as good as unbounded.
func (p *Profile) KVTokens(memory, weights, activation, perToken units.Bytes) int {
	const unbounded = math.MaxInt32
	b := p.KVBytes(memory, weights, activation)
	if b == 0 {
		return 0
	}
	block := perToken * units.Bytes(p.BlockTokens)
	blocks := math.Floor(float64(b / block)) // +Inf without a cache
	if tokens := blocks * float64(p.BlockTokens); tokens < unbounded {
		return int(tokens)
	}
	return unbounded / p.BlockTokens * p.BlockTokens
}

// RoundUp is the room that a sequence of so many tokens takes: whole blocks.
func (p *Profile) RoundUp(tokens int) int {
	return (tokens + p.BlockTokens - 1) / p.BlockTokens * p.BlockTokens
}
