// Package calibrate compares predictions with measurements: it reads rows of
// measured deployments, predicts each by simulation, sums up the errors, fits
// what can be fitted, and says how far a prediction may be off.
//
// In: a CSV of measured rows; tables of measured kernels. Out: predictions and
// error statistics; an overlay of fitted parameters and residuals, and the error
// bars that follow from it; constants of operator forms. Start with row.go and
// predict.go, then params.go and fit.go, then interval.go.
package calibrate
