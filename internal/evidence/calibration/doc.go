// Package calibration applies what was fitted to measurements: multipliers of
// operator and host times, and the errors of predictions made with them.
//
// In: an overlay file, the shipped one by default. Out: the multipliers of a
// deployment and the 80 % intervals of a prediction about it. Package calibrate
// fits an overlay; this package only reads, writes and applies one.
//
// # Where to start reading
//
//   - overlay.go: all that a fit yields
//   - parameters.go: the multipliers, and which of them apply to a deployment ([Subject], subject.go)
//   - expect.go: the errors to expect of a prediction ([Case], case.go)
//
// Then memory.go for single measured deployments, residuals.go and error.go for errors and their intervals, percentile.go, drift.go and
// outside.go for what widens them, neighbours.go for what was measured nearby; read.go and write.go for the file.
//
// # What can be added
//
// A parameter of the fit is a line in parameters.go; its multiplier is applied where package replica prices the part that it scales.
package calibration
