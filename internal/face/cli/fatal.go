package cli

import "runtime/debug"

// maxStack is the largest stack of a goroutine in bytes. Only a recursion without an end needs as much; by default it would take
// seconds, and 1 GB of memory.
const maxStack = 64 << 20

// AbortOnFatal makes the process abort on a fatal error of the Go runtime: a stack overflow, no memory, concurrent writes to a
// map, a panic that nothing recovers. Otherwise Go exits with status 2, that of bad input. A process that aborts has status 134 in
// a shell (SIGABRT). It leaves no core dump, which could hold tokens.
func AbortOnFatal() {
	debug.SetMaxStack(maxStack)
	debug.SetTraceback("crash")
	noCoreDumps()
}
