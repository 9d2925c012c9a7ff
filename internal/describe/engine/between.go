package engine

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

// Between lists the names of a list that a release has and another has not: those that are new in it, and those that it lacks.
// Values of flags are names too ("--kv-cache-dtype=fp8").
func Between(list, from, to string) (added, removed []string) {
	for name := range releases().Names[list] {
		switch had, has := Has(list, name, from), Has(list, name, to); {
		case has && !had:
			added = append(added, name)
		case had && !has:
			removed = append(removed, name)
		}
	}
	slices.Sort(added)
	slices.Sort(removed)
	return added, removed
}

// ValuesOf are those of some names that are values of a flag or key, without it.
func ValuesOf(flag string, names []string) []string {
	var out []string
	for _, n := range names {
		if value, ok := strings.CutPrefix(n, flag+"="); ok {
			out = append(out, value)
		}
	}
	return out
}

// defaultsJSON are the defaults that flags and keys declare, by engine: the newest release whose defaults were read, and each release from
// which on a flag has a default, with it, of flags whose default changed. "" is a release without the flag, or whose default is computed.
//
//go:embed defaults.json
var defaultsJSON []byte

type declaredDefaults struct {
	Known   string
	Changed map[string][][2]string
}

//nolint:gochecknoglobals // read once, never changed
var declared = embedded.Once("engine: defaults.json", defaultsJSON, embedded.JSON[map[string]declaredDefaults])

// Redefined is a flag whose declared default differs between two releases.
type Redefined struct{ Flag, From, To string }

// Redefaulted lists the flags of an engine that two releases have with different defaults. Known is the newest release whose defaults were
// read, "" if none of the engine were.
func Redefaulted(name, from, to string) (out []Redefined, known string) {
	for flag, all := range declared()[name].Changed {
		was, now := declaredIn(all, from), declaredIn(all, to)
		if was != now && was != "" && now != "" {
			out = append(out, Redefined{flag, was, now})
		}
	}
	slices.SortFunc(out, func(a, b Redefined) int { return strings.Compare(a.Flag, b.Flag) })
	return out, declared()[name].Known
}

// declaredIn is a default in a release, "" if it has none.
func declaredIn(all [][2]string, release string) string {
	out := ""
	for _, d := range all {
		if version.Compare(d[0], release) <= 0 {
			out = d[1]
		}
	}
	return out
}
