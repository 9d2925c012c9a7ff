package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// place is what there is where a folder goes.
type place struct {
	exists  bool
	vacant  bool // it has no entries, or does not exist
	fixed   bool // it is the working directory, whose users would stay behind in a folder without a name, or it has no parent
	refused bool // nothing can be made beside it, or moved there
	mode    fs.FileMode
}

// find finds what there is, without what killed runs left, and refuses what cannot be written or is not to be replaced.
func (d *Disk) find(target string, replace bool) (*place, error) {
	parent := filepath.Dir(target)
	d.clear(parent, filepath.Base(target))
	p := &place{vacant: true, mode: 0o777}
	info, err := d.Sys.Stat(target)
	if err == nil && !info.IsDir() {
		err = ErrIsFile
	}
	if err != nil {
		return p, fault(missing(err))
	}
	entries, err := d.Sys.ReadDir(target)
	here, lost := d.Sys.Stat(".")
	p.exists, p.vacant, p.mode = true, vacant(entries), info.Mode().Perm()
	p.fixed = parent == target || lost == nil && os.SameFile(here, info)
	switch {
	case err != nil:
	case !p.vacant && !replace:
		err = ErrNotEmpty
	case !p.vacant && p.fixed:
		err = ErrBusy
	}
	return p, fault(err)
}

// vacant reports whether a folder has nothing but workspaces.
func vacant(entries []fs.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !isWorkspace(e.Name()) })
}

// settle makes a folder in a workspace beside its place and moves it there. What was there goes with the workspace.
func (d *Disk) settle(p *place, target string, files []Content, move func(*workspace) error) error {
	w, err := d.workspace(filepath.Dir(target), filepath.Base(target))
	if err != nil {
		p.refused = true
		return err
	}
	err = d.build(w.path(newName), p.mode, files)
	if err == nil && p.exists {
		err = fault(d.Sys.Chmod(w.path(newName), p.mode)) // what the umask took
	}
	if err == nil {
		err = fault(move(w))
		p.refused = err != nil
	}
	if err == nil {
		err = fault(d.Sys.SyncDir(filepath.Dir(target)))
	}
	return w.end(err)
}
