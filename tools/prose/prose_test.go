package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestCheck: phrases are found in comments, strings and pages, across lines, at their lines; not in code, names, code blocks or
// test data.
func TestCheck(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go": {Data: []byte(`// Package a is
// blurted what
// to do.
package a

/* Is blurted. */
const x = "nothing\nis blurted here" + "is-blurted" + ` + "`it is\n blurted`" + `

func isBlurted() {} // Is blurtedx.
`)},
		"docs/b.md":           {Data: []byte("The user\nis blurted.\n\n```\nis blurted\n```\n\n    is blurted\n\nIt *is blurted* twice.\n")},
		"a/testdata/c.md":     {Data: []byte("is blurted")},
		".cache/d.md":         {Data: []byte("is blurted")},
		"a/e.txt":             {Data: []byte("is blurted")},
		"internal/a/ok_md.go": {Data: []byte("// Package ok says what it knows.\npackage ok\n")},
	}
	phrases, err := parse("# a comment\n\n(is|are) blurted => an active verb\n")
	if err != nil {
		t.Fatal(err)
	}
	found, err := check(tree, phrases)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.String())
	}
	want := []string{
		`a/a.go:1: "is blurted": write an active verb`, `a/a.go:6: "Is blurted": write an active verb`, `a/a.go:7: "is blurted": write an active verb`,
		`a/a.go:7: "is blurted": write an active verb`, `docs/b.md:2: "is blurted": write an active verb`, `docs/b.md:10: "is blurted": write an active verb`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestParse: a list says where it is wrong.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{"a\nb => c": `line 1: want PHRASE => BETTER, got "a"`, "\n(x => y": "line 2: "} {
		if _, err := parse(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
