package engine

import (
	_ "embed"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

//go:embed reworked.yaml
var reworkedFile []byte

// Reworked is what an engine does differently from a release on with a flag or key that keeps its name, or with none: "" for what no flag
// sets.
type Reworked struct {
	Flag   string `json:"flag,omitempty"`
	Since  string `json:"since"`
	What   string `json:"what"`
	Source string `json:"source"`

	Except []string `json:"-"` // engines that run the server and do not do it
}

// reworked are those that are known, by engine.
//
//nolint:gochecknoglobals // read once, never changed
var reworked = embedded.Once("engine: reworked.yaml", reworkedFile, embedded.YAML[map[string][]Reworked])

// ReworkedBetween lists what changed for an engine, and for the server it runs, after one release up to another.
func ReworkedBetween(name, from, to string) []Reworked {
	all := reworked()[name]
	if server := Server(name); server != name {
		all = slices.Concat(all, reworked()[server])
	}
	var out []Reworked
	for _, r := range all {
		if !slices.Contains(r.Except, name) && version.Compare(from, r.Since) < 0 && version.Compare(r.Since, to) <= 0 {
			out = append(out, r)
		}
	}
	return out
}
