// Package embedded reads the files that are embedded in the program, strictly and once, and lets an installation be checked.
//
// In: the embedded files of a package, by name. Out: what a reader makes of them, and hashes of a file or a folder, as "sha256sum" gives
// them. It does not know what the files mean. Start at [Once].
package embedded

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Once reads a file when it is first wanted. What it gives is shared and must not be changed. A file that cannot be read is a bug, which
// the tests of its package find.
func Once[T any](file string, data []byte, read func([]byte) (T, error)) func() T {
	return sync.OnceValue(func() T {
		out, err := read(data)
		if err != nil {
			panic(file + ": " + err.Error())
		}
		return out
	})
}

// YAML reads a file in which all keys must be known.
func YAML[T any](data []byte) (out T, err error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	err = alone(d, &out)
	return out, err
}

// JSON is the same for JSON.
func JSON[T any](data []byte) (out T, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err = alone(d, &out)
	return out, err
}

// alone reads what must be all there is.
func alone(d interface{ Decode(v any) error }, out any) error {
	if err := d.Decode(out); err != nil {
		return err
	}
	var more any
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return cmp.Or(err, errors.New("more than one document"))
	}
	return nil
}

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
