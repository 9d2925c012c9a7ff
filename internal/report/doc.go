// Package report shows results: tables for people, JSON for programs, traces
// for viewers.
//
// In: a response of package app. Out: bytes on a writer. It knows no formula
// beyond shares and sums of what it is given. Start with step.go.
package report
