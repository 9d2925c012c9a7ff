package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// made builds the site of this repository, and an older version beside it.
func made(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	for _, name := range []string{"v0", "dev"} {
		if n, err := build(".", "../..", out, name); err != nil || n < 30 {
			t.Fatalf("%d pages: %v", n, err)
		}
	}
	return out
}

func get(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestLinks: every link, picture, style and script of every page is there, headings too, and nothing is loaded from elsewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	out := made(t)
	link := regexp.MustCompile(`(href|src)="([^"]*)"`)
	pages, links := 0, 0
	err := filepath.WalkDir(out, func(name string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".html" {
			return err
		}
		pages++
		for _, m := range link.FindAllStringSubmatch(get(t, name), -1) {
			to, anchor, _ := strings.Cut(m[2], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				if m[1] == "src" {
					t.Errorf("%s loads %s", name, to)
				}
				continue
			}
			links++
			target := name
			if to != "" {
				target = filepath.Join(filepath.Dir(name), to)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", name, m[2])
				continue
			}
			if anchor != "" && strings.HasSuffix(target, ".html") && !strings.Contains(get(t, target), `id="`+anchor+`"`) {
				t.Errorf("%s: %s names a heading that is not there", name, m[2])
			}
		}
		return nil
	})
	if err != nil || pages < 60 || links < 1000 {
		t.Errorf("%d pages, %d links, %v", pages, links, err)
	}
	for _, file := range []string{"site.css", "site.js"} {
		if strings.Contains(get(t, filepath.Join(out, "dev", file)), "://") {
			t.Errorf("%s loads something", file)
		}
	}
}

// TestFinds: every page is in the navigation and in the search, and versions are listed.
func TestFinds(t *testing.T) {
	t.Parallel()
	out := made(t)
	index, first := get(t, filepath.Join(out, "dev/search.js")), get(t, filepath.Join(out, "dev/index.html"))
	for _, page := range []string{"index.html", "docs/plan.html", "docs/sweep.html", "docs/accuracy.html", "CHANGELOG.html"} {
		if !strings.Contains(index, `"p":"`+page+`"`) || !strings.Contains(first, `href="`+page+`"`) {
			t.Errorf("%s is not listed", page)
		}
	}
	if !strings.Contains(index, "JOB_COMPLETION_INDEX") {
		t.Error("the text of docs/sweep.md cannot be found")
	}
	if got := get(t, filepath.Join(out, "versions.js")); got != "window.plimsollVersions=[\"dev\",\"v0\"];\n" {
		t.Errorf("versions: %s", got)
	}
}

// TestCommandsAreRun: a command with its output is on a page whose commands a test of the program runs (TestReadme of face/cli): the README
// and docs.
func TestCommandsAreRun(t *testing.T) {
	t.Parallel()
	pages, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, p := range pages {
		n := strings.Count(get(t, filepath.Join("../..", p.Source)), "```console\n$ ")
		shown += n
		if run := p.Source == "README.md" || strings.HasPrefix(p.Source, "docs/"); n > 0 && !run {
			t.Errorf("nobody runs the commands of %s", p.Source)
		}
	}
	if shown < 20 {
		t.Errorf("the pages show %d commands", shown)
	}
}

// TestRefuses: a link that leads nowhere and a heading that is not there are errors.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[a](b.md)":             "the link b.md leads nowhere",
		"# A\n[a](#b)":          "no heading #b",
		"![a](none.png)":        "the link none.png leads nowhere",
		"[a](../../etc/passwd)": "leaves the repository",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := build(".", dir, t.TempDir(), "dev"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want %q, got %v", text, want, err)
		}
	}
	if _, err := build(".", "../..", t.TempDir(), "../x"); err == nil {
		t.Error("a version outside of the site")
	}
}
