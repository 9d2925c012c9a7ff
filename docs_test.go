package plimsoll_test

import (
	"bytes"
	"fmt"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
)

// TestGoAPIPage: docs/go-api.md shows the examples of this package, which run as tests. Run it with -update after changing
// one.
func TestGoAPIPage(t *testing.T) {
	t.Parallel()
	const page = "docs/go-api.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := examples(t)
	shown := regexp.MustCompile("(?s)<!-- example ([A-Za-z_]+) -->\n.*?<!-- end -->").ReplaceAllFunc(text, func(old []byte) []byte {
		name := strings.Fields(string(old))[2]
		block, ok := blocks[name]
		if !ok {
			t.Errorf("%s shows Example%s, which does not exist", page, name)
		}
		delete(blocks, name)
		return fmt.Appendf(nil, "<!-- example %s -->\n%s<!-- end -->", name, block)
	})
	for name := range blocks {
		if strings.HasPrefix(name, "Planner_") {
			t.Errorf("%s does not show Example%s", page, name)
		}
	}
	golden.Check(t, page, shown)
}

// examples are the programs of example_test.go with what they print, by name.
func examples(t *testing.T) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "example_test.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range doc.Examples(file) {
		var b bytes.Buffer
		if err := format.Node(&b, fset, e.Code); err != nil {
			t.Fatal(err)
		}
		code, _, _ := strings.Cut(b.String(), "\t// Output:")
		code = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(code), "}"), "{\n"), "\n\t", "\n")
		out[e.Name] = fmt.Sprintf("```go\n%s\n```\n\n```text\n%s\n```\n", strings.TrimSpace(code), strings.TrimSpace(e.Output))
	}
	return out
}
