package schema

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

// TestDescriptions: the descriptions in schemas are the comments of the source. Run it with
// -update after changing the comment of a field.
func TestDescriptions(t *testing.T) {
	s, err := New(operation.Table())
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	done := map[string]bool{}
	for _, typ := range structs(s) {
		if dir := strings.TrimPrefix(typ.PkgPath(), "github.com/plimsoll-project/plimsoll/internal/"); !done[dir] {
			done[dir] = true
			comments(t, dir, words)
		}
	}
	wanted := map[string]string{}
	for _, typ := range structs(s) {
		name := typeName(typ)
		for key, text := range words {
			if key == name || strings.HasPrefix(key, name+".") {
				wanted[key] = text
			}
		}
	}
	var b bytes.Buffer
	if err := document.Encode(&b, wanted); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "descriptions.json", b.Bytes())
}

// structs are the types with schemas, and those embedded in them.
func structs(s *Set) []reflect.Type {
	seen := map[reflect.Type]bool{}
	var add func(reflect.Type)
	add = func(t reflect.Type) {
		seen[t] = true
		for f := range t.Fields() {
			if f.Anonymous && f.Type.Kind() == reflect.Struct {
				add(f.Type)
			}
		}
	}
	for t := range s.names {
		add(t)
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b reflect.Type) int { return strings.Compare(typeName(a), typeName(b)) })
}

// comments reads the comments of a package's structs.
func comments(t *testing.T, dir string, into map[string]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				typ := spec.(*ast.TypeSpec)
				if st, ok := typ.Type.(*ast.StructType); ok {
					doc := g.Doc
					if typ.Doc != nil {
						doc = typ.Doc
					}
					structComments(f.Name.Name+"."+typ.Name.Name, doc, st, into)
				}
			}
		}
	}
}

// structComments are those of one struct. A comment that names fields stands for all of
// them that have none of their own.
func structComments(name string, doc *ast.CommentGroup, st *ast.StructType, into map[string]string) {
	into[name] = tidy(doc.Text(), nil)
	fields := map[string]string{} // JSON names
	for _, f := range st.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		key, _, _ := strings.Cut(tag, ",")
		for _, n := range f.Names {
			if key != "" && key != "-" {
				fields[n.Name] = key
			}
		}
	}
	last := ""
	for _, f := range st.Fields.List {
		own := f.Doc.Text()
		if own != "" {
			last = own
		}
		for _, n := range f.Names {
			text := own
			if text == "" && regexp.MustCompile(`\b`+n.Name+`\b`).MatchString(last) {
				text = last
			}
			text = tidy(strings.TrimSpace(text+" "+f.Comment.Text()), fields)
			if _, ok := fields[n.Name]; ok && text != "" {
				into[name+"."+n.Name] = text
			}
		}
	}
}

// tidy makes one line of a comment, with fields as JSON names them.
func tidy(text string, fields map[string]string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = regexp.MustCompile(`\[([A-Za-z.]+)\]`).ReplaceAllString(text, "$1")
	text = regexp.MustCompile(`(\bnil|"") (=|is)`).ReplaceAllString(text, "left out $2")
	return regexp.MustCompile(`\b[A-Z][A-Za-z0-9]*\b`).ReplaceAllStringFunc(text, func(word string) string {
		if key, ok := fields[word]; ok {
			return key
		}
		return word
	})
}
