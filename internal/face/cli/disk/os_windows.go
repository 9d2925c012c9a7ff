package disk

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a byte far beyond the end of the file, since others cannot read what is locked.
func tryLock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: math.MaxInt32}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return errLocked
	case errors.Is(err, windows.ERROR_NOT_SUPPORTED), errors.Is(err, windows.ERROR_INVALID_FUNCTION), errors.Is(err, windows.ERROR_CALL_NOT_IMPLEMENTED):
		return errUnsupported
	}
	return err
}

// syncDir does nothing: Windows writes folders itself.
func syncDir(dir *os.File, err error) error {
	if err != nil {
		return err
	}
	return dir.Close()
}

// removeHeld removes a locked file and gives up its lock. An open file cannot be removed, and one that another process has opened
// since then is that process's.
func removeHeld(remove, unlock func() error) error {
	err := unlock()
	if failed := remove(); failed != nil && !errors.Is(failed, windows.ERROR_SHARING_VIOLATION) {
		err = errors.Join(err, failed)
	}
	return err
}
