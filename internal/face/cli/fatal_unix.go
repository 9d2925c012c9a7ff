//go:build unix

package cli

import "syscall"

// noCoreDumps sets the size limit of core dumps to zero.
func noCoreDumps() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) // lowering a limit is always allowed
}
