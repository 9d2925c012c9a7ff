// Api compares what Go programs can use of this module with docs/api.txt, the list of the last release: a line for each constant, function,
// type, field and method of the root package. A line that is gone, or an interface that has grown, breaks programs, and is an error; so is a
// signature with a type of an internal package. New lines are not.
//
//	go -C tools run ./api            compare
//	go -C tools run ./api -update    write api.txt, for a release; refuses to drop lines
//	go -C tools run ./api -break     write api.txt and drop lines, for a release that breaks programs on purpose
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
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
	if inside := internal(now); len(inside) > 0 {
		return errors.New("programs cannot name these types:\n  " + strings.Join(inside, "\n  "))
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

// lister lists a package.
type lister struct {
	module string
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
	l := &lister{module: p.Path(), lines: map[string]bool{}}
	scope := p.Scope()
	for _, name := range scope.Names() {
		if o := scope.Lookup(name); o.Exported() {
			l.object(o)
		}
	}
	return slices.Sorted(maps.Keys(l.lines))
}

// internal are the lines with a type of a package of this module that others cannot import.
func internal(lines []string) []string {
	var out []string
	for _, line := range lines {
		if strings.Contains(line, "/internal/") {
			out = append(out, "internal: "+line)
		}
	}
	return out
}

func (l *lister) add(format string, args ...any) { l.lines[fmt.Sprintf(format, args...)] = true }

// text writes a type; those of other packages of this module by their paths.
func (l *lister) text(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		switch {
		case p.Path() == l.module:
			return ""
		case strings.HasPrefix(p.Path(), l.module+"/"):
			return p.Path()
		}
		return p.Name()
	})
}

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
			l.add("type %s = %s", o.Name(), l.text(types.Unalias(o.Type())))
			return
		}
		l.named(o.Type().(*types.Named))
	}
}

// named lists the fields and methods of a type.
func (l *lister) named(t *types.Named) {
	name := l.text(t)
	switch u := t.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", name)
		for i := range u.NumFields() {
			if f := u.Field(i); f.Exported() {
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
	set := types.NewMethodSet(types.NewPointer(t))
	for m := range set.Methods() {
		if f := m.Obj(); f.Exported() {
			l.add("method (%s) %s%s", name, f.Name(), strings.TrimPrefix(l.text(f.Type()), "func"))
		}
	}
}
