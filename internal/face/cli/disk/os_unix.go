//go:build unix

package disk

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock of flock(2), which ends with the process. Over NFS it is a lock of the server.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return errLocked
	case slices.ContainsFunc([]error{unix.ENOSYS, unix.EOPNOTSUPP, unix.ENOTSUP, unix.ENOLCK, unix.EINVAL}, func(x error) bool { return errors.Is(err, x) }):
		return errUnsupported // Lustre without the option flock, NFS without a lock server
	}
	return err
}

// syncDir writes an open folder to the disk, where the file system knows how.
func syncDir(dir *os.File, err error) error {
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EBADF) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}

// removeHeld removes a locked file and gives up its lock, in the order in which no other process locks a file that is about to go.
func removeHeld(remove, unlock func() error) error { return errors.Join(remove(), unlock()) }
