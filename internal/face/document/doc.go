// Package document is results for programs: JSON documents with stable field
// names.
//
// In: responses of package app. Out: values to encode. docs/schema holds their
// schemas. It prints nothing. Start with step.go; optimize.go is the largest.
package document
