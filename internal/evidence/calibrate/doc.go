// Package calibrate fits the program to measurements: multipliers of operator and
// host times to measured deployments, and constants of operator forms to measured
// kernels.
//
// In: prepared rows of measured deployments (package measured); samples of measured
// kernels (package cost/table). Out: an overlay (package calibration) with fitted
// multipliers and the errors of held-out rows; constants of operator forms. Start
// with fit.go, then crossvalidate.go and learn.go; kernels.go fits kernels.
package calibrate
