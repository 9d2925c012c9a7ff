package main

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"slices"

	"golang.org/x/tools/go/packages"
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

// list loads packages in the root of the module.
func list(root string, mode packages.LoadMode, tests bool, patterns []string) ([]*packages.Package, error) {
	mode |= packages.NeedName | packages.NeedFiles | packages.NeedImports
	all, err := packages.Load(&packages.Config{Mode: mode, Dir: root, Tests: tests}, patterns...)
	for _, p := range all {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
	}
	return all, err
}

// load parses and type-checks the packages to change.
func load(o *options) ([]*target, error) {
	all, err := list(o.root, packages.NeedSyntax|packages.NeedTypes|packages.NeedTypesInfo, false, o.packages)
	if err != nil {
		return nil, err
	}
	var out []*target
	for _, p := range all {
		t := &target{path: p.PkgPath, dir: p.Dir, fset: p.Fset, pkg: p.Types, info: p.TypesInfo}
		for _, syntax := range p.Syntax {
			f := &source{name: p.Fset.Position(syntax.Package).Filename, syntax: syntax}
			if f.text, err = os.ReadFile(f.name); err != nil {
				return nil, err
			}
			t.files = append(t.files, f)
		}
		out = append(out, t)
	}
	return out, nil
}

// usesRapid reports whether tests of a package draw at random.
func usesRapid(path string, all []*packages.Package) bool {
	return slices.ContainsFunc(all, func(p *packages.Package) bool {
		return p.ForTest == path && p.Imports["pgregory.net/rapid"] != nil
	})
}
