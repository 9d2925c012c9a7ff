package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/tools/notices/linked"
)

const root = "../.."

// The committed file is what the module cache and the data say today.
func TestNoticesAreComplete(t *testing.T) {
	want, err := write(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date: run \"go -C tools run ./notices\"", file)
	}
	for _, must := range []string{"github.com/spf13/cobra", "uPlot", "SIL OPEN FONT LICENSE", "AIConfigurator's kernel tables", "The Go Authors"} {
		if !strings.Contains(want, must) {
			t.Errorf("%s does not name %q", file, must)
		}
	}
}

// Every licence allows a binary under the Apache License: none asks for more than its text and notices.
func TestLicencesArePermissive(t *testing.T) {
	known := []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "OFL-1.1", "Unlicense", "CC0-1.0"}
	modules, err := linked.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 30 {
		t.Errorf("only %d modules", len(modules))
	}
	for _, m := range modules {
		for _, l := range m.Licences {
			if !slices.Contains(known, l) {
				t.Errorf("%s: licence %s is not one of %v", m.Path, l, known)
			}
		}
	}
}
