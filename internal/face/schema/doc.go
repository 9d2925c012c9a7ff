// Package schema makes the JSON schemas of operations.
//
// In: the table of operations. Out: schemas of their requests and documents, made from the Go types and the comments of their fields, whole
// for programs and brief for agents. It answers no request. Start with [New].
package schema
