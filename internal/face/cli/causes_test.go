package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk/disktest"
)

// cause is why something cannot be written.
type cause struct {
	name   string
	of     []string          // the kinds of output that it concerns
	out    string            // the output, where it is not that of the writer
	before map[string]string // files that are there; OUT is the output, and a name with a slash at its end a folder
	fault  *disktest.Faults
	code   int
	reason string
}

// causes are those of every writer.
func causes() []cause {
	all := []string{"file", "folder", "home"}
	first := func(err error) *disktest.Faults { return &disktest.Faults{System: disk.OS{}, At: 1, Err: err} }
	return []cause{
		{name: "exists", of: []string{"folder"}, before: map[string]string{"OUT/x": "x"}, code: cli.ExitUsage, reason: "is not empty; --force replaces it"},
		{name: "is a file", of: []string{"folder", "home"}, before: map[string]string{"OUT": "x"}, code: cli.ExitUsage, reason: "is a file"},
		{name: "is a directory", of: []string{"file"}, before: map[string]string{"OUT/": ""}, code: cli.ExitUsage, reason: "is a directory"},
		{name: "no folder", of: []string{"file"}, out: "no/OUT", code: cli.ExitUsage, reason: "the folder no does not exist"},
		{name: "below a file", of: all, out: "x/OUT", before: map[string]string{"x": "x"}, code: cli.ExitUsage, reason: "not a directory"},
		{name: "long name", of: all, out: strings.Repeat("x", 300) + "OUT", code: cli.ExitUsage, reason: "file name too long"},
		{name: "not writable", of: all, fault: first(syscall.EACCES), code: cli.ExitUsage, reason: "permission denied"},
		{name: "read-only", of: all, fault: first(syscall.EROFS), code: cli.ExitUsage, reason: "read-only file system"},
		{name: "full", of: all, fault: &disktest.Faults{System: disk.OS{}, Full: true, Err: syscall.ENOSPC}, code: cli.ExitFailure, reason: "no space left on device"},
		{name: "broken", of: all, fault: first(syscall.EIO), code: cli.ExitFailure, reason: "input/output error"},
	}
}

// TestWriterCauses: the same cause has the same line, with the flag that was typed, and the same exit status in every command,
// before it works; and nothing is written.
func TestWriterCauses(t *testing.T) {
	t.Parallel()
	l := newLaboratory(t)
	for _, w := range writers() {
		if w.flag == "--fix" { // its file was read before
			continue
		}
		t.Run(w.name(), func(t *testing.T) {
			t.Parallel()
			for _, c := range causes() {
				if slices.Contains(c.of, w.kind) && (!w.derived || c.name != "is a directory") {
					w.refuses(t, l, c)
				}
			}
		})
	}
}

// refuses runs a writer that cannot write.
func (w *writer) refuses(t *testing.T, l *laboratory, c cause) {
	t.Helper()
	dir := t.TempDir()
	out := w.out
	if c.out != "" {
		out = strings.ReplaceAll(c.out, "OUT", w.out)
	}
	for name, text := range c.before {
		name = filepath.Join(dir, strings.ReplaceAll(name, "OUT", out))
		if text == "" {
			if err := os.Mkdir(name, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		must(t, name, text, 0o600)
	}
	before, _ := files(t, dir)
	var sys disk.System
	if c.fault != nil {
		sys = &disktest.Faults{System: c.fault.System, At: c.fault.At, Err: c.fault.Err, Full: c.fault.Full}
	}
	o := l.runs(dir, sys, w.plain(l.inputs, out)...)
	want := w.flag + " " + out + ": " + c.reason
	if w.derived && len(o.errors) == 1 { // the file of a shard
		want = strings.ReplaceAll(want, "s.csv", "s.part-1-of-2.jsonl")
	}
	if d := cmp.Diff([]string{want}, o.errors); d != "" || o.code != c.code || o.out != "" || len(o.unexplained) > 0 {
		t.Errorf("%s: exit %d, want %d; answer %q; errors (-want +got):\n%s", c.name, o.code, c.code, o.out, d)
	}
	after, left := files(t, dir)
	if d := cmp.Diff(before, after); d != "" || len(left) > 0 {
		t.Errorf("%s: left %v, files (-before +after):\n%s", c.name, left, d)
	}
}

// TestWritersAreAll: every flag that names an output is tried before the command runs, and is tested as a writer.
func TestWritersAreAll(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, w := range writers() {
		tested[strings.TrimPrefix(w.name(), "version ")] = true
	}
	marked, said := cli.Outputs()
	for _, name := range marked {
		short := strings.TrimPrefix(name, "plimsoll ")
		for alias, full := range map[string]string{"throughput-optimizer": "optimize", "explain": "optimize", "help": "help sweep"} {
			short = strings.Replace(short, alias+" --", full+" --", 1)
		}
		if !tested[short] {
			t.Errorf("%s is not among the writers", name)
		}
	}
	tries := []string{"mcp --dir", "sweep --out"} // a sweep on a cluster is tried where it runs; agents name folders later
	slices.Sort(said)
	if d := cmp.Diff(tries, said); d != "" {
		t.Errorf("flags that write without being tried (-want +got):\n%s", d)
	}
}
