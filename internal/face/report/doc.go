// Package report prints results: tables and plots for people, CSV for
// spreadsheets, traces for viewers. JSON is the responses themselves.
//
// In: a response of a package below ops. Out: bytes on a writer. It has no
// formulas beyond shares and sums. Start with step.go.
package report
