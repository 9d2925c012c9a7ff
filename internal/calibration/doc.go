// Package calibration is what measurements have taught the program: multipliers
// of prices and host times, and how far predictions made with them lie from
// measurements.
//
// In: an overlay file, the shipped one by default. Out: the multipliers of a
// deployment and the error bars of a prediction about it. Fitting an overlay is
// package calibrate's; this package only reads, writes and applies one. Start
// with overlay.go, then parameters.go and interval.go.
package calibration
