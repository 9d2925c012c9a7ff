package disk_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk/disktest"
)

// on is a disk of this machine, with faults.
func on(sys disk.System) *disk.Disk {
	return &disk.Disk{Sys: sys, Host: "here", Now: time.Now, Restored: func(string) {}}
}

// text writes a text.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// folder is the content of folders: a file of each of some names that says which folder it is of.
func folder(of string, names ...string) []disk.Content {
	var out []disk.Content
	for _, name := range names {
		out = append(out, disk.Content{Path: name, Mode: 0o644, Data: []byte(of)})
	}
	return out
}

// found are the files and empty folders below a folder, with the content of files.
func found(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if e.IsDir() {
			if above := filepath.ToSlash(filepath.Dir(rel)) + "/"; above != "./" {
				delete(out, above)
			}
			out[filepath.ToSlash(rel)+"/"] = ""
			return nil
		}
		for above := filepath.Dir(rel); above != "."; above = filepath.Dir(above) {
			delete(out, filepath.ToSlash(above)+"/")
		}
		if !e.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(name)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// leftovers are the workspaces below a folder.
func leftovers(t *testing.T, dir string) (out []string) {
	t.Helper()
	for name := range found(t, dir) {
		if strings.Contains(name, ".plimsoll-") {
			out = append(out, name)
		}
	}
	return out
}

// write is a way to write into a folder that may hold something.
type write struct {
	name   string
	before map[string]string // files there
	after  map[string]string // files there then
	noSwap bool
	run    func(d *disk.Disk, dir string) error
	// pieces is set for a write whose entries get their names one by one.
	pieces bool
}

func writes() []write {
	join := filepath.Join
	return []write{
		{name: "new file", after: map[string]string{"a.csv": "new"}, run: func(d *disk.Disk, dir string) error { return d.Write(join(dir, "a.csv"), text("new")) }},
		{
			name: "file replaced", before: map[string]string{"a.csv": "old", "b": "b"}, after: map[string]string{"a.csv": "new", "b": "b"},
			run: func(d *disk.Disk, dir string) error { return d.Write(join(dir, "a.csv"), text("new")) },
		},
		{
			name: "new folder", after: map[string]string{"x/y/out/a": "new", "x/y/out/deploy/run/b": "new"},
			run: func(d *disk.Disk, dir string) error {
				return d.Create(join(dir, "x", "y", "out"), folder("new", "a", "deploy/run/b"))
			},
		},
		{
			name: "empty folder", before: map[string]string{"out/": ""}, after: map[string]string{"out/a": "new", "out/deploy/b": "new"},
			run: func(d *disk.Disk, dir string) error {
				return d.Create(join(dir, "out"), folder("new", "a", "deploy/b"))
			},
		},
		{
			name: "folder exchanged", before: map[string]string{"out/a": "old", "out/deploy/c": "old", "b": "b"}, after: map[string]string{"out/a": "new", "out/deploy/b": "new", "b": "b"},
			run: func(d *disk.Disk, dir string) error {
				return d.Replace(join(dir, "out"), folder("new", "a", "deploy/b"))
			},
		},
		{
			name: "folder swapped", before: map[string]string{"out/a": "old", "out/deploy/c": "old", "b": "b"}, after: map[string]string{"out/a": "new", "out/deploy/b": "new", "b": "b"},
			noSwap: true, run: func(d *disk.Disk, dir string) error {
				return d.Replace(join(dir, "out"), folder("new", "a", "deploy/b"))
			},
		},
		{
			name: "folder merged", before: map[string]string{"m/config.json": "old", "m/deploy/c": "old"}, pieces: true,
			after: map[string]string{"m/config.json": "old", "m/deploy/c": "old", "m/a": "new", "m/deploy/b": "new"},
			run:   func(d *disk.Disk, dir string) error { return d.Merge(join(dir, "m"), folder("new", "a", "deploy/b")) },
		},
	}
}

// start is a folder with the files that a write finds.
func (w *write) start(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range w.before {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.Mkdir(at, 0o777); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(at, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// whole reports whether a folder has what it had or what it was to get, apart from workspaces.
func (w *write) whole(got map[string]string) bool {
	seen := map[string]string{}
	for name, content := range got {
		if !strings.Contains(name, ".plimsoll-") {
			seen[name] = content
		}
	}
	if w.pieces {
		for name, content := range seen {
			if w.after[name] != content {
				return false
			}
		}
		for name, content := range w.before {
			if seen[name] != content {
				return false
			}
		}
		return true
	}
	if w.before == nil {
		maps.DeleteFunc(seen, func(name, _ string) bool { return strings.HasSuffix(name, "/") }) // folders above the target
		return len(seen) == 0 || cmp.Equal(seen, w.after)
	}
	return cmp.Equal(seen, w.before) || cmp.Equal(seen, w.after)
}

// every calls try with a file system on which each operation of a write in turn has an error, or is the last without one.
func (w *write) every(t *testing.T, err error, try func(t *testing.T, sys *disktest.Faults, dir string)) {
	t.Helper()
	for at := 1; ; at++ {
		sys := &disktest.Faults{System: disk.OS{}, At: at, Err: err, Stop: err == nil, NoExchange: w.noSwap}
		dir := w.start(t)
		try(t, sys, dir)
		if sys.Failed() == "" {
			if at < 10 {
				t.Errorf("a write of %d operations: %q", at-1, sys.Ops())
			}
			return
		}
		if t.Failed() {
			t.Fatalf("operation %d, %s", at, sys.Failed())
		}
	}
}

// TestFaults: whichever operation fails, a target is old or new, nothing else is left, and the next run writes it.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, w := range writes() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			w.every(t, syscall.ENOSPC, func(t *testing.T, sys *disktest.Faults, dir string) {
				t.Helper()
				err := w.run(on(sys), dir)
				got := found(t, dir)
				_, left := errors.AsType[*disk.LeftoverError](err)
				switch {
				case !w.whole(got):
					t.Errorf("neither old nor new: %v", got)
				case err != nil && !errors.Is(err, syscall.ENOSPC):
					t.Errorf("want the error of the disk, got %v", err)
				case (err == nil || left) && !contains(got, w.after):
					t.Errorf("success, and not written: %v", got)
				case err == nil && len(leftovers(t, dir)) > 0 || left && len(leftovers(t, dir)) == 0:
					t.Errorf("error %v, left %v", err, leftovers(t, dir))
				case w.pieces && err != nil && !left && contains(got, map[string]string{"m/a": "new"}):
					t.Errorf("a part was written: %v", got)
				}
				if op := sys.Failed(); len(leftovers(t, dir)) > 0 && !strings.HasPrefix(op, "remove") && op != "close lock" {
					t.Errorf("left %v", leftovers(t, dir))
				}
				w.again(t, dir)
			})
		})
	}
}

