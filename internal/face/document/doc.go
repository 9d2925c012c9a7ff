// Package document is results for programs: JSON documents with stable field names, which
// the command line prints with --json, the HTTP API and MCP answer with, and package
// plimsoll returns.
//
// In: responses of the operations. Out: values to encode. docs/schema holds their schemas.
// It prints nothing. Start with step.go; optimize.go is the largest, mistake.go has what is
// wrong with a request.
//
// A part of a response that is in the units of the JSON already carries the names itself and
// is used as it is: tables, artefacts, workloads, an engine's step. The rest is another form
// of the response and not a copy: times in milliseconds and memory in GiB where operations
// reckon in seconds and bytes, 80 % intervals made of a value and its error, and null for
// what is not known.
package document
