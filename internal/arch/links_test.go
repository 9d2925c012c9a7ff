package arch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// TestLinks: every relative link of the README, the changelog, the documentation
// and the skill leads to a file, and to a heading of it where it names one.
func TestLinks(t *testing.T) {
	t.Parallel()
	const top = "../.."
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "skills/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	links := 0
	for _, page := range pages {
		for _, target := range linksOf(read(t, page)) {
			links++
			name, anchor, _ := strings.Cut(target, "#")
			file := page
			if name != "" {
				file = filepath.Join(filepath.Dir(page), filepath.FromSlash(name))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, target)
				continue
			}
			if anchor != "" && !anchorsOf(read(t, file))[anchor] {
				t.Errorf("%s: the link %s names a heading that is not there", page, target)
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links in %d pages, want at least 100", links, len(pages))
	}
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	got := anchorsOf("# One word\n## `plimsoll plan`: what, why?\n### One word\n```\n# no heading\n```\n## A_b – c [d](e.md)\n")
	for _, want := range []string{"one-word", "plimsoll-plan-what-why", "one-word-1", "a_b--c-d"} {
		if !got[want] {
			t.Errorf("no %q in %v", want, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("want 4 anchors, got %v", got)
	}
}

// linksOf returns the relative targets of a page's links and images.
func linksOf(page string) []string {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	var targets []string
	for _, line := range prose(page) {
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			if !strings.Contains(m[1], "://") && !strings.HasPrefix(m[1], "mailto:") {
				targets = append(targets, m[1])
			}
		}
	}
	return targets
}

// anchorsOf returns the anchors that code hosts give the headings of a page:
// lower case, spaces as hyphens, no punctuation, and a number if one repeats.
func anchorsOf(page string) map[string]bool {
	anchors := map[string]bool{}
	text := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	for _, line := range prose(page) {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(text.ReplaceAllString(title, "$1")))
		for n, free := 1, anchor; ; n++ {
			if !anchors[free] {
				anchors[free] = true
				break
			}
			free = anchor + "-" + string(rune('0'+n))
		}
	}
	return anchors
}

// prose returns the lines of a page outside code blocks.
func prose(page string) []string {
	var lines []string
	code := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			code = !code
		} else if !code {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