// TestStops: wherever a process is killed, a target is old or new, and the next run clears what is left.
func TestStops(t *testing.T) {
	t.Parallel()
	for _, w := range writes() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			w.every(t, nil, func(t *testing.T, sys *disktest.Faults, dir string) {
				t.Helper()
				_ = w.run(on(sys), dir)
				if w.noSwap { // the moment without either
					back := 0
					d := on(disk.OS{})
					d.Restored = func(string) { back++ }
					missing := !exists(filepath.Join(dir, "out"))
					if err := d.Try(filepath.Join(dir, "out"), true); err != nil || missing != (back == 1) {
						t.Errorf("missing %v, put back %d times: %v", missing, back, err)
					}
				}
				if got := found(t, dir); !w.whole(got) {
					t.Errorf("neither old nor new: %v", got)
				}
				w.again(t, dir)
			})
		})
	}
}

// again writes without faults and wants the new content and nothing else. What a killed run has merged is not merged again.
func (w *write) again(t *testing.T, dir string) {
	t.Helper()
	err := w.run(on(disk.OS{}), dir)
	switch {
	case w.pieces && errors.Is(err, fs.ErrExist), errors.Is(err, disk.ErrNotEmpty):
	case err != nil:
		t.Errorf("the next run: %v", err)
	case !cmp.Equal(found(t, dir), w.after):
		t.Errorf("the next run (-want +got):\n%s", cmp.Diff(w.after, found(t, dir)))
	}
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("the next run leaves %v", left)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// contains reports whether all of want is in got.
func contains(got, want map[string]string) bool {
	for name, content := range want {
		if x, ok := got[name]; !strings.HasSuffix(name, "/") && (!ok || x != content) {
			return false
		}
	}
	return true
}

// TestPowerCut: before a target gets its name all of it is on the disk, and afterwards the name.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for _, w := range writes() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			sys := &disktest.Faults{System: disk.OS{}, NoExchange: w.noSwap}
			dir := w.start(t)
			if err := w.run(on(sys), dir); err != nil {
				t.Fatal(err)
			}
			waiting := map[string]bool{} // for a sync
			placed := false
			for _, op := range sys.Ops() {
				verb, name, _ := strings.Cut(op, " ")
				switch {
				case strings.Contains(name, ".plimsoll-"): // the folders above are on the disk before it is made
					clear(waiting)
				case name == "lock" || name == "old": // nothing of them is needed
				case verb == "create" || verb == "mkdir" || verb == "write":
					waiting[name] = true
				case verb == "sync" || verb == "syncdir":
					delete(waiting, name)
				case verb == "rename" || verb == "exchange":
					if placed = true; len(waiting) > 0 && !w.pieces {
						t.Errorf("%s before the disk has %v: %q", op, waiting, sys.Ops())
					}
				}
			}
			last := slices.IndexFunc(sys.Ops(), func(op string) bool {
				return strings.HasPrefix(op, "rename ") && !strings.HasSuffix(op, " old") || strings.HasPrefix(op, "exchange ")
			})
			if !placed || !slices.ContainsFunc(sys.Ops()[last:], func(op string) bool { return strings.HasPrefix(op, "syncdir ") }) {
				t.Errorf("the name is not on the disk: %q", sys.Ops())
			}
		})
	}
}

