package disk

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// exchange swaps two names. APFS can, other file systems answer ENOTSUP or EINVAL.
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if slices.ContainsFunc([]error{unix.EINVAL, unix.ENOSYS, unix.ENOTSUP}, func(x error) bool { return errors.Is(err, x) }) {
		return errUnsupported
	}
	return err
}
