package arch_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const prefix = "plimsoll/internal/"

// rules is layers.txt: the line each package stands on, and what it must never import.
type rules struct {
	layer map[string]int
	never map[string][]string
}

func readRules(t *testing.T) rules {
	text, err := os.ReadFile("layers.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := rules{map[string]int{}, map[string][]string{}}
	for n, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(line, "#"):
		case words[0] == "!":
			r.never[words[1]] = words[2:]
		default:
			for _, pkg := range words {
				if _, twice := r.layer[pkg]; twice {
					t.Errorf("layers.txt:%d: %s is listed twice", n+1, pkg)
				}
				r.layer[pkg] = n + 1
			}
		}
	}
	return r
}

// check says what is wrong with one import, or "".
func (r rules) check(from, to string) string {
	for pkg := from; pkg != "."; pkg = path.Dir(pkg) {
		if slices.Contains(r.never[pkg], to) {
			return "must never meet"
		}
	}
	if r.layer[from] <= r.layer[to] {
		return "points back: layers.txt puts the imported package beside or after it"
	}
	return ""
}

func TestImportsPointOneWay(t *testing.T) {
	rules := readRules(t)
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		pkg := path.Dir(name)
		if rules.layer[pkg] == 0 {
			t.Errorf("%s: package %s has no place in layers.txt", name, pkg)
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path.Join("..", name), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if to, ours := strings.CutPrefix(imported, prefix); ours {
				if wrong := rules.check(pkg, to); wrong != "" {
					t.Errorf("%s: %s → %s %s", name, pkg, to, wrong)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRulesFire(t *testing.T) {
	rules := readRules(t)
	for _, bad := range [][2]string{
		{"op", "step"}, {"graph", "device"}, {"cost", "model"}, {"cost/roofline", "graph"}, {"nargs", "golden"},
	} {
		if rules.check(bad[0], bad[1]) == "" {
			t.Errorf("%s → %s: want a refusal", bad[0], bad[1])
		}
	}
	if wrong := rules.check("step", "graph"); wrong != "" {
		t.Errorf("step → graph: want silence, got %q", wrong)
	}
}
