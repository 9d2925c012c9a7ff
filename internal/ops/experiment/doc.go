// Package experiment answers one experiment: a model on a system under an engine in one
// serving mode, with workers to try.
//
// In: an [Experiment] and [How] to run it. Out: a [Result] with [Option]s, which are whole
// deployments: the most throughput within limits ([Best]), the fewest devices that carry a
// load ([Fewest]), or one that works without a search ([Unsearched]). Operations that
// compare experiments are built on it. It does not know the other experiments.
// Start with experiment.go, then run.go.
package experiment
