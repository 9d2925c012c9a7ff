// Package disktest has a file system that fails, stops or lacks abilities, for tests of what writes to the disk.
package disktest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
)

// ErrStopped is the error of all that a stopped process would do.
var ErrStopped = errors.New("stopped")

// Faults is a file system with faults. Only what changes something is an operation that may fail: reading does not.
type Faults struct {
	disk.System

	// At is the operation that fails, from 1; 0 for none.
	At int
	// Err is its error. A write that fails has written half.
	Err error
	// Stop stops everything at the operation At, as a kill does: nothing has an effect from there on, and locks are free.
	Stop bool
	// Kill is called instead, to end the process. It does not return.
	Kill func()

	// Full lets every write fail, as on a full disk.
	Full                bool
	NoExchange, NoLocks bool

	mu      sync.Mutex
	ops     []string
	open    map[*file]bool
	stopped bool
}

// Ops are the operations so far: a verb and the last part of a name.
func (s *Faults) Ops() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ops
}

// Failed is the operation that failed, "" if there were fewer.
func (s *Faults) Failed() string {
	if ops := s.Ops(); s.At > 0 && s.At <= len(ops) {
		return ops[s.At-1]
	}
	return ""
}

// step is an operation; its error, if it is the one to fail.
func (s *Faults) step(verb, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return ErrStopped
	}
	s.ops = append(s.ops, verb+" "+filepath.Base(name))
	switch {
	case len(s.ops) != s.At:
		return nil
	case s.Kill != nil:
		s.Kill()
	case s.Stop:
		s.stop()
		return ErrStopped
	}
	return &fs.PathError{Op: verb, Path: name, Err: s.Err}
}

// next reports whether the next operation is the one to fail.
func (s *Faults) next() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.stopped && len(s.ops)+1 == s.At
}

// stop ends everything.
func (s *Faults) stop() {
	s.stopped = true
	for f := range s.open {
		_ = f.File.Close()
	}
}

// OpenFile counts if it may make or change a file.
func (s *Faults) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if flag&(os.O_CREATE|os.O_WRONLY|os.O_RDWR) != 0 {
		if err := s.step("create", name); err != nil {
			return nil, err
		}
	}
	f, err := s.System.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	out := &file{File: f, sys: s, name: name}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*file]bool{}
	}
	s.open[out] = true
	return out, nil
}

// do is an operation and its effect.
func (s *Faults) do(verb, name string, effect func() error) error {
	if err := s.step(verb, name); err != nil {
		return err
	}
	return effect()
}

// Mkdir counts.
func (s *Faults) Mkdir(name string, perm fs.FileMode) error {
	return s.do("mkdir", name, func() error { return s.System.Mkdir(name, perm) })
}

// Chmod counts.
func (s *Faults) Chmod(name string, mode fs.FileMode) error {
	return s.do("chmod", name, func() error { return s.System.Chmod(name, mode) })
}

// Rename counts.
func (s *Faults) Rename(from, to string) error {
	return s.do("rename", to, func() error { return s.System.Rename(from, to) })
}

// Exchange counts, if the file system has it.
func (s *Faults) Exchange(a, b string) error {
	if s.NoExchange {
		return errors.ErrUnsupported
	}
	return s.do("exchange", b, func() error { return s.System.Exchange(a, b) })
}

// Remove counts.
func (s *Faults) Remove(name string) error {
	return s.do("remove", name, func() error { return s.System.Remove(name) })
}

// SyncDir counts.
func (s *Faults) SyncDir(name string) error {
	return s.do("syncdir", name, func() error { return s.System.SyncDir(name) })
}

// file is an open file with faults.
type file struct {
	disk.File

	sys  *Faults
	name string
}

// Write counts. One that fails, or at which the process is stopped, has written half.
func (f *file) Write(p []byte) (int, error) {
	n := 0
	if f.sys.next() {
		var err error
		if n, err = f.File.Write(p[:len(p)/2]); err != nil {
			return n, err
		}
	}
	if err := f.sys.step("write", f.name); err != nil {
		return n, err
	}
	if f.sys.Full {
		return 0, &fs.PathError{Op: "write", Path: f.name, Err: f.sys.Err}
	}
	return f.File.Write(p)
}

// Truncate counts.
func (f *file) Truncate(size int64) error {
	return f.sys.do("truncate", f.name, func() error { return f.File.Truncate(size) })
}

// Sync counts.
func (f *file) Sync() error { return f.sys.do("sync", f.name, f.File.Sync) }

// TryLock counts, if the file system has locks.
func (f *file) TryLock() error {
	if f.sys.NoLocks {
		return errors.ErrUnsupported
	}
	return f.sys.do("lock", f.name, f.File.TryLock)
}

// Close counts. One that fails has closed the file.
func (f *file) Close() error {
	err := f.sys.step("close", f.name)
	f.sys.mu.Lock()
	delete(f.sys.open, f)
	stopped := f.sys.stopped
	f.sys.mu.Unlock()
	if stopped {
		return err
	}
	return errors.Join(err, f.File.Close())
}
