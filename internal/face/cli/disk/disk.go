package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Disk writes files and folders.
type Disk struct {
	Sys      System
	Host     string            // of this machine, in the names of workspaces
	Now      func() time.Time  // for the age of what another machine left
	Restored func(name string) // gets the name of a folder that a killed run had moved aside, and that is back
}

// Fault is what a file system refused.
type Fault struct{ Err error }

// Error is the reason alone: the names in it may be those of a workspace.
func (f *Fault) Error() string {
	err := f.Err
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	if failed, ok := errors.AsType[*os.LinkError](err); ok {
		err = failed.Err
	}
	return err.Error()
}

// Unwrap returns the error of the file system.
func (f *Fault) Unwrap() error { return f.Err }

// fault marks an error of the file system. A nil err stays nil.
func fault(err error) error {
	if err == nil {
		return nil
	}
	return &Fault{err}
}

// ErrNotEmpty is the fault of a folder with files in it where an empty one is wanted.
var ErrNotEmpty = errors.New("is not empty")

// ErrIsFile is the fault of a file where a folder is wanted.
var ErrIsFile = errors.New("is a file")

// ErrBusy is the fault of a folder that cannot be replaced as a whole: the working directory, or the root of a file system.
var ErrBusy = errors.New("cannot be replaced as a whole")

var (
	errLocked      = errors.New("is locked")
	errUnsupported = fmt.Errorf("the file system cannot do this: %w", errors.ErrUnsupported)
)

// LeftoverError says that the target is written and its workspace could not be removed. The next run tries again.
type LeftoverError struct {
	Name string
	Err  error
}

// Error names the workspace.
func (l *LeftoverError) Error() string {
	return fmt.Sprintf("could not remove %s: %v", l.Name, &Fault{l.Err})
}

// Unwrap returns the error of the file system.
func (l *LeftoverError) Unwrap() error { return l.Err }

// Write writes a file: fill fills another, which takes its name. An existing file keeps its permissions; a pipe or a device is written
// directly. Errors of fill come back as they are.
func (d *Disk) Write(name string, fill func(io.Writer) error) error {
	perm, exists := fs.FileMode(0o666), true
	info, err := d.Sys.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		exists = false
	case err != nil:
		return fault(err)
	case info.IsDir():
		return fault(syscall.EISDIR)
	case !info.Mode().IsRegular():
		return d.fill(name, os.O_WRONLY, 0, fill)
	default:
		perm = info.Mode().Perm()
	}
	parent := filepath.Dir(name)
	d.clear(parent, filepath.Base(name))
	w, err := d.workspace(parent, filepath.Base(name))
	if err != nil {
		return err
	}
	file := w.path(newName)
	err = d.fill(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm, fill)
	if err == nil && exists {
		err = fault(d.Sys.Chmod(file, perm)) // what the umask took
	}
	if err == nil {
		err = d.Rename(file, name)
	}
	return w.end(err)
}

// fill fills a file through a buffer and writes it to the disk.
func (d *Disk) fill(name string, flag int, perm fs.FileMode, write func(io.Writer) error) error {
	f, err := d.Sys.OpenFile(name, flag, perm)
	if err != nil {
		return fault(err)
	}
	buffered := bufio.NewWriterSize(faulty{f}, 1<<16)
	err = write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil && flag&os.O_CREATE != 0 { // or a power cut after the rename leaves an empty file
		err = fault(f.Sync())
	}
	if closed := f.Close(); err == nil {
		err = fault(closed)
	}
	return err
}

// faulty marks the errors of a file's writes.
type faulty struct{ to io.Writer }

// Write writes.
func (f faulty) Write(p []byte) (int, error) {
	n, err := f.to.Write(p)
	return n, fault(err)
}

// Append opens a file whose writes go to its end, and makes it if it does not exist. Its errors are faults.
func (d *Disk) Append(name string) (File, error) {
	f, err := d.Sys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fault(err)
	}
	if err := d.Sys.SyncDir(filepath.Dir(name)); err != nil {
		_ = f.Close()
		return nil, fault(err)
	}
	return appended{f}, nil
}

// appended marks the errors of a file.
type appended struct{ File }

// Write writes.
func (a appended) Write(p []byte) (int, error) { return faulty{a.File}.Write(p) }

// Sync writes the file to the disk.
func (a appended) Sync() error { return fault(a.File.Sync()) }

// Truncate cuts the file off.
func (a appended) Truncate(size int64) error { return fault(a.File.Truncate(size)) }

// Drop removes a file that is not needed any more.
func (d *Disk) Drop(name string) error {
	if err := missing(d.Sys.Remove(name)); err != nil {
		return &LeftoverError{name, err}
	}
	return nil
}

// Rename renames, and makes that survive a power cut.
func (d *Disk) Rename(from, to string) error {
	if err := d.Sys.Rename(from, to); err != nil {
		return fault(err)
	}
	return fault(d.Sys.SyncDir(filepath.Dir(to)))
}

// TryFile reports why a file could not be written, without writing it.
func (d *Disk) TryFile(name string) error {
	switch info, err := d.Sys.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fault(err)
	case info.IsDir():
		return fault(syscall.EISDIR)
	case !info.Mode().IsRegular():
		return nil
	}
	d.clear(filepath.Dir(name), filepath.Base(name))
	return d.probe(filepath.Dir(name), filepath.Base(name))
}

// TryIn reports why nothing could be written in a folder, which is made for the while if it does not exist.
func (d *Disk) TryIn(dir string) error {
	if info, err := d.Sys.Stat(dir); err == nil && !info.IsDir() {
		return fault(ErrIsFile)
	}
	undo, err := d.MakeAll(dir)
	defer undo()
	if err != nil {
		return err
	}
	d.clear(dir, "")
	return d.probe(dir, "")
}

// probe reports why no workspace could be made for an entry of a folder.
func (d *Disk) probe(parent, base string) error {
	w, err := d.workspace(parent, base)
	if err != nil {
		return err
	}
	err = w.end(nil)
	if left, ok := errors.AsType[*LeftoverError](err); ok {
		return fault(left.Err)
	}
	return err
}

// MakeAll makes a folder and those above it, where they are missing; undo removes those again that are empty.
func (d *Disk) MakeAll(name string) (undo func(), err error) {
	var made []string
	undo = func() {
		for _, dir := range slices.Backward(made) {
			_ = d.Sys.Remove(dir)
		}
	}
	var folder func(name string) error
	folder = func(name string) error {
		switch info, err := d.Sys.Stat(name); {
		case err == nil && !info.IsDir():
			return syscall.ENOTDIR
		case err == nil:
			return nil
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(name) == name:
			return err
		}
		if err := folder(filepath.Dir(name)); err != nil {
			return err
		}
		err := d.Sys.Mkdir(name, 0o777)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err == nil {
			made = append(made, name)
			err = d.Sys.SyncDir(filepath.Dir(name))
		}
		return err
	}
	return undo, fault(folder(name))
}
