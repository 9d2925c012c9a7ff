// Package operation is the table of operations that the MCP server and the HTTP API offer.
//
// In: a request as JSON and a [Env], the environment of operations. Out: the response of an
// operation, or a document of this package, to encode. It does not depend on either protocol. Start with
// [Table]; [Runner] limits the work in progress.
package operation
