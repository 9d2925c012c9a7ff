package report_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
)

// TestRulesPage: docs/lint.md lists the rules of the code. Run it with -update after changing one.
func TestRulesPage(t *testing.T) {
	const page = "../../../docs/lint.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	rulesPage(&table)
	marked := regexp.MustCompile("(?s)<!-- rules -->\n.*<!-- end -->")
	if !marked.Match(text) {
		t.Fatalf("%s has no place for the rules", page)
	}
	golden.Check(t, page, marked.ReplaceAllLiteral(text, []byte("<!-- rules -->\n"+table.String()+"<!-- end -->")))
}

// rulesPage is the part of docs/lint.md that lists the codes.
func rulesPage(w io.Writer) {
	fmt.Fprintln(w, "| code | finding | severity | `--fix` |\n|---|---|---|---|")
	for _, r := range lint.Rules() {
		fixed := ""
		if r.Fixed {
			fixed = "yes"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", r.Code, r.Title, r.Severity, fixed)
	}
}
