// Package calibrate compares predictions with measurements: it reads rows of
// measured deployments, predicts each by simulation, and sums up the errors.
//
// In: a CSV of measured rows. Out: predictions and error statistics by engine,
// system, model, mode and concurrency. Start with row.go, then predict.go.
package calibrate
