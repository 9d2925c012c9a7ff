// Package session loads the inputs of operations: models, devices, engines, prices,
// calibrations, workloads and measured rows, built in or from the user's files. It also
// reports progress, marks invalid requests, and caches results.
//
// In: names and files of a request. Out: the loaded inputs, or an [*InputError] that names
// the fields. It knows no operation: each has its own package next to this one.
// Start with session.go, then stage.go.
package session
