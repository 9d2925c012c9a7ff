// Package step evaluates one forward pass: the operators of a graph with their
// times on a device, the sum, where the time goes, and the memory used.
//
// In: a graph and a coster, once, and a batch per evaluation. Out: a Result, or
// only its totals without allocating; from a Curve, which takes the sums of a
// batch and remembers prices, its time by part. This is the one place where model
// and device meet.
//
// # Where to start reading
//
//   - evaluator.go: one step, operator by operator; result.go is what it shows of it
//   - curve.go: the steps of a simulation, thousands of times the same operators; plane.go, page.go and slots.go are what it remembers
//   - streams.go: operators that run side by side
//
// parts.go names what a calibration scales, activity.go adds up work for energy, whole.go counts launches.
package step
