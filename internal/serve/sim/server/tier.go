package server

import (
	"errors"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Tier is memory of the host that keeps what the prefix cache of a replica evicts. What a prompt
// finds there is not computed but loaded, layer by layer beside the computation: a step lasts at
// least as long as its loads (SGLang's HiCache and LMCache load so; vLLM's offloading connector loads
// before a request is scheduled, beside the steps of others). Eviction to the host costs no time: it is
// copied in the other direction of the link.
type Tier struct {
	Blocks        int // KV blocks that fit
	BytesPerToken units.Bytes
	Bandwidth     units.BytesPerSecond // 0 is no tier
}

// room is the number of blocks of a tier that can be loaded from.
func (t *Tier) room() int {
	if t.Bandwidth <= 0 {
		return 0
	}
	return t.Blocks
}

// loads is how long it takes to load so many tokens.
func (t *Tier) loads(tokens int) units.Seconds {
	if tokens == 0 {
		return 0
	}
	return units.Seconds(float64(t.BytesPerToken) * float64(tokens) / float64(t.Bandwidth))
}

// Check reports what is wrong with a tier.
func (t *Tier) Check() error {
	if t.Blocks < 0 || t.Blocks > math.MaxInt32 || t.BytesPerToken < 0 || !(t.Bandwidth >= 0) || math.IsInf(float64(t.Bandwidth), 0) {
		return errors.New("host tier: blocks, bytes and bandwidth must not be negative, and the bandwidth must be finite")
	}
	return nil
}

// host is what a tier has: entries of the prefix cache, the ones evicted
// longest ago first. Of a content they follow those that are on the device.
type host struct {
	lruRuns

	room    int // entries
	entries []int32
}

// count is how many entries of a content are here.
func (h *host) count(content uint32) int32 {
	if int(content) >= len(h.entries) {
		return 0
	}
	return h.entries[content]
}

// put adds entries of a content.
func (h *host) put(content, from, to int32) {
	for int(content) >= len(h.entries) {
		h.entries = append(h.entries, 0)
	}
	h.entries[content] += to - from
	h.add(content, from, to)
}

// drop takes out the oldest of more entries than there is room for, and returns their content.
func (h *host) drop() int32 {
	content, from, to := h.pop(h.n - h.room)
	h.entries[content] -= to - from
	return content
}

// take takes out the entries of a content before some place.
func (h *host) take(content, before int32) {
	if h.has(content) {
		h.entries[content] -= h.lruRuns.take(content, before)
	}
}
