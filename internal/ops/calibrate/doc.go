// Package calibrate fits constants to measurements: the factors of deployments to rows and
// benchmark results ([Run]), operator forms and surfaces to kernels ([Kernels],
// [Surfaces]), and device power to measured energy ([Power]).
//
// In: a request that names the files. Out: the fitted constants and their errors; a
// response writes them in the form that is shipped. The fits themselves are in
// evidence/calibrate and cost. Start with calibrate.go; results.go reads folders of
// benchmark results.
package calibrate
