// Package document is the answers for programs: JSON documents whose field names
// are part of the contract.
//
// In: responses of package app. Out: values to encode. docs/schema holds their
// schemas. It prints nothing. Start with step.go; optimize.go is the largest.
package document
