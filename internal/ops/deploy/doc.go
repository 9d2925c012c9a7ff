// Package deploy makes the files that run a deployment: one that a plan finds, or a given
// one.
//
// In: a [Request]. Out: a [Response] with the files' content; nothing is written. Package
// launch knows what the files look like. Start at [Run].
package deploy
