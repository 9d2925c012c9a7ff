package cli_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk/disktest"
)

// TestSweepKilled: a sweep that was killed at any byte of its journal goes on to the same table.
func TestSweepKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(file(name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		t.Helper()
		data, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	sweep := func(args ...string) {
		t.Helper()
		if _, code, wrong := tryIn(dir, nil, append([]string{"sweep", "grid.yaml", "-q"}, args...)); code != 0 || wrong != "" {
			t.Fatalf("%v: exit %d: %s", args, code, wrong)
		}
	}
	write("grid.yaml", []byte("ask: predict\nmodels: [Qwen/Qwen3-8B]\nsystems: [h200_sxm]\nworkloads: [{isl: 64, osl: 8}]\nconcurrency: [1, 2, 3, 4]\nwith: {num_prompts: 8}\n"))
	sweep("--shard", "0/2", "--out", "whole.csv")
	whole := read("whole.part-0-of-2.jsonl")
	heading := bytes.IndexByte(whole, '\n') + 1
	for _, cut := range []int{0, 1, heading - 1, heading, heading + 1, len(whole) / 2, len(whole) - 1, len(whole)} {
		write("cut.part-0-of-2.jsonl.journal", whole[:cut])
		sweep("--shard", "0/2", "--out", "cut.csv")
		if !bytes.Equal(read("cut.part-0-of-2.jsonl"), whole) {
			t.Errorf("cut at byte %d of %d: another part", cut, len(whole))
		}
		if _, err := os.Stat(file("cut.part-0-of-2.jsonl.journal")); err == nil {
			t.Error("the journal is still there")
		}
		if err := os.Remove(file("cut.part-0-of-2.jsonl")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSweepLocked: of two sweeps of one table the second is refused and names the first; a lock that nobody holds is taken over.
func TestSweepLocked(t *testing.T) {
	t.Parallel()
	l := newLaboratory(t)
	dir := t.TempDir()
	for args, name := range map[string]string{"": "table.csv", "--shard 0/2": "table.part-0-of-2.jsonl"} {
		line := append(strings.Fields("sweep -q --out table.csv "+args), filepath.Join(l.inputs, "grid.yaml"))
		d := &disk.Disk{Sys: disk.OS{}, Host: "node7", Now: time.Now}
		lock, err := d.Lock(filepath.Join(dir, name+".lock"))
		if err != nil {
			t.Fatal(err)
		}
		before, _ := files(t, dir)
		o := l.runs(dir, nil, line...)
		want := fmt.Sprintf("plimsoll: error: --out %s: process %d on node7 is writing it\n", name, os.Getpid())
		if after, _ := files(t, dir); o.code != cli.ExitFailure || o.talk != want || !maps.Equal(before, after) {
			t.Errorf("%s: exit %d: %s", name, o.code, o.talk)
		}
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
		must(t, filepath.Join(dir, name+".lock"), "process 1 on node7\n", 0o600)
		if o := l.runs(dir, nil, line...); o.code != 0 {
			t.Errorf("%s: exit %d: %s", name, o.code, o.talk)
		}
		if after, left := files(t, dir); after[name] == "" || after[name+".lock"] != "" || len(left) > 0 {
			t.Errorf("%s: %v", name, slices.Sorted(maps.Keys(after)))
		}
	}
	// A file system without locks is said to have none.
	o := l.runs(dir, &disktest.Faults{System: disk.OS{}, NoLocks: true}, "sweep", filepath.Join(l.inputs, "grid.yaml"), "--out", "weak.csv")
	if want := "plimsoll: note: the file system has no locks: do not run the sweep of weak.csv twice at once\n"; o.code != 0 || !strings.Contains(o.talk, want) {
		t.Errorf("exit %d: %s", o.code, o.talk)
	}
}
