package disk

import (
	"errors"
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
	d.clear(filepath.Dir(target), filepath.Base(target))
	var p *place
	var err error
	for range attempts {
		// Another run may put its folder there between two looks: the one that was there has no entries to read then.
		if p, err = d.look(target, replace); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return p, err
}

// look is one look of find.
func (d *Disk) look(target string, replace bool) (*place, error) {
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
	p.fixed = filepath.Dir(target) == target || lost == nil && os.SameFile(here, info)
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
