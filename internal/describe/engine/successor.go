package engine

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
)

//go:embed successors.yaml
var successorsFile []byte

// successor is an entry of the file, which says what its fields mean.
type successor struct {
	Flag   string
	To     []string
	One    string
	Values map[string]string
	Drops  []string
	Named  bool
}

//nolint:gochecknoglobals // read once, never changed
var successors = embedded.Once("engine: successors.yaml", successorsFile, embedded.YAML[map[string][]successor])

// Successor is what a release has instead of a flag or key that is gone.
type Successor struct {
	// Name is the flag or key, "" for nothing; with "=" and a value it takes none of the old ones.
	Name string
	// Named says that it stands for more than this flag, and is for people to write.
	Named bool
}

// Succeeds is the successor of a flag or key of a list with some values, in a release that does not have it any more.
func Succeeds(list, name, release string, values []string) Successor {
	for _, s := range successors()[list] {
		if s.Flag != name {
			continue
		}
		to := s.to(list, release, len(values))
		word := strings.Join(values, " ")
		switch value, other := s.Values[word]; {
		case slices.Contains(s.Drops, word):
			return Successor{}
		case to == "":
		case other:
			return Successor{to + "=" + value, s.Named}
		default:
			return Successor{to, s.Named}
		}
	}
	return Successor{}
}

// to is the first flag or key that a release has.
func (s *successor) to(list, release string, values int) string {
	all := s.To
	if s.One != "" && values == 1 {
		all = []string{s.One}
	}
	for _, to := range all {
		name, _, _ := strings.Cut(to, "=")
		if flag, _, field := strings.Cut(name, "."); field && strings.HasPrefix(name, "-") { // a field of JSON
			name = flag
		}
		if Spans(list, name) != nil && Has(list, name, release) {
			return to
		}
	}
	return ""
}
