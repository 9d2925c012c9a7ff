// Package measured compares predictions with measured deployments: it reads the
// rows of a benchmark, predicts each by simulation, and summarizes the errors.
//
// In: a CSV of measured rows and a calibration. Out: predictions, error figures,
// the regret of choosing layouts by prediction, and suspicious rows. Start with
// row.go and predict.go; doctor.go checks rows, regret.go judges choices.
package measured
