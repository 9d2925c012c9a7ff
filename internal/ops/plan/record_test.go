package plan

import (
	"strings"
	"testing"
)

// TestReadPlan: a record whose request has a field that does not exist is refused, other fields may be of another release.
func TestReadPlan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"schema":"plimsoll/plan/2","new":1,"request":{"model":"m","limits":{"tpot_ms":9}}}`:  "",
		`{"schema":"plimsoll/plan/2","request":{"model":"m","limits":{"tpot":9}}}`:             "request of the plan: unknown field limits.tpot with value 9; nearest: tpot_ms",
		`{"schema":"plimsoll/plan/2","request":{"model":"m","workloads":[{"isl":1,"ols":2}]}}`: "request of the plan: unknown field workloads[0].ols with value 2; nearest: osl",
		`{"schema":"plimsoll/plan/2"}`:              "there is no request",
		`{"schema":"plimsoll/plan/9","request":{}}`: "newer release",
		`[]`: "not a plan",
	} {
		_, err := Read([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", text, want, err)
		}
	}
}

// FuzzRead: no record makes the reader panic, and what it reads is a plan.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"schema":"plimsoll/plan/2","request":{"model":"m","limits":{"tpot_ms":9}}}`, `{"schema":"plimsoll/plan/2","contenders":[{"name":"x","gpus":1e3}],"request":{}}`, `{"schema":"x/1","request":null}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := Read(data); (p == nil) == (err == nil) || err == nil && !strings.HasPrefix(p.Schema, "plimsoll/plan/") {
			t.Errorf("%q: %v, %v", data, p, err)
		}
	})
}
