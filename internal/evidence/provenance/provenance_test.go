package provenance_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/evidence/provenance"
)

// root is the repository.
func root() fs.FS { return os.DirFS("../../..") }

// The hashes are those of the files; -update writes them.
func TestHashes(t *testing.T) {
	hashes := map[string]string{}
	for _, e := range provenance.Entries() {
		got, err := hash(root(), e.Path)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, twice := hashes[e.Path]; twice {
			t.Errorf("%s: listed twice", e.Path)
		}
		hashes[e.Path] = got
		if got != e.SHA256 && !golden.Update() {
			t.Errorf("%s: want sha256 %s, got %s: if the change is meant, \"make data\" writes the hash; say in manifest.yaml where it comes from", e.Path, e.SHA256, got)
		}
		for what, text := range map[string]string{"what": e.What, "source": e.Source, "licence": e.Licence, "made": e.Made, "date": e.Date} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: %s is missing", e.Path, what)
			}
		}
	}
	if golden.Update() && !t.Failed() {
		rewrite(t, hashes)
	}
}

// The fit's entry says what the fit's own file says of its rows, and so cannot fall behind it; -update copies it.
func TestFitsSource(t *testing.T) {
	const fit = "internal/evidence/calibration/shipped.yaml"
	data, err := fs.ReadFile(root(), fit)
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`(?m)^source: "(.+)"$`).FindSubmatch(data)
	if own == nil {
		t.Fatal("the file has no source")
	}
	for _, e := range provenance.Entries() {
		if e.Path != fit || e.Source == string(own[1]) {
			continue
		}
		if !golden.Update() {
			t.Errorf("the manifest says %q, the file %q", e.Source, own[1])
			continue
		}
		manifest, err := os.ReadFile("manifest.yaml")
		if err != nil {
			t.Fatal(err)
		}
		manifest = bytes.Replace(manifest, []byte(`"`+e.Source+`"`), []byte(`"`+string(own[1])+`"`), 1)
		if err := os.WriteFile("manifest.yaml", manifest, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// rewrite puts the hashes into the manifest.
func rewrite(t *testing.T, hashes map[string]string) {
	t.Helper()
	data, err := os.ReadFile("manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	at, lines := "", strings.SplitAfter(string(data), "\n")
	for i, line := range lines {
		if p, ok := strings.CutPrefix(line, "- path: "); ok {
			at = strings.TrimSpace(p)
		}
		if now := "  sha256: " + hashes[at] + "\n"; strings.HasPrefix(line, "  sha256: ") && line != now {
			lines[i] = now
			lines[i-1] = "  date: " + time.Now().UTC().Format(time.DateOnly) + "\n"
		}
	}
	if err := os.WriteFile("manifest.yaml", []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Every file that is embedded in the program has an entry, or stands in a directory that has.
func TestEmbeddedFilesAreListed(t *testing.T) {
	listed := map[string]bool{"internal/evidence/provenance/manifest.yaml": true}
	for _, e := range provenance.Entries() {
		listed[e.Path] = true
	}
	found := 0
	for _, file := range embedded(t) {
		if path.Dir(file) == "docs" { // texts, which no figure rests on
			continue
		}
		found++
		if !listed[file] && !listed[path.Dir(file)] {
			t.Errorf("%s is embedded and not in manifest.yaml", file)
		}
	}
	if found < 100 {
		t.Errorf("only %d embedded files were found", found)
	}
}

// embedded lists the files that go:embed directives name.
func embedded(t *testing.T) (files []string) {
	t.Helper()
	directive := regexp.MustCompile(`^//go:embed +(.+)$`)
	err := fs.WalkDir(root(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != "." {
			return fs.SkipDir
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		f, err := root().Open(name)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // it is read only
		for lines := bufio.NewScanner(f); lines.Scan(); {
			m := directive.FindStringSubmatch(lines.Text())
			if m == nil {
				continue
			}
			for pattern := range strings.FieldsSeq(m[1]) {
				files = append(files, matches(t, path.Join(path.Dir(name), pattern))...)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// matches lists the files that a pattern names, those below a directory among them.
func matches(t *testing.T, pattern string) (files []string) {
	t.Helper()
	found, err := fs.Glob(root(), pattern)
	if err != nil || len(found) == 0 {
		t.Errorf("%s names nothing: %v", pattern, err)
	}
	for _, name := range found {
		err := fs.WalkDir(root(), name, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	return files
}

// hash is the SHA-256 of a file or a directory. It is here and not in the program because it costs every start of that a
// twentieth of a millisecond.
func hash(fsys fs.FS, name string) (string, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		data, err := fs.ReadFile(fsys, name)
		return sum(data), err
	}
	files, err := fs.ReadDir(fsys, name)
	if err != nil {
		return "", err
	}
	var list bytes.Buffer
	for _, f := range files {
		data, err := fs.ReadFile(fsys, path.Join(name, f.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&list, "%s  %s\n", sum(data), f.Name())
	}
	return sum(list.Bytes()), nil
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// Hashes of the shell's sha256sum.
func TestHash(t *testing.T) {
	fsys := fstest.MapFS{"d/b": {Data: []byte("two\n")}, "d/a": {Data: []byte("one\n")}}
	for name, want := range map[string]string{
		"d/a": "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806",
		"d":   "73d931e3531f13247bbc3a0108fcd0c0ef480260a5e75980db7fa6e0bc531ac4",
	} {
		if got, err := hash(fsys, name); err != nil || got != want {
			t.Errorf("%s: want %s, got %s, %v", name, want, got, err)
		}
	}
	if _, err := hash(fsys, "nothing"); err == nil {
		t.Error("a file that is not there has a hash")
	}
}

// What the program prints, carries and explains cites nothing that is not in the repository: files of it that it names are there,
// and sections of other texts are not named, since no one could look them up.
func TestCitations(t *testing.T) {
	symbol := regexp.MustCompile(`\.[A-Z]\w*$`) // of a package
	file := regexp.MustCompile(`\b(?:docs|internal|tools|cmd|reference|seeds|shared)/[A-Za-z0-9_./*-]*[A-Za-z0-9_*-]`)
	err := fs.WalkDir(root(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "dist") {
			return fs.SkipDir
		}
		switch ext := filepath.Ext(name); {
		case d.IsDir(), strings.HasSuffix(name, "_test.go"), name == "CHANGELOG.md", name == "packaging/THIRD-PARTY.txt": // licences of others
			return nil
		case name != "NOTICE" && ext != ".go" && ext != ".md" && ext != ".yaml" && ext != ".txt" && ext != ".json":
			return nil
		}
		data, err := fs.ReadFile(root(), name)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(data), "\n") {
			if strings.Contains(line, "§") {
				t.Errorf("%s:%d: cites a section: %s", name, i+1, strings.TrimSpace(line))
			}
			for _, cited := range file.FindAllString(line, -1) {
				if found, err := fs.Glob(root(), symbol.ReplaceAllString(cited, "")); err == nil && len(found) == 0 && !elsewhere(line, cited) {
					t.Errorf("%s:%d: cites %s, which is not there", name, i+1, cited)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// elsewhere says that a path is part of a longer one, of another project or of a user's directory.
func elsewhere(line, cited string) bool {
	at := strings.Index(line, cited)
	return at > 0 && strings.ContainsRune("/.-", rune(line[at-1]))
}
