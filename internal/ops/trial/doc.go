// Package trial makes the candidates of a search deployments that can be simulated.
//
// In: a deployment without layouts, lengths of requests, and a stage. Out: the bench and
// the errors to expect that package search evaluates candidates with, and the response of
// a simulation for a candidate that is shown. Every search by simulation goes through
// here, so that the same question has the same figures everywhere. It does not know what
// is searched for. Start with trial.go.
package trial
