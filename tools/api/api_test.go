package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// check makes the list of a package.
func check(t *testing.T, source string) []string {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "p.go", "package p\n"+source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{Importer: importer.Default()}).Check("p", files, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return list(p)
}

func TestBroken(t *testing.T) {
	const before = `
type A struct { X int; Y *B; z int }
type B struct { N string }
type I interface { F() }
func (A) M(b B) error { return nil }
func New(n int) *A { return nil }
const C = 1
`
	tests := []struct{ what, old, new, want string }{
		{"nothing", "", "", ""},
		{"a new field", "X int;", "X int; W int;", ""},
		{"a private field", "z int", "", ""},
		{"a field is gone", "X int;", "", "gone: type A struct, X int"},
		{"a field of a reached type changes", "N string", "N int", "gone: type B struct, N string"},
		{"a tag changes", "N string", "N string `json:\"n\"`", "gone: type B struct, N string"},
		{"a parameter changes", "n int", "n int64", "gone: func New(n int) *A"},
		{"a method is gone", "func (A) M(b B) error { return nil }", "", "gone: method (A) M(b B) error"},
		{"a constant changes", "C = 1", "C = 2", "gone: const C untyped int = 1"},
		{"an interface grows", "F()", "F(); G()", "new: type I interface, method G()"},
	}
	for _, tt := range tests {
		got := broken(check(t, before), check(t, strings.Replace(before, tt.old, tt.new, 1)))
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s: want %q, got %q", tt.what, tt.want, got)
		}
	}
	if !slices.Contains(check(t, before), "type A struct, Y *B") {
		t.Errorf("got %q", check(t, before))
	}
}
