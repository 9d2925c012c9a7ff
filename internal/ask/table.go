package ask

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

// Table is the fields of a request, in the order in which help and command lines have them.
type Table struct {
	facts    map[any]field.Facts // of the fields of structs, by address
	fields   []*Field
	argument *Field
	section  string
}

// New is an empty table for the fields of these structs, whose tags say what is allowed in them.
func New(structs ...any) *Table {
	t := &Table{facts: map[any]field.Facts{}}
	for _, s := range structs {
		t.learn(reflect.ValueOf(s).Elem())
	}
	return t
}

// learn keeps the facts of the fields of a struct and of the structs in it.
func (t *Table) learn(s reflect.Value) {
	for f, v := range s.Fields() {
		if !f.IsExported() {
			continue
		}
		if f.Type.Kind() == reflect.Struct {
			t.learn(v)
		}
		t.facts[v.Addr().Interface()] = field.FactsOf(f)
	}
}

// In begins a section of help: the fields that are added next stand in it.
func (t *Table) In(section string) { t.section = section }

// Field is a field of a request as it is typed.
type Field struct {
	Name    string // of its flag
	Section string // of help
	Meaning string // for help; a word in back quotes names the value

	value   value
	dst     any      // where the value is
	untyped []string // the words of its value before anything is typed
	facts   field.Facts
	arity   nargs.Arity
	alone   string // what the flag means without a value, "" if it needs one
	letter  string // a short name
	always  bool   // also its default is written
	shown   *string
	flag    *pflag.Flag // nil until it is on a command line
}

// value reads and writes the value of a field.
type value interface {
	pflag.Value
	words() []string        // as typed; nil = not said
	checked() reflect.Value // what the facts of the field are about
}

// Shown says what help shows as the default, where it is not what the field holds: "" shows none.
func (f *Field) Shown(text string) *Field {
	f.shown = &text
	return f
}

// Always says the field on every command line, also where it has its default.
func (f *Field) Always() *Field {
	f.always = true
	return f
}

// Short adds a name of one letter.
func (f *Field) Short(letter string) *Field {
	f.letter = letter
	return f
}

// Optional lets the value be left out: the flag then means alone.
func (f *Field) Optional(alone string) *Field {
	f.alone = alone
	return f
}

// As is the field as messages know it.
func (f *Field) As() field.Name { return field.Name(strings.ReplaceAll(f.Name, "-", "_")) }

// Given reports whether the field was typed.
func (f *Field) Given() bool { return f.flag != nil && f.flag.Changed }

func (t *Table) add(dst any, name, meaning string, arity nargs.Arity, v value) *Field {
	f := &Field{Name: name, Section: t.section, Meaning: meaning, value: v, dst: dst, untyped: v.words(), facts: t.facts[dst], arity: arity}
	t.fields = append(t.fields, f)
	return f
}

// One adds a field of one value. What it holds is its default.
func One[T any](t *Table, dst *T, name string, of Type[T], meaning string) *Field {
	return t.add(dst, name, meaning, "", &one[T]{dst, of})
}

// Maybe adds a field of one value that means something else when it is not given than when it is 0.
func Maybe[T any](t *Table, dst **T, name string, of Type[T], meaning string) *Field {
	return t.add(dst, name, meaning, "", &maybe[T]{dst, of})
}

// List adds a field of one value or several.
func List[T any](t *Table, dst *[]T, name string, of Type[T], meaning string) *Field {
	return t.add(dst, name, meaning, nargs.OneOrMore, &list[T]{dst: dst, of: of})
}

// AnyList is [List] of a field whose list may be empty, which is not the same as none.
func AnyList[T any](t *Table, dst *[]T, name string, of Type[T], meaning string) *Field {
	return t.add(dst, name, meaning, nargs.ZeroOrMore, &list[T]{dst: dst, of: of})
}

