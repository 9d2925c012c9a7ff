// Package check compares the result of a benchmark with the prediction of its deployment
// and tests which assumption explains a difference.
//
// In: a [Request] (a result file, the deployment). Out: a [Response] with the figures of
// every run and the causes that were tested. It fits nothing: see calibrate. Start with
// check.go; causes.go lists the assumptions.
package check
