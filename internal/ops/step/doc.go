// Package step evaluates one forward pass of a deployment: time, memory and energy, by
// operator.
//
// In: a [Request] (deployment with one pool, the shape of a batch). Out: a [Response].
// It knows nothing of requests that come and go. Start with [Run].
package step
