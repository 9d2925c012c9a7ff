// Package measured compares predictions with measured deployments: it reads rows
// of a benchmark, predicts each by simulation, and sums up the errors.
//
// In: a CSV of measured rows and a calibration. Out: predictions, error figures,
// what choosing by them would have cost, and rows that cannot be what they say.
// Start with row.go and predict.go; doctor.go examines rows, regret.go judges
// choices.
package measured
