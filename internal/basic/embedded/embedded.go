// Package embedded reads the files that are embedded in the program, so that an installation can be checked.
//
// In: the embedded files of a package, by name. Out: hashes of a file or a folder, as "sha256sum" gives them. It does not know what
// the files mean. Start at [Hash].
package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Files are embedded files, by their name below the folder of their package.
type Files map[string][]byte

// With adds the files of a tree.
func (f Files) With(tree fs.FS) Files {
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f[name], err = fs.ReadFile(tree, name)
		return err
	})
	if err != nil {
		panic("embedded: " + err.Error()) // they are part of the program
	}
	return f
}

// Hash is the hash of a file, or of a folder: that of the lines "HASH  NAME" of its files in the order of their names.
func (f Files) Hash(name string) (hash string, found bool) {
	if data, ok := f[name]; ok {
		return sum(data), true
	}
	var lines []string
	for file, data := range f {
		if path.Dir(file) == name {
			lines = append(lines, fmt.Sprintf("%s  %s\n", sum(data), path.Base(file)))
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[sha256.Size*2:], b[sha256.Size*2:]) })
	return sum([]byte(strings.Join(lines, ""))), len(lines) > 0
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
