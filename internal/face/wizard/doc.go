// Package wizard asks for the inputs of a plan at a terminal, one question at a time, shows the resulting command, and
// runs it once confirmed.
//
// In: known answers (flags, a file), streams, and functions that run a request. Out: an
// [optimize.Request] or a [plan.Request] for those functions, and a summary of the result. It knows neither how
// results are computed nor how flags are parsed: a command line is opaque text.
//
// The next question follows from the answers alone: start at [Questions] and [Session]. Drawing is separate: form.go
// draws with charm.land/huh, plain.go line by line for simple terminals. All text is in the folder text, a file for each
// language.
package wizard
