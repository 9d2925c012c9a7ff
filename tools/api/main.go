// Api compares what Go programs can use of this module with docs/api.txt, the list of the last release: a line for each constant, function,
// type, field and method of the root package, and the JSON fields of what these hold. A line that is gone, or an interface that has grown, breaks programs,
// and is an error. New lines are not.
//
//	go -C tools run ./api            compare
//	go -C tools run ./api -update    write api.txt, for a release; refuses to drop lines
//	go -C tools run ./api -break     write api.txt and drop lines, for a release that breaks programs on purpose
//
// golang.org/x/exp/apidiff compares a package with its export data. The root package names types of internal packages, and apidiff
// takes two such types for equal by their names alone: a field that is gone would pass.
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const file = "docs/api.txt"

func main() {
	update := flag.Bool("update", false, "write api.txt")
	breaks := flag.Bool("break", false, "write api.txt, and drop lines")
	flag.Parse()
	if err := run("..", *update, *breaks); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

// run compares, and writes if asked to.
func run(root string, update, breaks bool) error {
	now, err := read(root)
	if err != nil {
		return err
	}
	name := filepath.Join(root, file)
	data, err := os.ReadFile(name)
	if err != nil && !(os.IsNotExist(err) && update) {
		return err
	}
	if lost := broken(strings.Split(strings.TrimSpace(string(data)), "\n"), now); len(lost) > 0 && !breaks {
		return errors.New("this breaks programs that import the package; see docs/stability.md:\n  " + strings.Join(lost, "\n  "))
	}
	if update || breaks {
		return os.WriteFile(name, []byte(strings.Join(now, "\n")+"\n"), 0o666)
	}
	return nil
}

// broken are the lines that a program may rest on and that are not there now, and methods that an interface has now.
func broken(before, now []string) []string {
	var out []string
	for _, line := range before {
		if line != "" && !slices.Contains(now, line) {
			out = append(out, "gone: "+line)
		}
	}
	for _, line := range now {
		what, _, method := strings.Cut(line, " interface, method ")
		if method && !slices.Contains(before, line) && slices.Contains(before, what+" interface") {
			out = append(out, "new: "+line)
		}
	}
	return out
}

// lister lists what can be reached.
type lister struct {
	module string
	names  map[string]string // of types in the root package, by their names inside: deployment.Role
	seen   map[*types.TypeName]bool
	lines  map[string]bool
}

// read lists the root package of the module at root.
func read(root string) ([]string, error) {
	loaded, err := packages.Load(&packages.Config{Dir: root, Mode: packages.NeedName | packages.NeedTypes | packages.NeedModule}, ".")
	if err != nil {
		return nil, err
	}
	if len(loaded) != 1 || len(loaded[0].Errors) > 0 {
		return nil, fmt.Errorf("the root package does not load: %v", loaded[0].Errors)
	}
	return list(loaded[0].Types), nil
}

// list lists a package.
func list(p *types.Package) []string {
	l := &lister{module: p.Path(), names: map[string]string{}, seen: map[*types.TypeName]bool{}, lines: map[string]bool{}}
	scope := p.Scope()
	for _, name := range scope.Names() {
		if t, ok := scope.Lookup(name).(*types.TypeName); ok && t.Exported() {
			if named, ok := types.Unalias(t.Type()).(*types.Named); ok {
				if o := named.Obj(); o.Pkg() != nil && o.Pkg() != p {
					l.names[o.Pkg().Name()+"."+o.Name()] = name
				}
			}
		}
	}
	for _, name := range scope.Names() {
		if o := scope.Lookup(name); o.Exported() {
			l.object(o)
		}
	}
	var out []string
	for line := range l.lines {
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func (l *lister) add(format string, args ...any) { l.lines[fmt.Sprintf(format, args...)] = true }

// text writes a type; the types within are listed too.
func (l *lister) text(t types.Type) string {
	l.follow(t)
	text := types.TypeString(t, func(p *types.Package) string {
		if p.Path() == l.module {
			return ""
		}
		return p.Name() // a package inside may move
	})
	return qualified.ReplaceAllStringFunc(text, func(word string) string {
		if name, ok := l.names[word]; ok {
			return name
		}
		return word
	})
}

// qualified is a name with its package.
var qualified = regexp.MustCompile(`\b[a-z]\w*\.[A-Z]\w*`)

// object lists a constant, variable, function or type.
func (l *lister) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		l.add("const %s %s = %s", o.Name(), l.text(o.Type()), o.Val())
	case *types.Var:
		l.add("var %s %s", o.Name(), l.text(o.Type()))
	case *types.Func:
		l.add("func %s%s", o.Name(), strings.TrimPrefix(l.text(o.Type()), "func"))
	case *types.TypeName:
		if o.IsAlias() {
			if text := l.text(types.Unalias(o.Type())); text != o.Name() {
				l.add("type %s = %s", o.Name(), text)
			}
		}
		l.follow(o.Type())
	}
}

// follow lists the types of this module in a type, each once.
func (l *lister) follow(t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		for i := range t.TypeArgs().Len() {
			l.follow(t.TypeArgs().At(i))
		}
		o := t.Origin().Obj()
		if o.Pkg() == nil || l.seen[o] || o.Pkg().Path() != l.module && !strings.HasPrefix(o.Pkg().Path(), l.module+"/") {
			return
		}
		l.seen[o] = true
		l.named(t.Origin())
	case *types.Pointer:
		l.follow(t.Elem())
	case *types.Slice:
		l.follow(t.Elem())
	case *types.Array:
		l.follow(t.Elem())
	case *types.Map:
		l.follow(t.Key())
		l.follow(t.Elem())
	case *types.Chan:
		l.follow(t.Elem())
	case *types.Signature:
		for v := range t.Params().Variables() {
			l.follow(v.Type())
		}
		for v := range t.Results().Variables() {
			l.follow(v.Type())
		}
	}
}

// named lists the fields and methods of a type.
func (l *lister) named(t *types.Named) {
	name := l.text(t)
	ours := !strings.Contains(name, ".")
	switch u := t.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", name)
		for i := range u.NumFields() {
			// What is not in JSON is for the program itself; of types without a name in the root package JSON is all that is promised.
			f, wire := u.Field(i), reflect.StructTag(u.Tag(i)).Get("json")
			if f.Exported() && wire != "-" && (ours || wire != "" || f.Embedded()) {
				tag := ""
				if u.Tag(i) != "" {
					tag = " `" + u.Tag(i) + "`"
				}
				l.add("type %s struct, %s %s%s", name, f.Name(), l.text(f.Type()), tag)
			}
		}
	case *types.Interface:
		l.add("type %s interface", name)
		for m := range u.Methods() {
			l.add("type %s interface, method %s%s", name, m.Name(), strings.TrimPrefix(l.text(m.Type()), "func"))
		}
		return
	default:
		l.add("type %s %s", name, l.text(u))
	}
	if !ours {
		return
	}
	set := types.NewMethodSet(types.NewPointer(t))
	for m := range set.Methods() {
		if f := m.Obj(); f.Exported() {
			l.add("method (%s) %s%s", name, f.Name(), strings.TrimPrefix(l.text(f.Type()), "func"))
		}
	}
}
