package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Lock is a locked file, which names the process that holds it. It is free when that process has ended, however it ended.
type Lock struct {
	// Weak is set on a file system without locks: nothing keeps others out.
	Weak bool

	disk *Disk
	name string
	file File
}

// HeldError says who has a lock.
type HeldError struct{ Holder string }

// Error names the holder.
func (h *HeldError) Error() string { return h.Holder + " holds the lock" }

// Lock makes and locks a file. It does not wait: a lock that another process holds is a [HeldError].
func (d *Disk) Lock(name string) (*Lock, error) {
	for {
		f, err := d.Sys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, fault(err)
		}
		l := &Lock{disk: d, name: name, file: f}
		switch err := f.TryLock(); {
		case errors.Is(err, errLocked):
			holder := holder(f)
			return nil, errors.Join(&HeldError{holder}, f.Close())
		case errors.Is(err, errors.ErrUnsupported):
			l.Weak = true
		case err != nil:
			return nil, errors.Join(fault(err), f.Close())
		case !l.there(): // its holder removed it after it was opened here
			if err := f.Close(); err != nil {
				return nil, fault(err)
			}
			continue
		}
		if err := l.sign(); err != nil {
			_ = l.Release()
			return nil, fault(err)
		}
		return l, nil
	}
}

// there reports whether the locked file still has its name.
func (l *Lock) there() bool {
	own, err := l.file.Stat()
	if err != nil {
		return false
	}
	now, err := l.disk.Sys.Stat(l.name)
	return err == nil && os.SameFile(own, now)
}

// sign writes the holder into the file.
func (l *Lock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintf(l.file, "process %d on %s\n", os.Getpid(), l.disk.Host)
	return err
}

// holder reads who holds a lock.
func holder(f io.ReaderAt) string {
	text := make([]byte, 512)
	n, _ := f.ReadAt(text, 0)
	if who, _, whole := strings.Cut(string(text[:n]), "\n"); whole {
		return who
	}
	return "another process"
}

// Release removes the file and gives up the lock.
func (l *Lock) Release() error {
	return removeHeld(func() error {
		if err := l.disk.Sys.Remove(l.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}, l.file.Close)
}
