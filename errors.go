package plimsoll

import (
	"errors"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
)

// InputError is what is wrong with a request, for the caller to correct.
type InputError struct {
	Mistakes []Mistake
	cause    error
}

// Mistake is one thing wrong with a request.
type Mistake struct {
	// Fields are named as in JSON, "deployment.pools.layout.tp"; none where the mistake is in a file.
	Fields []string
	Detail string
	// Value is the given value, Allowed the allowed words or range, Nearest the closest allowed word, where they are known.
	Value   string
	Allowed []string
	Nearest string
}

// Error says what is wrong, a line for each mistake.
func (e *InputError) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i := range e.Mistakes {
		lines[i] = e.Mistakes[i].Detail
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the cause, such as the error of a file that cannot be read.
func (e *InputError) Unwrap() error { return e.cause }

// Fields are all fields that the mistakes name.
func (e *InputError) Fields() []string {
	var out []string
	for i := range e.Mistakes {
		for _, f := range e.Mistakes[i].Fields {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// corrected is an error about a request as an [*InputError], any other as it is.
func corrected(err error) error {
	wrong, ok := errors.AsType[*document.InputError](err)
	if !ok {
		return err
	}
	out := &InputError{cause: wrong}
	for _, m := range wrong.Mistakes {
		out.Mistakes = append(out.Mistakes, Mistake(m))
	}
	return out
}
