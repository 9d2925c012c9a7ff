package disk

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// System is a file system as this package uses it.
type System interface {
	Stat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	// OpenFile opens a file with the flags of package os.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	Chmod(name string, mode fs.FileMode) error
	Rename(from, to string) error
	// Exchange swaps two names in one step, or fails with [errors.ErrUnsupported].
	Exchange(a, b string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// SyncDir makes the entries of a folder survive a power cut.
	SyncDir(name string) error
}

// File is an open file.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
	// TryLock locks the file until it is closed. It fails with errLocked if another has the lock, and with
	// [errors.ErrUnsupported] on file systems without locks.
	TryLock() error
}

// OS is the file system of the machine.
type OS struct{}

// Stat follows links.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// ReadDir lists a folder by name.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// OpenFile opens a file.
func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Mkdir makes a folder.
func (OS) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }

// Chmod sets permissions.
func (OS) Chmod(name string, mode fs.FileMode) error { return os.Chmod(name, mode) }

// Rename renames a file or folder.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Exchange swaps two names.
func (OS) Exchange(a, b string) error { return exchange(a, b) }

// Remove removes a file or an empty folder.
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir writes a folder to the disk.
func (OS) SyncDir(name string) error { return syncDir(os.Open(name)) }

// osFile is a file of the machine.
type osFile struct{ *os.File }

// TryLock locks the file.
func (f osFile) TryLock() error { return tryLock(f.File) }

// below is the file system below a folder, which names and links do not leave.
type below struct{ *os.Root }

// Below is the file system below a folder. Names are relative to it.
func Below(root *os.Root) System { return below{root} }

// ReadDir lists a folder by name.
func (b below) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(b.FS(), filepath.ToSlash(filepath.Clean(name)))
}

// OpenFile opens a file.
func (b below) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := b.Root.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Exchange is for targets that are replaced, and none is below such a folder.
func (b below) Exchange(_, _ string) error { return errUnsupported }

// SyncDir writes a folder to the disk.
func (b below) SyncDir(name string) error { return syncDir(b.Open(name)) }
