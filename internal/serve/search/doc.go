// Package search finds the best deployment of a mode: it enumerates layouts,
// evaluates each over its batch sizes, and says why a candidate was rejected.
//
// In: candidates of a Space and an Evaluator. Out: a Result per candidate, in the
// order of enumeration, whatever the number of workers. Start with search.go;
// space.go enumerates, formulas.go and simulated.go are the two evaluators (over
// steps.go and batch.go the one, over replica.Fleet the other). Units, in units.go, packing.go and bounds.go, is
// another search: of workers for prefill and decode packed onto a cluster, ordered by a
// bound and decided by whatever simulates them.
package search
