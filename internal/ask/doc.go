// Package ask is what a field of a request is: a value with a flag, a meaning, bounds and a way to type it.
//
// A request keeps its fields in a table, once. From the table come its flags, what help says of them, the checks of what was typed, and
// the command line that asks for a request.
//
// In: the address of a value, with the facts that the tags of its struct have (package basic/field). Out: flags for package pflag, errors
// that name fields, lines that a shell can run. It knows no request. Start at [Table] and [Line].
package ask
