package report_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
)

// TestRulesPage: docs/lint.md lists the rules of the code. Run it with -update after changing one.
func TestRulesPage(t *testing.T) {
	const page = "../../../docs/lint.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	report.RulesPage(&table)
	marked := regexp.MustCompile("(?s)<!-- rules -->\n.*<!-- end -->")
	if !marked.Match(text) {
		t.Fatalf("%s has no place for the rules", page)
	}
	golden.Check(t, page, marked.ReplaceAllLiteral(text, []byte("<!-- rules -->\n"+table.String()+"<!-- end -->")))
}

// TestPatch: what is printed is what "patch" takes, by the rules of the unified form.
func TestPatch(t *testing.T) {
	lines := func(s string) string { return strings.ReplaceAll(s, " ", "\n") + "\n" }
	for _, c := range []struct{ before, after, want string }{
		{"a b c", "a x c", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"a", "a b", "@@ -1,1 +1,2 @@\n a\n+b\n"},
		{"1 2 3 4 5 6 7 8 9", "1 2 3 4 x 6 7 8 9", "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
		{"a 2 3 4 5 6 7 8 9 b", "x 2 3 4 5 6 7 8 9 y", "@@ -1,4 +1,4 @@\n-a\n+x\n 2\n 3\n 4\n@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-b\n+y\n"},
		{"a 2 3 4 b", "x 2 3 4 y", "@@ -1,5 +1,5 @@\n-a\n+x\n 2\n 3\n 4\n-b\n+y\n"},
		{"a b c d", "a d", "@@ -1,4 +1,2 @@\n a\n-b\n-c\n d\n"},
	} {
		var out bytes.Buffer
		report.Patch(&out, "f", lines(c.before), lines(c.after))
		if got := strings.TrimPrefix(out.String(), "--- a/f\n+++ b/f\n"); got != c.want {
			t.Errorf("%s to %s: want\n%s\ngot\n%s", c.before, c.after, c.want, got)
		}
	}
}
