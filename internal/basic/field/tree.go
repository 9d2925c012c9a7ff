package field

import (
	"errors"
	"slices"
	"strings"
)

// Say is the text of an error with its fields as say names them, whatever wraps or joins it.
func Say(err error, say func(Name) string) string {
	if e, ok := err.(*Error); ok { //nolint:errorlint // the tree is walked here
		return e.say(say)
	}
	text, out := err.Error(), ""
	for _, inner := range Inside(err) {
		before, after, ok := strings.Cut(text, inner.Error())
		if !ok {
			continue // the outer text does not hold it
		}
		out, text = out+before+Say(inner, say), after
	}
	return out + text
}

// Each takes joined errors apart: one for each mistake. A wrapper of a single one stays; one around a join, without a text
// of its own, is dropped.
func Each(err error) []error {
	if err == nil {
		return nil
	}
	inner := Inside(err)
	if _, own := err.(*Error); own || len(inner) == 0 || errors.Join(inner...).Error() != err.Error() { //nolint:errorlint // likewise
		return []error{err}
	}
	var out []error
	for _, i := range inner {
		out = append(out, Each(i)...)
	}
	if len(out) == 1 {
		return []error{err}
	}
	return out
}

// Names are the fields that an error is about, each once, in the order of the text.
func Names(err error) []Name {
	var out []Name
	for _, e := range Errors(err) {
		for _, n := range e.Names {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// Errors are the mistakes about fields in the tree of an error, outermost first.
func Errors(err error) []*Error {
	if err == nil {
		return nil
	}
	var out []*Error
	if e, ok := err.(*Error); ok { //nolint:errorlint // likewise
		out = append(out, e)
	}
	for _, inner := range Inside(err) {
		out = append(out, Errors(inner)...)
	}
	return out
}

// Inside are the errors directly inside one.
func Inside(err error) []error {
	var all []error
	switch e := err.(type) { //nolint:errorlint // likewise
	case interface{ Unwrap() []error }:
		all = e.Unwrap()
	case interface{ Unwrap() error }:
		all = []error{e.Unwrap()}
	}
	return slices.DeleteFunc(slices.Clone(all), func(err error) bool { return err == nil })
}
