package arch_test

import (
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the package in the module's root; layers.txt calls it so, and the
// packages under internal by their path there.
const root = "plimsoll"

// split is the storey with packages on both sides of the operations: a policy below
// them, formats of files above.
const split = "compat"

const (
	module = "github.com/plimsoll-project/plimsoll"
	prefix = module + "/internal/"
)

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

// checkFile holds the imports of a package's file to the rules.
func (r rules) checkFile(t *testing.T, pkg, file string) {
	t.Helper()
	if strings.HasSuffix(file, "_test.go") {
		return
	}
	if r.layer[pkg] == 0 {
		t.Errorf("%s: package %s has no place in layers.txt", file, pkg)
		return
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		to, _ := strconv.Unquote(spec.Path.Value)
		inner, ours := strings.CutPrefix(to, prefix)
		switch {
		case to == module:
			inner = root
		case !ours:
			continue
		}
		if wrong := r.check(pkg, inner); wrong != "" {
			t.Errorf("%s: %s → %s %s", file, pkg, inner, wrong)
		}
	}
}

func TestImportsPointOneWay(t *testing.T) {
	rules := readRules(t)
	files, err := filepath.Glob("../../*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("the root package has %d files (%v)", len(files), err)
	}
	for _, file := range files {
		rules.checkFile(t, root, file)
	}
	err = fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".go") {
			rules.checkFile(t, path.Dir(name), filepath.Join("..", name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A listed package exists, and the packages of a storey stand together. The root package
// stands among the faces: the command is written on it.
func TestEveryListedPackageExists(t *testing.T) {
	rules := readRules(t)
	names := slices.SortedFunc(maps.Keys(rules.layer), func(a, b string) int {
		return cmp.Or(cmp.Compare(rules.layer[a], rules.layer[b]), cmp.Compare(a, b))
	})
	var storeys []string
	for _, name := range names {
		if name == root {
			continue
		}
		if files, err := filepath.Glob(filepath.Join("..", name, "*.go")); err != nil || len(files) == 0 {
			t.Errorf("layers.txt: package %s does not exist", name)
		}
		storey, _, _ := strings.Cut(name, "/")
		if n := len(storeys); n == 0 || storeys[n-1] != storey {
			if slices.Contains(storeys, storey) && storey != split {
				t.Errorf("layers.txt: %s stands apart from the other packages of %s", name, storey)
			}
			storeys = append(storeys, storey)
		}
	}
}

func TestRulesFire(t *testing.T) {
	rules := readRules(t)
	for _, bad := range [][2]string{
		{"cost/op", "cost/step"},
		{"cost/graph", "describe/device"},
		{"cost/graph", "compat/tensorcast"},
		{"cost/roofline", "describe/model"},
		{"cost/roofline", "cost/graph"},
		{"basic/nargs", "basic/golden"},
		{"serve/sim", "describe/model"},
		{"ops", root},
		{"face/report", root},
		{"face/http", root},
		{root, "face/cli"},
		{root, "face/report"},
	} {
		if rules.check(bad[0], bad[1]) == "" {
			t.Errorf("%s → %s: want a refusal", bad[0], bad[1])
		}
	}
	for _, good := range [][2]string{{"cost/step", "cost/graph"}, {root, "ops"}, {"face/cli", root}} {
		if wrong := rules.check(good[0], good[1]); wrong != "" {
			t.Errorf("%s → %s: want silence, got %q", good[0], good[1], wrong)
		}
	}
}
