// Package configure compares experiments, as AIConfigurator does: the best deployments of
// each within its limits.
//
// In: a [Request]. Out: a [Response] with one result for every experiment. Package experiment searches
// one experiment. Start at [Run].
package configure
