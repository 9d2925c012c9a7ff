// Package recommend finds the fewest devices that carry a load within limits.
//
// In: a [Request] with experiments and a load. Out: a [Response] with one result for every
// experiment. Package experiment sizes one experiment. Start at [Run].
package recommend
