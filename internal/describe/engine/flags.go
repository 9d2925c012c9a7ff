package engine

import (
	"embed"
	"strings"
)

// flagLists hold the flags of the engines' servers, one to a line with the releases
// between which they were seen: "--name since until". They are printed by the
// engines' own parsers (tools/flagcheck).
//
//go:embed flags/*.txt
var flagLists embed.FS

// Flags lists the flags of an engine's server with the range of releases that have each,
// among the releases examined; nil if there is no list.
func Flags(name string) []Named {
	data, err := flagLists.ReadFile("flags/" + name + ".txt")
	if err != nil {
		return nil
	}
	var out []Named
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		n := Named{Name: words[0]}
		for i, to := range []*string{&n.Versions.Since, &n.Versions.Until} {
			if i+1 < len(words) && words[i+1] != "-" {
				*to = words[i+1]
			}
		}
		out = append(out, n)
	}
	return out
}

// Keys lists the keys of an engine's config file as paths, in the same way. A path that
// ends with ".*" accepts anything below it.
func Keys(name string) []Named { return Flags(name + "-keys") }
