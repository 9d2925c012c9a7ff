package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
)

// recorder is a test that notes its failure instead of failing.
type recorder struct {
	testing.TB

	said string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.said = fmt.Sprintf(format, args...) }

func TestCheck(t *testing.T) {
	if golden.Update() {
		return // there is nothing to compare while files are rewritten
	}
	file := filepath.Join(t.TempDir(), "x.golden")
	if err := os.WriteFile(file, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var same, other recorder
	golden.Check(&same, file, []byte("one\n"))
	golden.Check(&other, file, []byte("two\n"))
	if same.said != "" {
		t.Errorf("same bytes: want silence, got %q", same.said)
	}
	if !strings.Contains(other.said, "one") || !strings.Contains(other.said, "two") {
		t.Errorf("other bytes: want a diff, got %q", other.said)
	}
}
