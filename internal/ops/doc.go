// Package ops has the operations that search: plans, experiments, layouts. The other
// operations have a package each below this one; all are a request in, a response out.
// Defaults, validation and provenance are decided here, once for all interfaces
// (command line, server, agent protocol). It has no flag names: errors name fields, and
// each interface translates them into its own names.
//
// Requests and responses are plain values, so that they can cross a wire. Start with
// world.go, then the file of an operation: plan.go.
package ops
