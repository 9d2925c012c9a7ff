package ask

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

// one is a single value.
type one[T any] struct {
	dst *T
	of  Type[T]
}

// Set reads the value.
func (v *one[T]) Set(word string) error {
	x, err := v.of.Read(word)
	if err == nil {
		*v.dst = x
	}
	return err
}

// String is the value as typed.
func (v *one[T]) String() string {
	if v.dst == nil { // pflag asks a zero value
		return ""
	}
	return v.of.write(*v.dst)
}

// Type names the kind of value, for help.
func (v *one[T]) Type() string { return v.of.Name }

func (v *one[T]) words() []string {
	if word := v.String(); word != "" {
		return []string{word}
	}
	return nil
}

func (v *one[T]) checked() reflect.Value { return reflect.ValueOf(*v.dst) }

// maybe is a single value, or none.
type maybe[T any] struct {
	dst **T
	of  Type[T]
}

// Set reads the value.
func (v *maybe[T]) Set(word string) error {
	x, err := v.of.Read(word)
	if err == nil {
		*v.dst = &x
	}
	return err
}

// String is the value as typed.
func (v *maybe[T]) String() string { return strings.Join(v.words(), " ") }

// Type names the kind of value, for help.
func (v *maybe[T]) Type() string { return v.of.Name }

func (v *maybe[T]) words() []string {
	if v.dst == nil || *v.dst == nil {
		return nil
	}
	return []string{v.of.write(**v.dst)}
}

func (v *maybe[T]) checked() reflect.Value { return reflect.ValueOf(*v.dst) }

// list is several values.
type list[T any] struct {
	dst   *[]T
	of    Type[T]
	typed bool // so that a default is gone
}

// Set reads one value; the first one replaces the default.
func (v *list[T]) Set(word string) error {
	if !v.typed {
		*v.dst, v.typed = []T{}, true
	}
	if word == nargs.Bare {
		return nil
	}
	x, err := v.of.Read(word)
	if err == nil {
		*v.dst = append(*v.dst, x)
	}
	return err
}

// String is the values as typed.
func (v *list[T]) String() string { return strings.Join(v.words(), " ") }

// Type names the kind of one value, for help.
func (v *list[T]) Type() string { return v.of.Name }

func (v *list[T]) words() []string {
	if v.dst == nil || *v.dst == nil {
		return nil
	}
	words := make([]string, len(*v.dst))
	for i, x := range *v.dst {
		words[i] = v.of.write(x)
	}
	return words
}

func (v *list[T]) checked() reflect.Value { return reflect.ValueOf(*v.dst) }

// choice is a switch between two values of a field, which may have more.
type choice[T comparable] struct {
	dst     *T
	on, off T
}

// Set turns the switch on or off.
func (v *choice[T]) Set(word string) error {
	on, err := strconv.ParseBool(word)
	if err != nil {
		return errors.New("want true or false")
	}
	if *v.dst = v.off; on {
		*v.dst = v.on
	}
	return nil
}

// String says whether the switch is on.
func (v *choice[T]) String() string { return strconv.FormatBool(v.dst != nil && *v.dst == v.on) }

// Type is that of a switch.
func (*choice[T]) Type() string { return "bool" }

// IsBoolFlag makes the flag a switch.
func (*choice[T]) IsBoolFlag() bool { return true }

func (v *choice[T]) words() []string {
	if *v.dst != v.on {
		return nil
	}
	return []string{}
}

func (v *choice[T]) checked() reflect.Value { return reflect.ValueOf(*v.dst) }

// marks is a list of the switches that are on.
type marks struct{ all []Mark }

// Set turns one switch on.
func (v *marks) Set(word string) error {
	if word == nargs.Bare {
		return nil
	}
	names := make([]string, len(v.all))
	for i := range v.all {
		names[i] = v.all[i].Word
	}
	name, err := nargs.OneOf(names...)(word)
	if err == nil {
		*v.all[slices.Index(names, name)].On = true
	}
	return err
}

// String is the words of the switches that are on.
func (v *marks) String() string {
	if v == nil {
		return ""
	}
	return strings.Join(v.words(), " ")
}

// Type names the kind of one value, for help.
func (*marks) Type() string { return "string" }

func (v *marks) words() []string {
	var out []string
	for _, m := range v.all {
		if *m.On {
			out = append(out, m.Word)
		}
	}
	return out
}

func (v *marks) checked() reflect.Value { return reflect.Value{} }
