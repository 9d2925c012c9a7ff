package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
)

func TestEngines(t *testing.T) {
	var all []*engine.Profile
	for _, name := range engine.Names() {
		p, err := engine.LookupVersion(name, "")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	var b bytes.Buffer
	report.Engines(&b, all)
	golden.Check(t, "testdata/engines.golden", b.Bytes())
	b.Reset()
	report.Engine(&b, all[slices.Index(engine.Names(), "sglang")])
	golden.Check(t, "testdata/engine.golden", b.Bytes())
}

// TestEngineShowsEveryKey: what can be set can be seen.
func TestEngineShowsEveryKey(t *testing.T) {
	for _, name := range engine.Names() {
		versions, err := engine.Versions(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range versions {
			var b bytes.Buffer
			report.Engine(&b, p)
			for _, s := range append(p.Settings(), p.Hosts[engine.Generic].Settings()...) {
				if !strings.Contains(b.String(), "\n"+s.Key+" ") {
					t.Errorf("%s %s: no line for %s", name, p.Versions, s.Key)
				}
			}
			for line := range strings.Lines(b.String()) {
				if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
					t.Errorf("%s: blanks at the end of %q", name, line)
				}
			}
		}
	}
}
