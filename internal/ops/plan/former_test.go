package plan_test

import (
	"os"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// Records that earlier builds wrote are read, for as long as docs/stability.md promises; testdata has one of each number, as it was
// written, shortened.
func TestReadsFormerRecords(t *testing.T) {
	data, err := os.ReadFile("testdata/plan-2.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if p.Request.Model != "Qwen/Qwen3-32B-FP8" || p.Request.Devices != 32 || len(p.Contenders) != 2 || p.Contenders[0].Tokens.Value <= 0 || len(p.Contenders[0].Run.Pools) == 0 {
		t.Errorf("read as %+v", p.Request)
	}
	for schema, want := range map[string]string{
		"plimsoll/plan/3": "newer release", "plimsoll/plan/1": "before the first release", "plimsoll/plan/0": "want schema", "plimsoll/step/1": "want schema", "plimsoll/plan/": "want schema", "": "want schema",
	} {
		_, err := plan.Read([]byte(strings.Replace(string(data), "plimsoll/plan/2", schema, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error with %q, got %v", schema, want, err)
		}
	}
}
