package engine

import (
	"slices"
	"strings"
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
