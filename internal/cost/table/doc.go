// Package table costs operators by measured kernels: tables of a directory that
// package perfdata reads, where they cover an operator, and another coster where
// they do not.
//
// A table is kept as the logarithm of measured over estimated time on its grid,
// and interpolated in the logarithms of the sizes. So a measured point is
// reproduced, what lies between two has the estimate's shape at the measured
// efficiency, and a size a little beyond the grid (reach) keeps the efficiency
// of its edge; farther out the other coster answers. No estimate is below the
// device's speed of light; rows that are below it were measured wrongly, and are
// skipped and reported.
//
// Surfaces are the same ratios, smoothed and thinned (fit.go), in a file inside the
// program (surfaces.go). They are read like tables, the curves of a place
// combined into one (combine.go); what they price is not counted as measured.
//
// In: a perfdata.System or a Fitted, a device profile and the other coster. Out: cost
// estimates, with the part from tables in Estimate.Measured.
//
// # Where to start reading
//
//   - model.go: an operator's time by tables, or by the other coster
//   - tables.go: the measured kernels of one device
//   - families.go: what a row of each table means
//
// Then load.go, readings.go and experts.go from rows to curves, light.go for rows that no device can have, grid.go for interpolation;
// fit.go, samples.go, combine.go, surfaces.go and fitted.go for surfaces. A new kind of measurement is a family in families.go with its
// reading in readings.go.
package table
