// Package searchrun runs a search: candidates become deployments, an evaluator gives them their figures, and the best have rows.
//
// In: what the deployments have in common (a [Subject]: a deployment without layouts, lengths of requests, a stage), the limits, a space and
// an evaluator: formulas, simulation, or the devices that a load needs. Out: results, rows and what comes nearest to the limits; the
// errors to expect, and the simulation of a candidate that is shown. Every search goes through this package, so that
// the same deployment has the same figures everywhere. It does not know requests and responses of operations. Start with run.go, then
// subject.go.
package searchrun
