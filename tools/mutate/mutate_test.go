package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestMeasure changes a small package in every way: its tests notice all but what they do not come by or look at.
func TestMeasure(t *testing.T) {
	for seed := range uint64(3) { // a place has up to three variants, of which the seed chooses one
		o := &options{root: "testdata/sample", packages: []string{"."}, killers: []string{"."}, seed: seed, workers: 2}
		var out bytes.Buffer
		if err := measure(o, &out); err != nil {
			t.Fatal(err)
		}
		table, lived, _ := strings.Cut(out.String(), "lived:\n")
		if !strings.Contains(table, "| all | 27 | 27 | 24 | 3 | 2 | 89 % |") {
			t.Errorf("seed %d:\n%s", seed, table)
		}
		for line := range strings.Lines(lived) {
			unseen := strings.Contains(line, "sample.go:37") && strings.Contains(line, "(reached by no test)")
			unlooked := strings.Contains(line, "sample.go:40: 0 → 0 + 1")
			if !unseen && !unlooked {
				t.Errorf("seed %d: lived: %s", seed, line)
			}
		}
	}
}

func TestReadNamed(t *testing.T) {
	got, err := readNamed("# a comment\n\nfirst\n- a = 1\n+ a = 2\n\nsecond\n- - b\n+ + b\n")
	if err != nil || len(got) != 2 || got[0] != (named{"first", "a = 1", "a = 2"}) || got[1] != (named{"second", "- b", "+ b"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{"", "name\n- a\n", "name\nother\n", "- a\n+ b\n"} {
		if _, err := readNamed(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestNamedAreThere: the text of every named change is in the program, once.
func TestNamedAreThere(t *testing.T) {
	data, err := os.ReadFile("named.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := readNamed(string(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if _, _, err := c.find("../.."); err != nil {
			t.Error(err)
		}
	}
}
