package measured

import (
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
)

// Familiar reports whether a row is from a source of the shipped fit, which names them.
func (r *Row) Familiar() bool { return calibration.Shipped().Familiar(r.Source) }

// Laboratory is who published a row: its source without what follows a colon, the file and the day.
func (r *Row) Laboratory() string {
	name, _, _ := strings.Cut(r.Source, ":")
	return strings.TrimSpace(name)
}

// Provenance names whose row it is: a source of the shipped fit by its name there, others by their laboratory.
func (r *Row) Provenance() string {
	if name := calibration.Shipped().SourceNamed(r.Source); name != "" {
		return name
	}
	if name := r.Laboratory(); name != "" {
		return name
	}
	return "a source without a name"
}

// rig is whose machine a row was measured on, "" where the recipes are known or nothing is said of the source.
func (r *Row) rig() string {
	if r.Familiar() {
		return ""
	}
	return r.Laboratory()
}
