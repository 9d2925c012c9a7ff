// Package formulas implements the documented steady-state formulas:
// from the time of single steps to the time to first token, the time per output
// token and the throughput of a deployment.
//
// In: an Engine that evaluates steps, and a Load. Out: an Outcome. It knows
// neither models nor devices, so every formula is tested against a fake engine.
// Start with serving.go; one file per mode: aggregated.go (with mixed.go for
// chunked prefill), disaggregated.go, ratio.go.
package formulas
