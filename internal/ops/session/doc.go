// Package session loads what operations work with: models, devices, engines, prices,
// calibrations, workloads and measured rows, from what is built in and from the files of
// the user. It also reports progress, marks mistakes in a request, and remembers answers.
//
// In: names and files of a request. Out: what they stand for, or an [*InputError] that
// names the fields. It knows no operation: each has a package of its own beside this one.
// Start with session.go, then stage.go.
package session
