// Package report shows results: tables and plots for people, CSV for
// spreadsheets, traces for viewers. JSON is package document's.
//
// In: a response of package app. Out: bytes on a writer. It knows no formula
// beyond shares and sums of what it is given. Start with step.go.
package report