// Switch adds a field that is on or off.
func Switch(t *Table, dst *bool, name, meaning string) *Field {
	return Choice(t, dst, name, true, false, meaning)
}

// Choice adds a switch that chooses one of the values of a field: on, or off where "--name=false" is typed. Two switches of one field
// exclude each other.
func Choice[T comparable](t *Table, dst *T, name string, on, off T, meaning string) *Field {
	return t.add(dst, name, meaning, "", &choice[T]{dst, on, off})
}

// Mark is a word that turns a switch on.
type Mark struct {
	Word string
	On   *bool
}

// Marks adds a field that lists which of some switches are on.
func Marks(t *Table, name string, all []Mark, meaning string) *Field {
	return t.add(nil, name, meaning, nargs.ZeroOrMore, &marks{all: all})
}

// Argument adds the field that is typed without a flag.
func (t *Table) Argument(dst *string) {
	t.argument = &Field{value: &one[string]{dst, Text}, dst: dst}
}

// Flags defines the fields of some sections as flags, of all without one. A flag that fs has already stays as it is: a command may read
// a field in its own way.
func (t *Table) Flags(fs *pflag.FlagSet, sections ...string) {
	for _, f := range t.fields {
		if f.flag != nil || len(sections) > 0 && !slices.Contains(sections, f.Section) {
			continue
		}
		if f.flag = fs.Lookup(f.Name); f.flag == nil {
			f.flag = f.define(fs)
		}
	}
}

func (f *Field) define(fs *pflag.FlagSet) *pflag.Flag {
	flag := fs.VarPF(f.value, f.Name, f.letter, f.Meaning)
	if f.arity != "" {
		nargs.Mark(flag, f.arity)
	}
	if _, is := f.value.(interface{ IsBoolFlag() bool }); is {
		flag.NoOptDefVal = "true"
	}
	if f.alone != "" {
		nargs.MarkOptional(flag, f.alone)
	}
	if f.shown != nil {
		flag.DefValue = *f.shown
	}
	return flag
}

// Each visits the fields that have flags.
func (t *Table) Each(visit func(*Field)) {
	for _, f := range t.fields {
		visit(f)
	}
}

// Field is the field of a flag.
func (t *Table) Field(name string) *Field {
	i := slices.IndexFunc(t.fields, func(f *Field) bool { return f.Name == name })
	if i < 0 {
		panic("ask: no field " + name)
	}
	return t.fields[i]
}

// Given reports whether a field was typed.
func (t *Table) Given(name string) bool { return t.Field(name).Given() }

// First is the first of some fields that was typed, "" for none.
func (t *Table) First(names ...string) (first field.Name) {
	for _, name := range names {
		if f := t.Field(name); f.Given() {
			return f.As()
		}
	}
	return first
}

// Check reports typed values that are not allowed in their fields, and choices that exclude each other.
func (t *Table) Check() error {
	var errs []error
	chosen := map[any]*Field{}
	for _, f := range t.fields {
		if !f.Given() {
			continue
		}
		errs = append(errs, f.facts.Check(f.As(), f.value.checked()))
		if _, is := f.value.(interface{ IsBoolFlag() bool }); is {
			if other := chosen[f.dst]; other != nil {
				errs = append(errs, Excludes(other.As(), f.As()))
			}
			chosen[f.dst] = f
		}
	}
	return errors.Join(errs...)
}

// Excludes is the mistake of fields that cannot be given together.
func Excludes(one, other field.Name) error { return field.Errorf("%s excludes %s", one, other) }

// Needs is the mistake of a field that is given without another.
func Needs(name, other field.Name) error { return field.Errorf("%s needs %s", name, other) }

// hinted is a mistake with a hint on how to mend it.
type hinted struct {
	error

	hint string
}

// Unwrap is the mistake.
func (e *hinted) Unwrap() error { return e.error }

// Hint is the hint.
func (e *hinted) Hint() string { return e.hint }

// Hint adds a hint to a mistake.
func Hint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}
