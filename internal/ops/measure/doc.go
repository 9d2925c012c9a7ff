// Package measure proposes the few runs on a user's own machine that would help a decision most, writes them as scripts, reads what
// came of them, and says whether the decision changes.
//
// In: a [Request], the question of a plan and the time there is. Out: a [Response] with the runs, [Files] that run them, and from the
// results an [Outcome]. The errors of predictions and how they go together are in errors.go, the choice of runs in choose.go;
// start with measure.go, then outcome.go. kernels.go measures a device without an engine.
package measure
