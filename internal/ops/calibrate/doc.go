// Package calibrate fits predictions to a user's measurements: rows of measured deployments and benchmark results ([Run]).
//
// In: a request that names the files. Out: the fitted multipliers and their errors. The fit itself is in evidence/calibrate.
// Start with calibrate.go; results.go reads folders of benchmark results.
package calibrate
