// Package trial turns the candidates of a search into deployments that can be simulated.
//
// In: a deployment without layouts, lengths of requests, and a stage. Out: the bench and
// the expected errors with which package search evaluates candidates, and the response of
// a simulation for a candidate in the answer. Every search by simulation goes through
// this package, so that the same deployment has the same figures everywhere. It does not know
// the goal of the search. Start with trial.go.
package trial
