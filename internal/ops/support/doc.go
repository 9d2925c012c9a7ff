// Package support lists what can be predicted, and how well.
//
// In: a [Request] with a model, systems and engines. Out: a [Response] with a row for each of
// their combinations. It simulates nothing. Start at [Run].
package support
