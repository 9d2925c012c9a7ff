// Package accuracy predicts the rows of a file of measurements and finds suspicious
// ones.
//
// In: a [Request] (a file of rows, a calibration). Out: a [Response] with every row beside
// its prediction. It fits nothing: see calibrate. Start with [Run] and [Examine].
package accuracy
