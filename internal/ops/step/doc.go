// Package step evaluates one forward pass of a deployment: time, memory and energy, by
// operator.
//
// In: a [Request] (deployment with one pool, the shape of a batch). Out: a [Response].
// It knows no load. Start with [Run].
package step
