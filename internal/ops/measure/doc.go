// Package measure proposes the few benchmark runs on a user's own machine that help a decision most, writes them as scripts, reads
// their results, and reports whether the decision changes.
//
// In: a [Request], which is that of a plan with a time budget. Out: a [Response] with the runs, [Files] that run them, and from the
// results an [Outcome]. The prediction errors and their correlations are in errors.go, the choice of runs in choose.go;
// start with measure.go, then outcome.go. kernels.go measures a device without an engine.
package measure
