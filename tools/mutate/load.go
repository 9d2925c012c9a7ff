package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// target is a package to change.
type target struct {
	path, dir string
	fset      *token.FileSet
	files     []*source
	pkg       *types.Package
	info      *types.Info
}

// source is one of its files.
type source struct {
	name   string // absolute
	text   []byte
	syntax *ast.File
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	TestImports             []string
	XTestImports            []string
}

// list calls go list in the root of the module.
func list(root string, args ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, errs.Bytes())
	}
	var all []listed
	for dec := json.NewDecoder(&out); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// load parses and type-checks the packages to change.
func load(o *options) ([]*target, error) {
	all, err := list(o.root, append([]string{"-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, o.packages...)...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var out []*target
	for _, p := range all {
		if p.DepOnly {
			continue
		}
		t := &target{path: p.ImportPath, dir: p.Dir, fset: fset}
		if err := t.check(p.GoFiles, imports); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func (t *target) check(names []string, imports types.Importer) error {
	var syntax []*ast.File
	for _, name := range names {
		f := &source{name: filepath.Join(t.dir, name)}
		var err error
		if f.text, err = os.ReadFile(f.name); err != nil {
			return err
		}
		if f.syntax, err = parser.ParseFile(t.fset, f.name, f.text, parser.SkipObjectResolution); err != nil {
			return err
		}
		t.files, syntax = append(t.files, f), append(syntax, f.syntax)
	}
	t.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{Importer: imports}
	var err error
	t.pkg, err = config.Check(t.path, t.fset, syntax, t.info)
	return err
}
