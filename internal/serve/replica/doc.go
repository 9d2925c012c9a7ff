// Package replica models one replica, a model on devices under an engine: it prices
// the engine's steps for a simulation and computes the size of
// the KV cache.
//
// In: a graph's Spec, a device, an engine profile and prices. Out: a Replica,
// which is a step model of package sim, and the Pool to put it in. Start with
// replica.go.
package replica
