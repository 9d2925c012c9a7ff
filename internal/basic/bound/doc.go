// Package bound limits what the program takes from its users.
//
// In: a file, a pipe, or the fields of a request. Out: its bytes, or an error that says which input it is, how large, and
// what is allowed. Every bound has its number here, in one table of kinds and one of what a small input can ask for;
// SECURITY.md has the same tables, which a test compares. The package opens nothing and does not know what an input means.
// Start at [Kind] and [Read].
package bound
