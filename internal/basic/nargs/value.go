package nargs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// List is the [pflag.Value] of a flag that takes several words. The slice it fills is nil when the flag was absent
// (unless it held a default), empty when the flag stood alone, and otherwise holds the values in order.
type List[T any] struct {
	dst   *[]T
	parse func(string) (T, error)
	given bool // the flag was seen, so a default is gone
}

// ListVar defines a list flag on fs. What dst holds at the time is the default.
func ListVar[T any](
	fs *pflag.FlagSet, dst *[]T, name string, arity Arity, parse func(string) (T, error), usage string,
) *pflag.Flag {
	f := fs.VarPF(&List[T]{dst: dst, parse: parse}, name, "", usage)
	Mark(f, arity)
	return f
}

// Set adds one value; the first one replaces the default.
func (l *List[T]) Set(word string) error {
	if !l.given {
		*l.dst, l.given = []T{}, true
	}
	if word == Bare {
		return nil
	}
	v, err := l.parse(word)
	if err != nil {
		return err
	}
	*l.dst = append(*l.dst, v)
	return nil
}

// String prints the values as they would be typed.
func (l *List[T]) String() string {
	if l.dst == nil { // pflag asks a zero value
		return ""
	}
	words := make([]string, len(*l.dst))
	for i, v := range *l.dst {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, " ")
}

// Type names the kind of one value, for help.
func (l *List[T]) Type() string { return typeName[T]() }

// Value is the [pflag.Value] of a flag that takes one word of any type.
type Value[T any] struct {
	dst   *T
	parse func(string) (T, error)
}

// Var defines a flag of one value on fs. What dst holds at the time is the default.
func Var[T any](fs *pflag.FlagSet, dst *T, name string, parse func(string) (T, error), usage string) *pflag.Flag {
	return fs.VarPF(&Value[T]{dst, parse}, name, "", usage)
}

// Set stores the value.
func (v *Value[T]) Set(word string) error {
	parsed, err := v.parse(word)
	if err != nil {
		return err
	}
	*v.dst = parsed
	return nil
}

// String prints the value.
func (v *Value[T]) String() string {
	if v.dst == nil { // pflag asks a zero value
		return ""
	}
	return fmt.Sprint(*v.dst)
}

// Type names the kind of value, for help.
func (v *Value[T]) Type() string { return typeName[T]() }

// typeName names a type the way help shows it.
func typeName[T any]() string {
	var zero T
	_, name, ok := strings.Cut(fmt.Sprintf("%T", zero), ".")
	if !ok {
		return fmt.Sprintf("%T", zero)
	}
	return strings.ToLower(name)
}

// MarkOptional lets the value of an existing flag be left out; alone, the flag means alone, which must not be empty.
func MarkOptional(f *pflag.Flag, alone string) {
	if alone == "" {
		panic("nargs: the value of --" + f.Name + " without an argument must not be empty")
	}
	f.NoOptDefVal = alone
	Mark(f, ZeroOrOne)
}

// Normalizer makes "_" and "-" the same in flag names and resolves aliases (from other spelling to the flag's name, both
// with dashes). It is meant for [pflag.FlagSet.SetNormalizeFunc].
func Normalizer(aliases map[string]string) func(*pflag.FlagSet, string) pflag.NormalizedName {
	return func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = strings.ReplaceAll(name, "_", "-")
		if to, ok := aliases[name]; ok {
			name = to
		}
		return pflag.NormalizedName(name)
	}
}

// ChoiceError says that a word is not among those allowed.
type ChoiceError struct {
	Word    string
	Allowed []string
}

// Error lists what would have been right.
func (e *ChoiceError) Error() string { return "want one of " + strings.Join(e.Allowed, ", ") }

// OneOf parses a word that must be in a list. Case, and "-" for "_", do not matter; the spelling of the list is returned.
func OneOf[T ~string](allowed ...T) func(string) (T, error) {
	fold := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "_")) }
	return func(word string) (T, error) {
		i := slices.IndexFunc(allowed, func(a T) bool { return fold(string(a)) == fold(word) })
		if i < 0 {
			return "", &ChoiceError{Word: word, Allowed: Texts(allowed)}
		}
		return allowed[i], nil
	}
}

// Texts are values as they are typed.
func Texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// Text parses any word.
func Text(word string) (string, error) { return word, nil }

// Int parses a whole number.
func Int(word string) (int, error) {
	n, err := strconv.Atoi(word)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("out of range")
	case err != nil:
		return 0, errors.New("want a whole number")
	}
	return n, nil
}

// Float parses a finite number.
func Float(word string) (float64, error) {
	x, err := strconv.ParseFloat(word, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("out of range")
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		return 0, errors.New("want a number")
	}
	return x, nil
}