// TestLiving: a run leaves alone what another is writing to the same target, and the last one wins.
func TestLiving(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	for _, noLocks := range []bool{false, true} {
		d := on(&disktest.Faults{System: disk.OS{}, NoLocks: noLocks})
		err := d.Write(name, func(w io.Writer) error {
			if err := d.Write(name, text("inner")); err != nil {
				return err
			}
			return text("outer")(w)
		})
		if got := found(t, dir); err != nil || !cmp.Equal(got, map[string]string{"a": "outer"}) {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// stopped leaves the workspace of a killed run on a machine.
func stopped(t *testing.T, name, host string) {
	t.Helper()
	sys := &disktest.Faults{System: disk.OS{}, At: 6, Stop: true}
	d := on(sys)
	d.Host = host
	_ = d.Write(name, text("x"))
	if sys.Failed() == "" || len(leftovers(t, filepath.Dir(name))) == 0 {
		t.Fatalf("nothing is left: %q", sys.Ops())
	}
}

// TestOtherMachine: what a run of another machine left, or one on a file system without locks, is cleared when it is a day old.
func TestOtherMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host    string
		noLocks bool
	}{{"there", false}, {"here", true}} {
		dir := t.TempDir()
		name := filepath.Join(dir, "a")
		stopped(t, name, c.host)
		d := on(&disktest.Faults{System: disk.OS{}, NoLocks: c.noLocks})
		for _, hours := range []time.Duration{0, 23, 25} {
			d.Now = func() time.Time { return time.Now().Add(hours * time.Hour) }
			if err := d.Write(name, text("x")); err != nil {
				t.Fatal(err)
			}
			if left := leftovers(t, dir); (len(left) > 0) != (hours < 24) {
				t.Errorf("%+v after %d hours: %v", c, hours, left)
			}
		}
	}
}

// TestOthersFiles: names that are not exactly those of workspaces of the target are not touched.
func TestOthersFiles(t *testing.T) {
	t.Parallel()
	keep := map[string]string{
		".a.plimsoll-0123456789abcdef":        "a file",
		".a.plimsoll-notes/x":                 "a folder of the user",
		".a.plimsoll-0123456789ABCDEF/x":      "another pattern",
		".ab.plimsoll-0123456789abcdef/new":   "of another target",
		"a.plimsoll-0123456789abcdef/x":       "not hidden",
		".plimsoll-0123456789abcdef/new":      "of the folder",
		".a.plimsoll-0123456789abcdef.old/on": "longer",
	}
	w := write{before: keep}
	dir := w.start(t)
	if err := on(disk.OS{}).Write(filepath.Join(dir, "a"), text("new")); err != nil {
		t.Fatal(err)
	}
	keep["a"] = "new"
	if d := cmp.Diff(keep, found(t, dir)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestRefuses: what is in the way is named, and stays.
func TestRefuses(t *testing.T) {
	t.Parallel()
	w := write{before: map[string]string{"file": "x", "full/a": "x"}}
	dir := w.start(t)
	d := on(disk.OS{})
	at := func(name string) string { return filepath.Join(dir, name) }
	one := folder("new", "a")
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"a file onto a folder", d.Write(at("full"), text("x")), syscall.EISDIR},
		{"a file below nothing", d.Write(at("none/x"), text("x")), fs.ErrNotExist},
		{"a file below a file", d.Write(at("file/x"), text("x")), syscall.ENOTDIR},
		{"a folder onto a file", d.Create(at("file"), one), disk.ErrIsFile},
		{"a folder in place of a file", d.Replace(at("file"), one), disk.ErrIsFile},
		{"a folder below a file", d.Create(at("file/x"), one), syscall.ENOTDIR},
		{"a folder onto a full one", d.Create(at("full"), one), disk.ErrNotEmpty},
		{"a file that is there", d.Merge(at("full"), one), fs.ErrExist},
		{"a folder where a file is", d.Merge(at("full"), folder("new", "a/b")), fs.ErrExist},
		{"trying a file in a folder", d.TryIn(at("file")), disk.ErrIsFile},
		{"trying below a file", d.TryIn(at("file/x")), syscall.ENOTDIR},
		{"trying a file onto a folder", d.TryFile(at("full")), syscall.EISDIR},
		{"trying a file below nothing", d.TryFile(at("none/x")), fs.ErrNotExist},
		{"trying a folder below nothing", d.Try(at("none/x"), false), nil},
		{"trying a full folder", d.Try(at("full"), false), disk.ErrNotEmpty},
		{"trying a file", d.Try(at("file"), true), disk.ErrIsFile},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: want %v, got %v", c.what, c.want, c.err)
		}
	}
	if diff := cmp.Diff(w.before, found(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWorkingDirectory: it gets the entries one by one and stays the folder it is; it is not replaced.
func TestWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	before, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := on(disk.OS{})
	for _, name := range []string{".", dir} {
		if err := errors.Join(d.Try(name, false), d.Create(name, folder("new", "a", "b/c"))); err != nil {
			t.Fatal(err)
		}
		if got := found(t, dir); !cmp.Equal(got, map[string]string{"a": "new", "b/c": "new"}) {
			t.Errorf("%v", got)
		}
		if err := d.Replace(name, folder("other", "a")); !errors.Is(err, disk.ErrBusy) {
			t.Errorf("want %v, got %v", disk.ErrBusy, err)
		}
		if err := errors.Join(os.Remove("a"), os.RemoveAll("b")); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := os.Stat("."); err != nil || !os.SameFile(before, after) {
		t.Errorf("another folder: %v", err)
	}
}

// meddling is a file system on which something happens just before a name is given.
type meddling struct {
	disk.System

	noExchange bool
	before     func()
}

func (m meddling) Exchange(a, b string) error {
	if m.noExchange {
		return errors.ErrUnsupported
	}
	m.before()
	return m.System.Exchange(a, b)
}

func (m meddling) Rename(from, to string) error {
	m.before()
	return m.System.Rename(from, to)
}

// TestFilledMeanwhile: an empty folder that somebody fills while its content is made is not replaced.
func TestFilledMeanwhile(t *testing.T) {
	t.Parallel()
	for _, noExchange := range []bool{false, true} {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		fill := sync.OnceFunc(func() { must(t, os.WriteFile(filepath.Join(out, "theirs"), []byte("x"), 0o666)) })
		err := on(meddling{disk.OS{}, noExchange, fill}).Create(out, folder("new", "a"))
		if got := found(t, dir); !errors.Is(err, disk.ErrNotEmpty) || !cmp.Equal(got, map[string]string{"out/theirs": "x"}) {
			t.Errorf("without exchange %v: %v, %v", noExchange, got, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestNothingBeside: an empty folder beside which nothing can be made, as a volume of a container, gets the entries one by one.
func TestNothingBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o777); err != nil {
		t.Fatal(err)
	}
	sys := &disktest.Faults{System: disk.OS{}, At: 1, Err: syscall.EROFS}
	if err := on(sys).Create(filepath.Join(dir, "out"), folder("new", "a")); err != nil {
		t.Fatal(err)
	}
	if got := found(t, dir); !cmp.Equal(got, map[string]string{"out/a": "new"}) {
		t.Errorf("%v", got)
	}
}

// TestModes: a file and a folder keep their permissions.
func TestModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := on(disk.OS{})
	file, out := filepath.Join(dir, "a"), filepath.Join(dir, "out")
	if err := errors.Join(d.Write(file, text("x")), d.Create(out, folder("old", "a")), os.Chmod(file, 0o666), os.Chmod(out, 0o770)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Write(file, text("y")), d.Replace(out, folder("new", "a"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{file: 0o666, out: 0o770} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: want %v, got %v, %v", name, want, info.Mode(), err)
		}
	}
}

// TestBelow: a folder that is served is not left, by names or by links.
func TestBelow(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	d := on(disk.Below(root))
	for _, name := range []string{"..", "../x", "link", "link/x", "a/../../x"} {
		if err := d.Merge(name, folder("new", "a")); err == nil {
			t.Errorf("%s: was written", name)
		}
	}
	for _, name := range []string{".", "x/y", "x/y"} {
		_ = d.Merge(name, folder("new", "a", "deploy/b"))
	}
	want := map[string]string{"a": "new", "deploy/b": "new", "x/y/a": "new", "x/y/deploy/b": "new"}
	if diff := cmp.Diff(want, found(t, dir)); diff != "" || len(found(t, outside)) > 0 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestConcurrentReplace: of runs that replace one folder at once the last wins; readers see one of them whole, and nothing is left.
func TestConcurrentReplace(t *testing.T) {
	t.Parallel()
	for _, noExchange := range []bool{false, true} {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		d := on(&disktest.Faults{System: disk.OS{}, NoExchange: noExchange})
		if err := d.Create(out, folder("0", "a", "b")); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for run := range 4 {
			wait.Go(func() {
				for range 10 {
					if err := d.Replace(out, folder(fmt.Sprint(run), "a", "b")); err != nil {
						t.Errorf("exchange %v: %v", !noExchange, err)
					}
					if !noExchange && !exists(filepath.Join(out, "a")) {
						t.Error("no folder is there")
					}
				}
			})
		}
		wait.Wait()
		if got := found(t, dir); len(got) != 2 || got["out/a"] != got["out/b"] {
			t.Errorf("%v", got)
		}
	}
}

// TestConcurrentLock: one at a time has a lock, whoever removes its file.
func TestConcurrentLock(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x.lock")
	d := on(disk.OS{})
	var holders, most, total int
	var mu sync.Mutex
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		if holders += n; n > 0 {
			total++
		}
		most = max(most, holders)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 100 {
				l, err := d.Lock(name)
				if _, held := errors.AsType[*disk.HeldError](err); held {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				count(1)
				count(-1)
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if most != 1 || total == 0 || exists(name) {
		t.Errorf("%d held the lock at once, of %d", most, total)
	}
}

// TestLock: who has it is named; the lock of a process that ended is free.
func TestLock(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x.lock")
	d := on(disk.OS{})
	if err := os.WriteFile(name, []byte("process 1 on a machine that stopped long ago, with a long name\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := d.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Lock(name)
	if held, ok := errors.AsType[*disk.HeldError](err); !ok || held.Holder != fmt.Sprintf("process %d on here", os.Getpid()) {
		t.Errorf("%v", err)
	}
	if err := l.Release(); err != nil || exists(name) {
		t.Errorf("released: %v", err)
	}
	weak, err := on(&disktest.Faults{System: disk.OS{}, NoLocks: true}).Lock(name)
	if err != nil || !weak.Weak || l.Weak {
		t.Errorf("%v", err)
	}
}

// TestLockFaults: a lock that fails leaves no file that is locked.
func TestLockFaults(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		name := filepath.Join(t.TempDir(), "x.lock")
		sys := &disktest.Faults{System: disk.OS{}, At: at, Err: syscall.EIO}
		l, err := on(sys).Lock(name)
		if sys.Failed() == "" {
			if err != nil || at < 4 {
				t.Errorf("%d operations: %v", at, err)
			}
			_ = l.Release()
			return
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", sys.Failed(), err)
		}
		if _, err := on(disk.OS{}).Lock(name); err != nil {
			t.Errorf("%s: then %v", sys.Failed(), err)
		}
	}
}
