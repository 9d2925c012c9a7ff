package cli

import (
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/ask"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Flags of commands whose requests have no table of fields.

// typed defines fields that several operations have as flags.
func typed(into *pflag.FlagSet, add func(*ask.Table)) {
	t := ask.New()
	add(t)
	t.Flags(into)
}

// asFamily defines the flag of commands that take a model.
func asFamily(fs *pflag.FlagSet, dst *string) {
	typed(fs, func(t *ask.Table) { session.AskFamily(t, dst) })
}

// calibration defines the flag that replaces the shipped calibration.
func calibration(fs *pflag.FlagSet, dst *string, what string) {
	typed(fs, func(t *ask.Table) { session.AskCalibration(t, dst, what) })
}

// perfData defines the flags for measured kernels.
func perfData(fs *pflag.FlagSet, r *prices.Tables) {
	typed(fs, func(t *ask.Table) { session.AskPerfData(t, r) })
}

// limitVar defines a flag of a limit in milliseconds.
func limitVar(fs *pflag.FlagSet, to *units.Seconds, name, usage string) {
	typed(fs, func(t *ask.Table) { ask.One(t, to, name, ask.Limit, usage) })
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
