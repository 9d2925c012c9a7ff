// Package step evaluates one forward pass: the operators of a graph with their
// times on a device, the sum, where the time goes, and the memory used.
//
// In: a graph and a coster, once, and a batch per evaluation. Out: a Result, or
// only its totals without allocating; from a Curve, which takes the sums of a
// batch and remembers prices, its time by part. This is the one place where model
// and device meet. Start with evaluator.go.
package step
