// Package cli is the command line: commands, the environment they run in, help, errors and exit codes.
//
// In: an [Env], which is everything of the operating system the program may touch. Out: an exit code, with the answer on
// stdout and the talk on stderr. No formula lives here: a command fills a request, calls the packages below, and prints
// the response. Start at [Main]; the list of commands is in root.go, and each command has a file and a constructor
// (newVersionCmd is the smallest).
//
// What a command's author needs: flags go into named sections with section; list flags come from package nargs; errors the
// user can mend are made with usagef and carry hints with withHint.
package cli
