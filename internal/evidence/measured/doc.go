// Package measured compares predictions with measured deployments: it reads the
// rows of a benchmark, predicts each by simulation, and summarizes the errors.
//
// In: a CSV of measured rows and a calibration. Out: predictions, error figures,
// the regret of choosing layouts by prediction, and suspicious rows.
//
// # Where to start reading
//
//   - row.go: a measured deployment
//   - predict.go: what the model says of it
//   - stats.go: errors over many rows
//
// Rows come from columns.go (what a file may have), traffic.go (how requests came), deployment.go, recipe.go and settings.go (unstated values), result.go (a run that is known whole) and recorded.go (rows that are embedded); write.go writes them. doctor.go suspects rows,
// regret.go judges choices, metered.go has measured energy, formulas.go the other evaluator.
//
// # What can be added
//
// A column of measurements: a line in columns.go, a field of [Row], and its text in write.go; files with further columns stay readable.
package measured
