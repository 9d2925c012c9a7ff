// Package command is the developers' program that fits what is embedded in the user's: multipliers and intervals of
// deployments, constants of operator forms, surfaces of kernels and constants of power. "make data" runs it.
//
// In: arguments, measured rows and kernel tables. Out: a file in the form that is embedded, and a table of errors. It knows
// no streams and no disk but those that it is given. Start with command.go.
package command
