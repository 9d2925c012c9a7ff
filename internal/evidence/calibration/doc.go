// Package calibration applies what was fitted to measurements: multipliers of
// operator and host times, and the errors of predictions made with them.
//
// In: an overlay file, the shipped one by default. Out: the multipliers of a
// deployment and the 80 % intervals of a prediction about it. Package calibrate
// fits an overlay; this package only reads, writes and applies one. Start with
// overlay.go, then parameters.go and expect.go.
package calibration
