// Package document is the results for programs whose form differs from the response of the operation: the record of a plan,
// the rows of a search, summaries of measured rows. The other operations answer with their response itself, whose
// fields have JSON names and units that know their JSON (package units, wire.go).
//
// In: responses of the operations. Out: values to encode, with stable field names; docs/schema holds their schemas.
// It prints nothing. Start with optimize.go; mistake.go runs an operation and has the errors of a request.
package document
