// Package golden compares what a test produced with a file kept beside it.
//
// In: a test, a file and the bytes it should hold. Out: a failed test with a diff, or with -update a rewritten file.
// It does not know what the bytes are. Start at [Check]. Only tests import it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A flag of the test binary has to exist before the testing package parses its command line.
//
//nolint:gochecknoglobals // see above
var update = flag.Bool("update", false, "rewrite golden files with what the tests produce")

// Update reports whether golden files are being rewritten.
func Update() bool { return *update }

// Check fails the test if got differs from the file, named relative to the test's directory ("testdata/x.golden").
func Check(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}
