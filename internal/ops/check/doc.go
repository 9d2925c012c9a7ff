// Package check compares a benchmark result with the prediction for its deployment and
// finds the assumption that explains a difference.
//
// In: a [Request] (a result file, the deployment). Out: a [Response] with the figures of
// every run and the causes tested. It fits nothing: see calibrate. Start with
// check.go; causes.go lists the assumptions.
package check
