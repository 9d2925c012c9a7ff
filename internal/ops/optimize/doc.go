// Package optimize finds the layouts and batches of one model with the highest throughput
// within limits, on one or several devices: aggregated, for one phase alone, or with matched
// prefill and decode.
//
// In: a [Request], which [Check] completes. Out: a [Response] with all candidates, the
// feasible rows, and explanations and traces if they were asked for. Package search knows how
// candidates are evaluated. Start at [Run], then task.go;
// response.go and row.go define the JSON.
package optimize
