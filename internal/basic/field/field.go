// Package field names the fields of a request in messages. The operations know
// fields ("num_devices"); each interface uses its own names for them: a flag on the
// command line, a property in JSON.
//
// In: a format and arguments, among them names. Out: errors whose text names the
// fields as they are, and [Say], which translates them for an interface.
package field

import (
	"errors"
	"fmt"
	"strings"
)

// Name is a field of a request as JSON writes it: "num_devices".
type Name string

// Errorf is fmt.Errorf for messages about fields: arguments of type [Name] stand
// for fields.
func Errorf(format string, args ...any) error {
	return &message{format, args, fmt.Errorf(format, args...)}
}

// message keeps its parts, so that its fields can be said otherwise.
type message struct {
	format string
	args   []any
	plain  error
}

// Error returns the text with fields as they are named.
func (m *message) Error() string { return m.plain.Error() }

// Unwrap returns the errors among the arguments.
func (m *message) Unwrap() []error {
	var out []error
	for _, a := range m.args {
		if err, ok := a.(error); ok {
			out = append(out, err)
		}
	}
	return out
}

// Say is the text of an error with its fields as say names them, whatever wraps
// or joins it.
func Say(err error, say func(Name) string) string {
	if m, ok := err.(*message); ok { //nolint:errorlint // the tree is walked here
		return m.say(say)
	}
	switch e := err.(type) { //nolint:errorlint // likewise
	case interface{ Unwrap() []error }:
		return replaceAll(err, e.Unwrap(), say)
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return replaceAll(err, []error{inner}, say)
		}
	}
	return err.Error()
}

// replaceAll says the inner errors inside the text of the one around them.
func replaceAll(err error, inner []error, say func(Name) string) string {
	text, out := err.Error(), ""
	for _, e := range inner {
		before, after, ok := strings.Cut(text, e.Error())
		if !ok {
			continue // the outer text does not hold it
		}
		out, text = out+before+Say(e, say), after
	}
	return out + text
}

// say formats the message again.
func (m *message) say(say func(Name) string) string {
	args := make([]any, len(m.args))
	for i, a := range m.args {
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
	return fmt.Errorf(m.format, args...).Error()
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
