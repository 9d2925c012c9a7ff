package field

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
)

// Name is a field of a request as JSON writes it: "num_devices".
type Name string

// Error is a mistake about one or several fields of a request.
type Error struct {
	// Names are the fields, in the order in which the text mentions them. An error that [Decode] found has none: its Path
	// says where it is in the JSON text, "pools[0].layout.tp".
	Names []Name
	Path  string
	// Value is what was given, Allowed the words or the range that would be right, and Nearest the one of them that was
	// most likely meant; each is empty where it is not known.
	Value   string
	Allowed []string
	Nearest string

	format string
	args   []any
	plain  error
}

// Errorf is fmt.Errorf for mistakes about fields: arguments of type [Name] and []Name stand for fields.
func Errorf(format string, args ...any) error { return newError(format, args...) }

// About says which field an error is about whose text names none. A nil error stays nil.
func About(name Name, err error) error {
	if err == nil || len(Errors(err)) > 0 {
		return err
	}
	e := newError("%w", err)
	e.Names = []Name{name}
	return e
}

func newError(format string, args ...any) *Error {
	e := &Error{format: format, args: args}
	plain := make([]any, len(args))
	for i, a := range args {
		plain[i] = a
		switch a := a.(type) {
		case Name:
			e.Names = append(e.Names, a)
		case []Name:
			e.Names = append(e.Names, a...)
			plain[i] = List(a, Name.String)
		}
	}
	e.plain = fmt.Errorf(format, plain...)
	return e
}

// String returns the name.
func (n Name) String() string { return string(n) }

// OneOf reports a word that is not allowed, with the nearest one that is; nil if it is allowed.
func OneOf[T ~string](name Name, word T, allowed ...T) error {
	if slices.Contains(allowed, word) {
		return nil
	}
	words := Texts(allowed)
	near, hint := hint(string(word), words)
	e := newError("%s must be one of %s, got %q%s", name, strings.Join(words, ", "), string(word), hint)
	e.Value, e.Allowed, e.Nearest = string(word), words, near
	return e
}

// Between reports a number outside a range; nil if it is inside.
func Between(name Name, value, least, most int) error {
	if value >= least && value <= most {
		return nil
	}
	e := newError("%s must be between %d and %d, got %d", name, least, most, value)
	e.Value, e.Allowed = strconv.Itoa(value), []string{fmt.Sprintf("%d to %d", least, most)}
	return e
}

// hint is the nearest of the allowed words, and how a message says so.
func hint(word string, allowed []string) (near, text string) {
	if near, ok := nearest.Match(word, allowed); ok {
		return near, "; nearest: " + near
	}
	return "", ""
}

// Error returns the text with fields as they are named.
func (e *Error) Error() string { return e.plain.Error() }

// Unwrap returns the errors among the arguments.
func (e *Error) Unwrap() []error {
	var out []error
	for _, a := range e.args {
		if err, ok := a.(error); ok {
			out = append(out, err)
		}
	}
	return out
}

// say formats the message again.
func (e *Error) say(say func(Name) string) string {
	args := make([]any, len(e.args))
	for i, a := range e.args {
		switch a := a.(type) {
		case Name:
			args[i] = say(a)
		case []Name:
			args[i] = List(a, say)
		case error:
			args[i] = errors.New(Say(a, say))
		default:
			args[i] = a
		}
	}
	return fmt.Errorf(e.format, args...).Error()
}

// List says several fields: "a", "a and b", "a, b and c".
func List(names []Name, say func(Name) string) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = say(n)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
