// Package document is results for programs: JSON documents with stable field names. The
// command line prints them with --json, the HTTP API and MCP return them, and so does package
// plimsoll.
//
// In: responses of the operations. Out: values to encode. docs/schema holds their schemas.
// It prints nothing. Start with step.go; optimize.go is the largest, mistake.go has the errors
// of a request.
//
// Parts of a response that already have the units of the JSON are embedded unchanged: tables,
// artefacts, workloads, an engine's step. The rest is converted: times to milliseconds, memory
// to GiB, a value and its error to an 80 % interval, and unknown values to null.
package document
