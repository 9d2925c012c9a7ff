package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPythonVersion(t *testing.T) {
	for given, want := range map[string]string{
		"1.2.3": "1.2.3", "v1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3rc1", "1.2.3-beta2": "1.2.3b2", "1.2.3+build": "1.2.3",
		"0.1.0-snapshot.gABC123": "0.1.0.dev0+snapshot.gabc123",
	} {
		if got, err := pythonVersion(given); err != nil || got != want {
			t.Errorf("%s: want %s, got %s (%v)", given, want, got, err)
		}
	}
	for _, given := range []string{"", "1.2", "latest", "1.2.3-"} {
		if got, err := pythonVersion(given); err == nil {
			t.Errorf("%q gives %s", given, got)
		}
	}
}

// inputs are a folder like goreleaser's, with a Go binary for each Linux platform: this test's own.
func inputs(t *testing.T) (dist string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dist = t.TempDir()
	for _, dir := range []string{"plimsoll_linux_amd64_v1", "plimsoll_linux_arm64_v8.0"} {
		if err := os.MkdirAll(filepath.Join(dist, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dist, dir, "plimsoll"), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dist
}

// A wheel has the package, the program as a script that may be run, and a record of every file; two of them are equal.
func TestWheel(t *testing.T) {
	dist := inputs(t)
	var sums [2][32]byte
	for i := range sums {
		dir := t.TempDir()
		if err := writeWheel("../../python", filepath.Join(dist, "plimsoll_linux_amd64_v1/plimsoll"), "linux", "amd64", "1.2.3", dir, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "plimsoll-1.2.3-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(data)
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]os.FileMode{}
		for _, f := range z.File {
			names[f.Name] = f.Mode()
		}
		for _, want := range []string{
			"plimsoll/__init__.py", "plimsoll/__main__.py", "plimsoll/types.py", "plimsoll/py.typed", "plimsoll-1.2.3.dist-info/METADATA",
			"plimsoll-1.2.3.dist-info/licenses/THIRD-PARTY.txt", "plimsoll-1.2.3.dist-info/RECORD",
		} {
			if _, ok := names[want]; !ok {
				t.Errorf("no %s in %v", want, names)
			}
		}
		if mode := names["plimsoll-1.2.3.data/scripts/plimsoll"]; mode&0o111 == 0 {
			t.Errorf("the program has mode %v", mode)
		}
		if last := z.File[len(z.File)-1].Name; !strings.HasSuffix(last, "RECORD") {
			t.Errorf("the last file is %s", last)
		}
	}
	if sums[0] != sums[1] {
		t.Error("two wheels differ")
	}
	if err := writeWheel("../../python", "none", "plan9", "amd64", "1.2.3", dist, time.Time{}); err == nil {
		t.Error("a wheel for plan9")
	}
}

// The image has the program for both platforms, unpacks to it, and is the same each time.
func TestImage(t *testing.T) {
	dist := inputs(t)
	t.Chdir("../..") // licences are found from below the repository
	one, two := filepath.Join(dist, "one"), filepath.Join(dist, "two")
	for _, dir := range []string{one, two} {
		if err := writeImage(dist, "1.2.3", dir, time.Unix(1e9, 0).UTC()); err != nil {
			t.Fatal(err)
		}
	}
	a, err := os.ReadFile(filepath.Join(one, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(two, "index.json")); err != nil || !bytes.Equal(a, b) {
		t.Errorf("two images differ: %s, %s (%v)", a, b, err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		into := filepath.Join(dist, "files-"+arch)
		if err := unpackImage(one, arch, into); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Join(into, "usr/bin/plimsoll")); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v", arch, info, err)
		}
		if _, err := os.Stat(filepath.Join(into, "usr/share/doc/plimsoll/THIRD-PARTY.txt")); err != nil {
			t.Error(err)
		}
	}
	if err := unpackImage(one, "riscv64", filepath.Join(dist, "none")); err == nil {
		t.Error("an image for riscv64")
	}
}

func TestBinaryOf(t *testing.T) {
	dist := inputs(t)
	for name, want := range map[string]string{
		"plimsoll_1.2.3_linux_amd64.tar.gz": "plimsoll_linux_amd64_v1",
		"plimsoll_1.2.3_linux_arm64.deb":    "plimsoll_linux_arm64_v8.0",
		"plimsoll-1.2.3-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl": "plimsoll_linux_arm64_v8.0",
	} {
		if got, err := binaryOf(filepath.Join(dist, name)); err != nil || filepath.Base(filepath.Dir(got)) != want {
			t.Errorf("%s: want %s, got %s (%v)", name, want, got, err)
		}
	}
	for _, name := range []string{"plimsoll.tar.gz", "plimsoll_1.2.3_windows_amd64.zip"} {
		if got, err := binaryOf(filepath.Join(dist, name)); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}
