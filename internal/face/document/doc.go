// Package document runs operations for programs and makes the results whose form differs from the response: summaries of
// measured rows. All other operations answer with their response itself, whose fields have JSON names and units that know
// their JSON (package units, wire.go).
//
// In: a request and the run of an operation, or its response. Out: values to encode, with stable field names, and errors
// that name fields. It prints nothing. Start with mistake.go; accuracy.go and calibrate.go are the summaries.
package document
