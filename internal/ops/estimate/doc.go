// Package estimate predicts one deployment: an experiment whose workers are given.
//
// In: a [Request]. Out: a [Response] with the figures of a simulation, or of one batch that
// is served without a scheduler, and steps by operator if they were asked for. It searches
// nothing. Start at [Run].
package estimate
