package measured_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// TestLaboratory: who published a row, and whose recipes are known.
func TestLaboratory(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]struct {
		name     string
		familiar bool
	}{
		"gpustack/gpustack:docs/x.md@1 | 2": {"gpustack/gpustack", false}, "source_file=2026-04-06.csv; model=x": {"source_file=2026-04-06.csv; model=x", true},
		"inferencex-db-dump/2026-07-20; config_id=1": {"inferencex-db-dump/2026-07-20; config_id=1", true}, "": {"", false},
	} {
		r := measured.Row{Source: source}
		if r.Laboratory() != want.name || r.Familiar() != want.familiar {
			t.Errorf("%q: %q, %v", source, r.Laboratory(), r.Familiar())
		}
	}
}
