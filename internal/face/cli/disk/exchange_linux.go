package disk

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// exchange swaps two names. EINVAL is the answer of file systems that cannot, as NFS; ENOSYS and EPERM are those of sandboxes
// that do not know the call.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if slices.ContainsFunc([]error{unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM}, func(x error) bool { return errors.Is(err, x) }) {
		return errUnsupported
	}
	return err
}
