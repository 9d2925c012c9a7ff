// Package search finds the best deployment of a mode: it enumerates layouts,
// evaluates each over its batch sizes, and says why a candidate was rejected.
//
// In: a Problem. Out: a Result per candidate, in the order of enumeration,
// whatever the number of workers. Start with problem.go; space.go enumerates,
// deployment.go evaluates steps, batch.go finds the best batch.
package search
