// Package commandline says requests as command lines of the program: what a page, an agent or a record shows for others to
// repeat.
//
// In: a request of package ops. Out: a line that a shell can run, "" for what flags cannot say. It reads no command lines; that
// is the business of package cli. Start at [Plan].
package commandline
