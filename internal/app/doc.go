// Package app holds the operations of the product: a request in, a response out.
// Defaults, validation and provenance are decided here, once, for every face
// (command line, server, agent protocol). No formula lives here, and no face's
// words: errors name fields, and a face says them as it calls them.
//
// Requests and responses are plain values, so that they can cross a wire. Start
// with world.go, then the file of an operation: step.go.
package app
