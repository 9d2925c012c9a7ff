// Package provenance says where the embedded data of the program and the data of its tests come from.
//
// In: manifest.yaml, one entry for each file or directory of data. Out: what an entry is, its source, its licence, the command
// that makes it again and a hash of it as it is in this build. It does not know what the data mean. A test holds the hashes to
// the files, and every embedded file to the manifest. Start at [Entries].
package provenance

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
)

//go:embed manifest.yaml
var manifest []byte

// Entry is a file of data, or a directory of such files.
type Entry struct {
	Path    string `yaml:"path" json:"path"`
	What    string `yaml:"what" json:"what"`
	Source  string `yaml:"source" json:"source"`
	Licence string `yaml:"licence" json:"licence"`
	// Made is the command that makes it again, or how it was written.
	Made string `yaml:"made" json:"made"`
	// Date is the day it last changed.
	Date string `yaml:"date" json:"date"`
	// SHA256 is the hash of a file, or of a directory: that of the lines "HASH  NAME" of its files in the order of their
	// names, as "sha256sum * | sha256sum" computes it.
	SHA256 string `yaml:"sha256" json:"sha256"`
}

//nolint:gochecknoglobals // read once, never changed
var entries = embedded.Once("provenance: manifest.yaml", manifest, embedded.YAML[[]Entry])

// Entries lists the data.
func Entries() []Entry { return slices.Clone(entries()) }

// Shipped lists the data behind predictions: without those of tests and tools, and the texts of faces.
func Shipped() []Entry {
	return slices.DeleteFunc(Entries(), func(e Entry) bool {
		return strings.Contains(e.Path, "/testdata") || strings.HasPrefix(e.Path, "internal/face/") || !strings.HasPrefix(e.Path, "internal/")
	})
}
