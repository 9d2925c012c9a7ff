package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// named is a change written down: a text that stands once in the program, and what to put there.
type named struct{ name, old, new string }

// readNamed reads changes: a line with the name, one that begins with "-" and one with "+"; "#" begins a comment.
func readNamed(text string) ([]named, error) {
	var out []named
	for n, line := range strings.Split(text, "\n") {
		last := len(out) - 1
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case line[0] == '-' && last >= 0 && out[last].old == "":
			out[last].old = strings.TrimSpace(line[1:])
		case line[0] == '+' && last >= 0 && out[last].old != "" && out[last].new == "":
			out[last].new = strings.TrimSpace(line[1:])
		case last >= 0 && out[last].new == "":
			return nil, fmt.Errorf("line %d: %s: want a line with - and one with +", n+1, out[last].name)
		default:
			out = append(out, named{name: strings.TrimSpace(line)})
		}
	}
	if n := len(out); n == 0 || out[n-1].new == "" {
		return nil, errors.New("want changes: a name, a line with - and one with +")
	}
	return out, nil
}

// find is the one file of the packages that holds the old text, and its text.
func (c *named) find(root string) (file, text string, err error) {
	err = filepath.WalkDir(filepath.Join(root, "internal"), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(name)
		if n := strings.Count(string(data), c.old); n > 1 || n == 1 && file != "" {
			return fmt.Errorf("%s: %q occurs in more than one place", c.name, c.old)
		} else if n == 1 {
			file, text = name, string(data)
		}
		return err
	})
	if err == nil && file == "" {
		err = fmt.Errorf("%s: %q does not occur in the program", c.name, c.old)
	}
	return file, text, err
}

// tryNamed tries every change of a file on the tests of the killers.
func tryNamed(o *options, w io.Writer) error {
	data, err := os.ReadFile(o.named)
	if err != nil {
		return err
	}
	all, err := readNamed(string(data))
	if err != nil {
		return fmt.Errorf("%s: %w", o.named, err)
	}
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	killed := 0
	for _, c := range all {
		by, err := c.try(o, root)
		switch {
		case err != nil:
			return err
		case by == "":
			by = "LIVED"
		default:
			killed++
		}
		fmt.Fprintf(w, "%s: %s\n", c.name, by)
	}
	fmt.Fprintf(w, "%d of %d killed\n", killed, len(all))
	return nil
}

// try returns the package whose tests notice the change.
func (c *named) try(o *options, root string) (string, error) {
	file, text, err := c.find(root)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	changed := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(changed, []byte(strings.Replace(text, c.old, c.new, 1)), 0o666); err != nil {
		return "", err
	}
	overlay, err := writeOverlay(dir, map[string]string{file: changed})
	if err != nil {
		return "", err
	}
	for _, path := range o.killers {
		one := *o
		one.killers = []string{path}
		built, err := build(&one, dir, overlay)
		if err != nil {
			return "", fmt.Errorf("%s: %w", c.name, err)
		}
		for _, k := range built {
			if _, ok := k.run(time.Hour, ""); !ok {
				return k.path, nil
			}
		}
	}
	return "", nil
}
