package web_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"plimsoll/internal/document"
	"plimsoll/internal/golden"
	"plimsoll/internal/web"
)

// plan is the record that the tests show.
func plan(t testing.TB) *document.Plan {
	t.Helper()
	data, err := os.ReadFile("testdata/plan.json")
	if err != nil {
		t.Fatal(err)
	}
	p := &document.Plan{}
	if err := json.Unmarshal(data, p); err != nil {
		t.Fatal(err)
	}
	return p
}

func report(t testing.TB, p *document.Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := web.Report(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReport(t *testing.T) {
	golden.Check(t, "testdata/report.html", report(t, plan(t)))
}
