package cli

import (
	"github.com/spf13/pflag"

	"plimsoll/internal/prices"
)

// perfData defines the flags for measured kernels.
func perfData(fs *pflag.FlagSet, r *prices.Tables) {
	fs.StringVar(&r.Dir, "perf-data", "", "measured kernel tables in AIConfigurator's layout, a `directory`; they price what they cover")
	fs.StringVar(&r.Engine, "perf-engine", "", "take the tables of one `ENGINE[@VERSION]` (default the fastest kernel of any, newest versions)")
}

// tableNotes tells the doubts about measured kernels.
func tableNotes(note func(string), u *prices.Use) {
	if u == nil {
		return
	}
	for _, n := range u.Notes() {
		note(n)
	}
}
