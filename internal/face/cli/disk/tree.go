package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Content is a file of a folder that is written.
type Content struct {
	Path string // with slashes, relative to the folder
	Mode fs.FileMode
	Data []byte
}

// Create writes a folder that does not exist or is empty. It gets its name in one step, except for the working directory, the root
// of a file system, and a folder beside which nothing can be made: they get the entries one by one.
func (d *Disk) Create(target string, files []Content) error { return d.write(target, files, false) }

// Replace writes a folder, in one step in the place of one that exists. Where the system cannot exchange two folders there is a
// moment without either; the next run puts the old one back if this one is killed then.
func (d *Disk) Replace(target string, files []Content) error { return d.write(target, files, true) }

func (d *Disk) write(target string, files []Content, replace bool) error {
	target = filepath.Clean(target)
	var err error
	for range attempts {
		var undo func()
		var again bool
		if undo, err = d.MakeAll(filepath.Dir(target)); err == nil {
			again, err = d.put(target, files, replace)
		}
		if _, done := errors.AsType[*LeftoverError](err); err == nil || done {
			return err
		}
		undo()
		if !again {
			return err
		}
	}
	return err
}

// put writes a folder, unless another run makes or removes one there meanwhile: again is set then.
func (d *Disk) put(target string, files []Content, replace bool) (again bool, err error) {
	p, err := d.find(target, replace)
	switch {
	case err != nil:
		return false, err
	case p.fixed:
		return false, d.Merge(target, files)
	}
	err = d.settle(p, target, files, func(w *workspace) error {
		if !p.exists {
			if err := d.Sys.Rename(w.path(newName), target); !replace || !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		return w.exchange(replace)
	})
	switch {
	case !p.refused || errors.Is(err, ErrNotEmpty):
		return false, err
	case !p.vacant && (errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV)):
		// Another file system begins there, or it is of the image of a container.
		return false, fault(ErrBusy)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return true, err
	case p.exists && p.vacant:
		return false, d.Merge(target, files)
	}
	return false, err
}

// Merge writes files into a folder and replaces none. Entries that are new get their names one by one, each whole; those of a
// failed run are taken back.
func (d *Disk) Merge(target string, files []Content) error {
	switch info, err := d.Sys.Stat(target); {
	case errors.Is(err, fs.ErrNotExist):
		return d.Create(target, files)
	case err != nil:
		return fault(err)
	case !info.IsDir():
		return fault(ErrIsFile)
	}
	d.clear(target, "")
	w, err := d.workspace(target, "")
	if err != nil {
		return err
	}
	if err = d.build(w.path(newName), 0o777, files); err == nil {
		err = d.move(w.path(newName), target)
	}
	return w.end(err)
}

// Try reports why a folder could not be written, without writing it.
func (d *Disk) Try(target string, replace bool) error {
	target = filepath.Clean(target)
	undo, err := d.MakeAll(filepath.Dir(target))
	defer undo()
	if err != nil {
		return err
	}
	p, err := d.find(target, replace)
	if err != nil {
		return err
	}
	err = d.probe(filepath.Dir(target), filepath.Base(target))
	if err != nil && p.exists && p.vacant {
		return d.TryIn(target)
	}
	return err
}

// exchange puts the new folder in the place of the target, which must be empty if it is not to be replaced.
func (w *workspace) exchange(replace bool) error {
	sys, made := w.disk.Sys, w.path(newName)
	err := sys.Exchange(made, w.target)
	if errors.Is(err, errors.ErrUnsupported) {
		return w.swap(replace)
	}
	if err != nil || replace {
		return err
	}
	if entries, err := sys.ReadDir(made); err != nil || !vacant(entries) { // filled by somebody meanwhile
		return errors.Join(ErrNotEmpty, sys.Exchange(made, w.target))
	}
	return nil
}

// swap moves the target aside and the new folder in its place.
func (w *workspace) swap(replace bool) error {
	sys, old := w.disk.Sys, w.path(oldName)
	var taken error
	for range attempts {
		if err := missing(sys.Rename(w.target, old)); err != nil {
			return err
		}
		entries, err := sys.ReadDir(old)
		switch {
		case missing(err) != nil:
			return err
		case !replace && !vacant(entries):
			return ErrNotEmpty
		}
		if taken = sys.Rename(w.path(newName), w.target); !errors.Is(taken, fs.ErrExist) {
			return taken
		}
		// Another run's folder got the name meanwhile, and is replaced in turn.
		if err := missing(errors.Join(w.disk.empty(old, ""), sys.Remove(old))); err != nil {
			return err
		}
	}
	return taken
}

// build makes a folder with files, and writes all of it to the disk.
func (d *Disk) build(root string, perm fs.FileMode, files []Content) error {
	if err := d.Sys.Mkdir(root, perm); err != nil {
		return fault(err)
	}
	dirs := []string{root}
	var folder func(name string) error
	folder = func(name string) error {
		if slices.Contains(dirs, name) {
			return nil
		}
		if err := folder(filepath.Dir(name)); err != nil {
			return err
		}
		dirs = append(dirs, name)
		return d.Sys.Mkdir(name, 0o777)
	}
	for _, f := range files {
		name := filepath.Join(root, filepath.FromSlash(f.Path))
		if err := folder(filepath.Dir(name)); err != nil {
			return fault(err)
		}
		err := d.fill(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode, func(w io.Writer) error {
			_, err := w.Write(f.Data)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, dir := range slices.Backward(dirs) {
		if err := d.Sys.SyncDir(dir); err != nil {
			return fault(err)
		}
	}
	return nil
}

// move moves the entries of one folder into another, all or none.
func (d *Disk) move(from, to string) error {
	moves, err := d.moves(from, to)
	if err != nil {
		return err
	}
	done := 0
	for _, m := range moves {
		if err = d.Sys.Rename(m[0], m[1]); err != nil {
			break
		}
		done++
	}
	for _, m := range moves {
		if err == nil {
			err = d.Sys.SyncDir(filepath.Dir(m[1]))
		}
	}
	if err != nil {
		for _, m := range slices.Backward(moves[:done]) {
			_ = d.Sys.Rename(m[1], m[0])
		}
	}
	return fault(err)
}

// moves are the renames that move the entries of one folder into another, inside folders that both have.
func (d *Disk) moves(from, to string) ([][2]string, error) {
	entries, err := d.Sys.ReadDir(from)
	if err != nil {
		return nil, fault(err)
	}
	var out [][2]string
	for _, e := range entries {
		a, b := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch info, err := d.Sys.Stat(b); {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, [2]string{a, b})
		case err != nil:
			return nil, fault(err)
		case e.IsDir() && info.IsDir():
			more, err := d.moves(a, b)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		default:
			return nil, fault(fs.ErrExist)
		}
	}
	return out, nil
}
