package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
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
