// Package operation is what programs can ask Plimsoll: one table of operations, which
// the MCP server and the HTTP API offer alike.
//
// In: a request as JSON and a [Kit], what operations work with. Out: a document of
// package document, or of this one, to encode; JSON schemas of both, made from the Go
// types and the comments of their fields. It knows neither protocol. Start with
// [Table]; [Desk] bounds how much work is done at a time.
package operation
