// Package cli is the command line: commands, the environment they run in, help, errors and exit codes.
//
// In: an [Env], which is everything of the operating system the program may touch. Out: an exit code, with the result on
// stdout and messages on stderr. It has no formulas: a command fills a request, calls the packages below, and prints the
// response. Start at [Main]; the list of commands is in root.go, and each command has a file and a constructor
// (newVersionCmd is the smallest).
//
// To write a command: its help is a page of the folder help; flags go into named sections with section; list flags come from
// package nargs; errors that the user can fix are made with usagef and get hints with withHint.
package cli
