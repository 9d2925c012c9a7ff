package disk

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"
)

// What is in a workspace: the lock of the process that writes; what it writes; and the folder that was moved aside.
const (
	lockName = "lock"
	newName  = "new"
	oldName  = "old"
)

// A run of another machine is known to have ended only by the lock, and not every network file system passes locks on. Writing
// takes seconds, so a workspace of this age has no owner.
const abandoned = 24 * time.Hour

// attempts bounds repetitions after another run was in the way.
const attempts = 8

// workspace is a folder beside a target in which its new content is made.
type workspace struct {
	disk   *Disk
	dir    string
	target string
	lock   *Lock
}

// prefix begins the names of the workspaces of a target, those of every machine. A workspace in a folder, for entries of it, is
// that of the target "".
func prefix(base string) string {
	if base != "" {
		base = "." + base
	}
	return base + ".plimsoll-"
}

// machine tells machines apart in the names of workspaces.
func (d *Disk) machine() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(d.Host))
	return fmt.Sprintf("%08x", h.Sum32())
}

// workspace makes a workspace for an entry of a folder.
func (d *Disk) workspace(parent, base string) (*workspace, error) {
	var err error
	for range attempts {
		dir := filepath.Join(parent, fmt.Sprintf("%s%s%08x", prefix(base), d.machine(), rand.Uint32()))
		if err = d.Sys.Mkdir(dir, 0o700); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return nil, fault(err)
		}
		var lock *Lock
		if lock, err = d.Lock(filepath.Join(dir, lockName)); err == nil {
			return &workspace{d, dir, filepath.Join(parent, base), lock}, nil
		}
		_, _ = d.Sys.Remove(filepath.Join(dir, lockName)), d.Sys.Remove(dir)
		// A run that clears may take a workspace for abandoned that has no locked file yet.
		if _, held := errors.AsType[*HeldError](err); !held && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, fault(err)
}

// path is a name in the workspace.
func (w *workspace) path(name string) string { return filepath.Join(w.dir, name) }

// end removes the workspace after the target was written, or was not for the reason err. The lock goes last, so
// that a workspace without one is empty.
func (w *workspace) end(err error) error {
	var failed error
	if err != nil {
		failed = w.restore()
	}
	if failed == nil {
		failed = w.disk.empty(w.dir, lockName)
	}
	if failed != nil {
		_ = w.lock.file.Close() // the file stays, for the next run to lock
	} else if failed = w.lock.Release(); failed == nil {
		failed = w.disk.Sys.Remove(w.dir)
	}
	// A run that clears may have made the file of the lock again meanwhile, and removes the workspace then.
	if err == nil && failed != nil && !errors.Is(failed, fs.ErrNotExist) && !errors.Is(failed, fs.ErrExist) {
		return &LeftoverError{w.dir, failed}
	}
	return err
}

// errAbandoned is why a workspace of a killed run ends.
var errAbandoned = errors.New("abandoned")

// restore puts a folder back that was moved aside, if nothing has its name now.
func (w *workspace) restore() error {
	if _, err := w.disk.Sys.Stat(w.path(oldName)); err != nil {
		return missing(err)
	}
	if _, err := w.disk.Sys.Stat(w.target); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := w.disk.Rename(w.path(oldName), w.target); err != nil {
		return err
	}
	w.disk.Restored(w.target)
	return nil
}

// missing is an error other than that a file does not exist.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// empty removes what is in a folder but for one entry.
func (d *Disk) empty(dir, but string) error {
	entries, err := d.Sys.ReadDir(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.Name() == but || err != nil {
			continue
		}
		if e.IsDir() {
			err = d.empty(name, "")
		}
		if err == nil {
			err = d.Sys.Remove(name)
		}
	}
	return err
}

// Clear removes what killed runs left for a target.
func (d *Disk) Clear(target string) { d.clear(filepath.Dir(target), filepath.Base(target)) }

// clear removes the workspaces that killed runs left for an entry of a folder. A folder that one of them had moved aside is put
// back. What cannot be removed is left to the next run.
func (d *Disk) clear(parent, base string) {
	entries, err := d.Sys.ReadDir(parent)
	if err != nil {
		return // the write says what is wrong
	}
	for _, e := range entries {
		mark, ours := strings.CutPrefix(e.Name(), prefix(base))
		if !ours || !isMark(mark) || !e.IsDir() {
			continue
		}
		if w := d.left(e, parent, strings.HasPrefix(mark, d.machine())); w != nil {
			w.target = filepath.Join(parent, base)
			_ = w.end(errAbandoned)
		}
	}
}

// isWorkspace reports whether a name is that of a workspace in a folder.
func isWorkspace(name string) bool {
	mark, ours := strings.CutPrefix(name, prefix(""))
	return ours && isMark(mark)
}

// isMark reports whether a text ends the name of a workspace: sixteen hexadecimal digits.
func isMark(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

// left takes over a workspace that has no owner any more, nil for another.
func (d *Disk) left(e fs.DirEntry, parent string, here bool) *workspace {
	info, err := e.Info()
	if err != nil {
		return nil
	}
	old := d.Now().Sub(info.ModTime()) > abandoned
	if !here && !old {
		return nil
	}
	w := &workspace{disk: d, dir: filepath.Join(parent, e.Name())}
	if w.lock, err = d.Lock(w.path(lockName)); err != nil {
		return nil
	}
	if w.lock.Weak && !old {
		_ = w.lock.file.Close()
		return nil
	}
	return w
}
