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

// share makes an empty module cache that has the dependencies of this machine's, by links, and nothing of the module itself.
func share(t *testing.T, m module.Version) (dir string) {
	t.Helper()
	known, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, below := range []string{"", filepath.Join("cache", "download")} {
		from, to := filepath.Join(strings.TrimSpace(string(known)), below), filepath.Join(dir, below)
		for _, part := range strings.Split(m.Path, "/")[:2] { // a link stands for all of a host, or of an owner, but for those that the module has too
			if err := os.MkdirAll(to, 0o755); err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(from)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if name := e.Name(); name != part && name != "cache" {
					if err := os.Symlink(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
						t.Fatal(err)
					}
				}
			}
			from, to = filepath.Join(from, part), filepath.Join(to, part)
		}
	}
	return dir
}

// command runs the go command in a directory, with a module cache that [share] made. Only the proxy knows the module.
func command(t *testing.T, dir, cache, proxy string, args ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOMODCACHE="+cache, "GOFLAGS=-modcacherw -trimpath -buildvcs=false", "CGO_ENABLED=0",
		"GOPROXY=file://"+filepath.ToSlash(proxy), "GOSUMDB=off", "GONOPROXY=", "GOPRIVATE=", "GOTOOLCHAIN=local", "GOWORK=off")
	return cmd.CombinedOutput()
}

// install says what "go install" in an empty directory would run: it takes the module from the proxy, resolves what it imports and
// embeds, and stops before it compiles.
func install(t *testing.T, cache, proxy string, m module.Version) ([]byte, error) {
	t.Helper()
	return command(t, t.TempDir(), cache, proxy, "install", "-n", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", m.Path+"/cmd/plimsoll@"+m.Version)
}

// TestInstall: the program installs from the archive of the module, and what is installed runs. The archive is compiled as the main
// module, with the flags of "make test": the build cache knows every package whose files are all there.
func TestInstall(t *testing.T) {
	at, m := proxy(t, "", "")
	cache := share(t, m)
	planned, err := install(t, cache, at, m)
	if err != nil || !strings.Contains(string(planned), `mod\t`+m.Path+`\t`+m.Version) {
		t.Fatalf("want a program of version %s, got %v:\n%s", m.Version, err, planned)
	}
	bin := filepath.Join(t.TempDir(), "plimsoll")
	if output, err := command(t, filepath.Join(cache, m.Path+"@"+m.Version), cache, at, "build", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-o", bin, "./cmd/plimsoll"); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if output, err := exec.CommandContext(t.Context(), bin, "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(output), "plimsoll ") {
		t.Errorf("want a version, got %v:\n%s", err, output)
	}
}

// A replaced module would make the program impossible to install.
func TestInstallRefusesReplacements(t *testing.T) {
	at, m := proxy(t, "cmd/", "\nreplace github.com/spf13/pflag => ./pflag\n")
	if output, err := install(t, share(t, m), at, m); err == nil || !strings.Contains(string(output), "replace directives") {
		t.Errorf("want an error about replace directives, got %v:\n%s", err, output)
	}
}
