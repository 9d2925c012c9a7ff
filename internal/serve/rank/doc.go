// Package rank orders what a search found: the best of each layout by
// throughput, pairs of prefill and decode, and what comes nearest when nothing
// meets the limits.
//
// In: search results. Out: ordered rows. Orders are total, so that equal inputs
// give equal bytes. Start with rank.go.
package rank
