//go:build !linux && !darwin

package disk

// exchange is unknown to the system: a folder is replaced by two renames.
func exchange(_, _ string) error { return errUnsupported }
