package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"hash/fnv"
	"path"
	"slices"
	"strings"
)

// mutant is one small change of the program.
type mutant struct {
	key    string // stays the same while the function does
	rank   uint64 // its place in the sample
	id     int    // its number in this run, from one
	pkg    string
	file   *source
	where  string // file and line
	change string // what it says, and what instead
	node   ast.Node
	// wrap is the source of the node with the switch around it. text is the source of a part of it.
	wrap func(id int, text func(ast.Node) string) string
}

// finder collects the changes of one package.
type finder struct {
	*target
	seed  uint64
	file  *source
	stack []ast.Node
	seen  map[string]int
	out   []*mutant
}

// find lists one change for every place of a package that has any.
func find(t *target, seed uint64) []*mutant {
	f := &finder{target: t, seed: seed, seen: map[string]int{}}
	for _, s := range t.files {
		f.file = s
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if n == nil {
				f.stack = f.stack[:len(f.stack)-1]
				return false
			}
			if f.idle(n) {
				return false
			}
			f.stack = append(f.stack, n)
			f.visit(n)
			return true
		})
	}
	return f.out
}

// variant is one way to change a place.
type variant struct {
	what string // instead of the source
	wrap func(id int, text func(ast.Node) string) string
}

// add offers the variants of a place; the seed chooses one.
func (f *finder) add(n ast.Node, variants ...variant) {
	if len(variants) == 0 {
		return
	}
	at := f.fset.Position(n.Pos())
	was := f.source(n)
	name := f.function() + " " + was
	f.seen[name]++
	h := fnv.New64a()
	fmt.Fprint(h, f.seed, path.Base(f.path), name, f.seen[name])
	sum := mix(h.Sum64())
	v := variants[sum%uint64(len(variants))]
	f.out = append(f.out, &mutant{
		key: fmt.Sprintf("%08x", uint32(sum>>32)), rank: mix(sum), pkg: f.path, file: f.file, node: n, wrap: v.wrap,
		where: fmt.Sprintf("%s:%d", at.Filename, at.Line), change: was + " → " + v.what,
	})
}

// mix spreads the bits of a hash (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// source is the text of a node on one line.
func (f *finder) source(n ast.Node) string {
	return strings.Join(strings.Fields(string(f.file.text[f.offset(n.Pos()):f.offset(n.End())])), " ")
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }

// function names the function around the place, with its receiver.
func (f *finder) function() string {
	for _, n := range f.stack {
		if d, ok := n.(*ast.FuncDecl); ok && d.Recv != nil {
			return types.ExprString(d.Recv.List[0].Type) + "." + d.Name.Name
		} else if ok {
			return d.Name.Name
		}
	}
	return ""
}

// idle tells what no test can be asked to see: constants where they are declared (they are changed where they are used),
// types, labels of cases and keys of literals, which must be constant; capacities; the words of errors and logs.
func (f *finder) idle(n ast.Node) bool {
	var parent ast.Node
	if len(f.stack) > 0 {
		parent = f.stack[len(f.stack)-1]
	}
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.VAR
	case *ast.FuncDecl:
		return slices.Contains([]string{"String", "Error", "Hint"}, n.Name.Name)
	case *ast.FuncType, *ast.ArrayType, *ast.StructType:
		return true
	case *ast.CallExpr:
		return f.idleCall(n)
	}
	switch p := parent.(type) {
	case *ast.CaseClause:
		e, ok := n.(ast.Expr)
		return ok && slices.Contains(p.List, e) && f.info.Types[e].Value != nil
	case *ast.KeyValueExpr:
		return n == p.Key
	case *ast.CallExpr:
		e, ok := n.(ast.Expr)
		return ok && f.idleArgument(p, slices.Index(p.Args, e))
	}
	return false
}

func (f *finder) idleCall(c *ast.CallExpr) bool {
	switch name := f.callee(c); {
	case name == "panic", name == "math.Inf", strings.HasPrefix(name, "strconv."), strings.HasSuffix(name, ".say"):
		return true
	}
	return false
}

// idleArgument tells the arguments that are printed, and capacities.
func (f *finder) idleArgument(c *ast.CallExpr, i int) bool {
	if f.callee(c) == "make" {
		_, slice := f.info.TypeOf(c.Args[0]).Underlying().(*types.Slice)
		return i == 2 || i == 1 && !slice
	}
	s, ok := f.info.TypeOf(c.Fun).(*types.Signature)
	if !ok || !s.Variadic() || i < s.Params().Len()-1 {
		return false
	}
	last, ok := s.Params().At(s.Params().Len() - 1).Type().(*types.Slice)
	if !ok {
		return false
	}
	printed, ok := last.Elem().Underlying().(*types.Interface)
	return ok && printed.Empty()
}

// callee names what is called: "make", "math.Min", "doctor.doubt".
func (f *finder) callee(c *ast.CallExpr) string {
	var o types.Object
	switch fun := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		o = f.info.Uses[fun]
	case *ast.SelectorExpr:
		o = f.info.Uses[fun.Sel]
		if s := f.info.Selections[fun]; s != nil {
			recv := types.TypeString(s.Recv(), func(*types.Package) string { return "" })
			return strings.TrimPrefix(recv, "*") + "." + o.Name()
		}
	}
	if o == nil {
		return ""
	}
	if o.Pkg() == nil || o.Pkg() == f.pkg {
		return o.Name()
	}
	return o.Pkg().Path() + "." + o.Name()
}

// numeric tells numbers, and among them those with a fraction.
func numeric(t types.Type) (number, fraction bool) {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0 && b.Info()&types.IsComplex == 0, ok && b.Info()&types.IsFloat != 0
}

// isEnum tells types whose values only name things.
func isEnum(t types.Type) bool {
	_, named := t.(*types.Named)
	number, fraction := numeric(t)
	return named && number && !fraction
}

// typeName is a type as the file can write it.
func (f *finder) typeName(t types.Type) (string, bool) {
	ok := true
	name := types.TypeString(t, func(p *types.Package) string {
		if p == f.pkg {
			return ""
		}
		for _, i := range f.file.syntax.Imports {
			if strings.Trim(i.Path.Value, `"`) == p.Path() {
				if i.Name != nil {
					return i.Name.Name
				}
				return p.Name()
			}
		}
		ok = false
		return ""
	})
	return name, ok
}

// whole reports an integer constant, which a boundary may well hit.
func whole(v constant.Value) bool { return v != nil && constant.ToInt(v).Kind() == constant.Int }
