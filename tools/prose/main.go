// Prose finds phrases in the texts of this repository that have a better form: in comments and strings of Go, and in pages.
//
//	go -C tools run ./prose
//	go -C tools run ./prose -words FILE
//
// The phrases are listed in tools/prose/words.txt. Code blocks of pages are left out: the program prints them.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", "..", "the repository")
	words := flag.String("words", "prose/words.txt", "the phrases, and what to write instead")
	flag.Parse()
	n, err := run(os.DirFS(*root), *words)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	}
	if n > 0 {
		fmt.Fprintf(os.Stderr, "prose: %d phrases of %s to replace\n", n, *words)
		os.Exit(1)
	}
}

// run prints the phrases of a list that stand in a tree, and returns how many do.
func run(root fs.FS, words string) (int, error) {
	text, err := os.ReadFile(words)
	if err != nil {
		return 0, err
	}
	phrases, err := parse(string(text))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", words, err)
	}
	found, err := check(root, phrases)
	for _, f := range found {
		fmt.Println(f)
	}
	return len(found), err
}

// Finding is a phrase in a text.
type Finding struct {
	Path string
	Line int
	Text string // as it stands there
	Use  string
}

// String is the finding as compilers print theirs.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %q: write %s", f.Path, f.Line, f.Text, f.Use)
}

// check finds phrases in all files of a tree that people write and read.
func check(root fs.FS, phrases []Phrase) ([]Finding, error) {
	var out []Finding
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && path != "." || slices.Contains([]string{"testdata", "bin", "uplot"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		split := splitter(path)
		if split == nil {
			return nil
		}
		source, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		texts, err := split(path, source)
		if err != nil {
			return err
		}
		for _, t := range texts {
			out = append(out, t.find(path, phrases)...)
		}
		return nil
	})
	return out, err
}

// splitter is what takes the texts out of a file, nil for files without any.
func splitter(path string) func(path string, source []byte) ([]Text, error) {
	switch filepath.Ext(path) {
	case ".go":
		return goTexts
	case ".md":
		return page
	case ".json":
		if strings.HasSuffix(path, "/text/en.json") {
			return whole
		}
	}
	return nil
}
