// Package experiment answers one experiment: a model on a system under an engine in one
// serving mode, with workers to try.
//
// In: an [Experiment] and [How] to run it. Out: a [Result] with [Option]s, which are whole
// deployments: those with the most throughput within limits or the fewest devices that carry a load ([Find]),
// the best of several experiments ([First]), or one that works without a search ([Unsearched]). Operations that
// compare experiments are built on it. Start with experiment.go, then run.go.
package experiment
