package install

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// root is the module, seen from here.
const root = "../.."

// file is a file of the module's archive.
type file struct{ path, at string }

func (f file) Path() string                 { return f.path }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(f.at) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.at) }

// published are the files of the module below a folder: all but build outputs and caches, which are not committed.
func published(t *testing.T, under, goMod string) []zip.File {
	t.Helper()
	checked, err := zip.CheckDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var out []zip.File
	for _, path := range checked.Valid {
		path, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		path = filepath.ToSlash(path)
		top, _, _ := strings.Cut(path, "/")
		if strings.HasPrefix(path, under) && !slices.Contains([]string{"bin", "dist", ".cache", ".lab"}, top) && path != "go.mod" {
			out = append(out, file{path, filepath.Join(root, path)})
		}
	}
	return append(out, file{"go.mod", goMod})
}

// proxy writes a GOPROXY with one version of the module, of which it has the files below a folder and a go.mod with an optional
// last line.
func proxy(t *testing.T, under, lastLine string) (dir string, m module.Version) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, lastLine...)
	m = module.Version{Path: modfile.ModulePath(data), Version: "v0.0.0-test"}
	dir = t.TempDir()
	versions := filepath.Join(dir, m.Path, "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]string{"Version": m.Version, "Time": "2026-01-01T00:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"list": []byte(m.Version + "\n"), m.Version + ".info": info, m.Version + ".mod": data} {
		if err := os.WriteFile(filepath.Join(versions, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var archive bytes.Buffer
	if err := zip.Create(&archive, m, published(t, under, filepath.Join(versions, m.Version+".mod"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(versions, m.Version+".zip"), archive.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, m
}

// install runs "go install" in an empty directory with an empty module cache. Dependencies come from what the module cache
// of this machine downloaded before. Paths are trimmed and there is no debug information, so that the build cache has what "make test"
// compiled; the module's own packages are compiled without optimization, which takes half the time.
func install(t *testing.T, dir string, m module.Version) (bin string, output []byte, err error) {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	downloads := filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")
	bin = t.TempDir()
	cmd := exec.Command("go", "install", "-gcflags=all=-dwarf=false", "-gcflags="+m.Path+"/...=-dwarf=false -N -l", "-ldflags=-s -w", m.Path+"/cmd/plimsoll@"+m.Version)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0",
		"GOPROXY=file://"+filepath.ToSlash(dir)+",file://"+filepath.ToSlash(downloads), "GOSUMDB=off", "GONOPROXY=", "GOPRIVATE=", "GOTOOLCHAIN=local", "GOWORK=off")
	output, err = cmd.CombinedOutput()
	return bin, output, err
}

func TestInstall(t *testing.T) {
	dir, m := proxy(t, "", "")
	bin, output, err := install(t, dir, m)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	output, err = exec.Command(filepath.Join(bin, "plimsoll"), "version").CombinedOutput()
	if err != nil || !strings.Contains(string(output), m.Version) {
		t.Errorf("want a version with %s, got %v:\n%s", m.Version, err, output)
	}
}

// A replaced module would make the program impossible to install.
func TestInstallRefusesReplacements(t *testing.T) {
	dir, m := proxy(t, "cmd/", "\nreplace github.com/spf13/pflag => ./pflag\n")
	if _, output, err := install(t, dir, m); err == nil || !strings.Contains(string(output), "replace directives") {
		t.Errorf("want an error about replace directives, got %v:\n%s", err, output)
	}
}
