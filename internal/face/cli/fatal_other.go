//go:build !unix

package cli

// noCoreDumps does nothing: the system writes none of its own.
func noCoreDumps() {}
