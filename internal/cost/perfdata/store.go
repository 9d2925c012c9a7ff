package perfdata

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

// Store is a directory of kernel tables.
type Store struct {
	fsys    fs.FS
	name    string
	systems []*System
	left    int // files and folders that may still be looked at
}

// System is the tables of one system: a device and the node it stands in.
type System struct {
	Name  string
	fsys  fs.FS
	files []File
}

// File is one table.
type File struct {
	Engine, Version string
	Table           string // without "_perf.parquet"
	Path            string
}

// Open lists a directory; name is what the user calls it.
func Open(fsys fs.FS, name string) (*Store, error) {
	s := &Store{fsys: fsys, name: name, left: bound.Entries}
	var first error
	for _, base := range []string{".", "data"} {
		entries, err := fs.ReadDir(fsys, base)
		if err != nil {
			if base == "." {
				first = err
			}
			continue
		}
		s.left -= len(entries)
		for _, e := range entries {
			if sys := s.system(base, e); sys != nil {
				s.systems = append(s.systems, sys)
			}
		}
	}
	switch {
	case s.left < 0:
		return nil, fmt.Errorf("%s: %w", name, bound.Over(bound.Entries, "files and folders in it"))
	case first != nil:
		if p, ok := errors.AsType[*fs.PathError](first); ok {
			first = p.Err // the path in it is relative to name
		}
		return nil, fmt.Errorf("%s: %w", name, first)
	case len(s.systems) == 0:
		return nil, fmt.Errorf("%s has no kernel tables; want <system>/<family>/<engine>/<version>/<table>_perf.parquet, in it or in data/", name)
	}
	return s, nil
}

// suffix ends the names of tables.
const suffix = "_perf.parquet"

// system lists the tables under one directory, nil without any.
func (s *Store) system(base string, e fs.DirEntry) *System {
	if !e.IsDir() {
		return nil
	}
	dir := path.Join(base, e.Name())
	sys := &System{Name: e.Name(), fsys: s.fsys}
	const deepest, shallowest = 3, 2 // folders between the system's and the tables
	found := s.tables(dir, deepest)
	for _, depth := range []int{deepest, shallowest} {
		for _, p := range found {
			parts := strings.Split(strings.TrimPrefix(p, dir+"/"), "/")
			if len(parts) != depth+1 {
				continue
			}
			f := File{Path: p, Table: strings.TrimSuffix(parts[len(parts)-1], suffix), Version: parts[len(parts)-2], Engine: parts[len(parts)-3]}
			// A collection that broke off marks its directory.
			if _, err := fs.Stat(s.fsys, path.Dir(p)+"/INCOMPLETE.txt"); err != nil {
				sys.files = append(sys.files, f)
			}
		}
	}
	if len(sys.files) == 0 {
		return nil
	}
	return sys
}

// tables are the tables in a directory and those in it, down to a depth. What cannot be listed has none.
func (s *Store) tables(dir string, depth int) []string {
	if s.left < 0 {
		return nil
	}
	entries, err := fs.ReadDir(s.fsys, dir)
	if err != nil {
		return nil
	}
	s.left -= len(entries)
	var out []string
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		switch linked := e.Type()&fs.ModeSymlink != 0; {
		case strings.HasSuffix(at, suffix):
			out = append(out, at)
		case depth > 0 && (e.IsDir() || linked):
			out = append(out, s.tables(at, depth-1)...)
		}
	}
	return out
}

// Systems are the names of the systems there are tables of.
func (s *Store) Systems() []string {
	var out []string
	for _, sys := range s.systems {
		out = append(out, sys.Name)
	}
	return out
}

// System finds the tables of a system by any of its names.
func (s *Store) System(names ...string) (*System, error) {
	for _, n := range names {
		for _, sys := range s.systems {
			if n != "" && strings.EqualFold(n, sys.Name) {
				return sys, nil
			}
		}
	}
	return nil, fmt.Errorf("%s has no tables of %s%s", s.name, names[0],
		cmp.Or(nearest.Hint(names[0], s.Systems()), "; it has "+strings.Join(s.Systems(), ", ")))
}

// Selection says whose kernels are taken. The zero value takes those of every
// engine, newest version each.
type Selection struct {
	Engine  string
	Version string // "" = the newest
}

// ParseSelection reads "ENGINE" or "ENGINE@VERSION".
func ParseSelection(s string) (Selection, error) {
	e, v, given := strings.Cut(s, "@")
	if err := version.Check(v); given && err != nil {
		return Selection{}, err
	}
	return Selection{Engine: e, Version: v}, nil
}

// shared are directories in an engine's place that hold libraries all engines
// use.
func shared(engine string) bool { return engine == "nccl" || engine == "oneccl" }

// Choose returns a table's file for every engine selected: of each its newest
// version, or the newest not above the one asked for.
func (s *System) Choose(table string, sel Selection) []File {
	best := map[string]File{}
	for _, f := range s.files {
		if f.Table != table || sel.Engine != "" && f.Engine != sel.Engine && !shared(f.Engine) {
			continue
		}
		asked := sel.Version != "" && !shared(f.Engine)
		if asked && version.Compare(f.Version, sel.Version) > 0 {
			continue
		}
		if have, ok := best[f.Engine]; !ok || version.Compare(f.Version, have.Version) > 0 {
			best[f.Engine] = f
		}
	}
	var out []File
	for _, f := range best {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// Oldest is the oldest version of an engine with any table.
func (s *System) Oldest(engine string) string {
	oldest := ""
	for _, f := range s.files {
		if f.Engine == engine && (oldest == "" || version.Compare(f.Version, oldest) < 0) {
			oldest = f.Version
		}
	}
	return oldest
}

// Engines are those with a table of their own.
func (s *System) Engines() []string {
	var out []string
	for _, f := range s.files {
		if !shared(f.Engine) && !slices.Contains(out, f.Engine) {
			out = append(out, f.Engine)
		}
	}
	slices.Sort(out)
	return out
}
