// Package ops has the operations of the program: a request in, a response out.
// Defaults, validation and provenance are decided here, once for all interfaces
// (command line, server, agent protocol). It has no formulas and no flag names:
// errors name fields, and each interface translates them into its own names.
//
// Requests and responses are plain values, so that they can cross a wire. Start
// with world.go, then the file of an operation: step.go.
package ops
