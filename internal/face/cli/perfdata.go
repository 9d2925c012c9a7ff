package cli

import (
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
)

// perfData defines the flags for measured kernels.
func perfData(fs *pflag.FlagSet, r *prices.Tables) {
	fs.StringVar(&r.Dir, "perf-data", "", "take operator times from a `directory` of measured kernel tables, in AIConfigurator's layout")
	fs.StringVar(&r.Engine, "perf-engine", "", "use only the tables of `ENGINE[@VERSION]` (default the fastest kernel of all engines in their newest versions)")
}

// tableNotes prints the warnings about kernel tables.
func tableNotes(note func(string), u *prices.Use) {
	if u == nil {
		return
	}
	for _, n := range u.Notes() {
		note(n)
	}
}
