// Package commandline renders requests as command lines of the program, which pages, agents and records show so that others can
// repeat them.
//
// In: a request of package ops. Out: a line that a shell can run, "" for a request that flags cannot express. It reads no command lines;
// package cli does. Start at [Plan].
package commandline
