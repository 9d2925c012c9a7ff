// Package replica models one replica, a model on devices under an engine: it prices
// the engine's steps for a simulation and computes the size of
// the KV cache.
//
// In: a graph's Spec, a device, an engine profile and prices. Out: a Replica,
// which is a step model of package sim/server, and the Pool to put it in.
//
// # Where to start reading
//
//   - replica.go: a model on the devices of one replica
//   - pace.go: from the times of operators to the time of a step: multipliers, host work, launches
//   - fleet.go: a whole deployment, as package sim takes it
//
// ranks.go has data-parallel ranks that step together, static.go one batch without a scheduler, meter.go the work done, for energy.
package replica
