// Package measuredtest has rows and predictors for tests of what reads measured
// deployments.
//
// In: nothing, or rows by column. Out: rows as [measured.Read] reads them. Start
// with rows.go.
package measuredtest
