package ask

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Type is how values are typed: one word each.
type Type[T any] struct {
	Name string // in help, where the meaning names no better one
	Read func(word string) (T, error)
	// Write is the inverse of Read; nil writes as fmt does.
	Write func(T) string
}

func (t Type[T]) write(value T) string {
	if t.Write == nil {
		return fmt.Sprint(value)
	}
	return t.Write(value)
}

// The types of plain values, which nothing changes.
//
//nolint:gochecknoglobals // no constant holds functions
var (
	Text    = Type[string]{Name: "string", Read: nargs.Text}
	Whole   = Type[int]{Name: "int", Read: nargs.Int}
	Number  = Type[float64]{Name: "float", Read: nargs.Float}
	Natural = Type[uint64]{Name: "uint", Read: natural}
	// Tokens are typed as 3500 or 3.5k.
	Tokens = Type[int]{Name: "int", Read: tokens}
	// Limit is a time that may be infinite: 50, in milliseconds, 50ms, 2s or inf; "" is none.
	Limit = Type[units.Seconds]{Name: "seconds", Read: limit, Write: writeLimit}
	// Ms is such a time as a number of milliseconds.
	Ms = Type[float64]{Name: "float", Read: ms}
	// Milliseconds is a time typed as a number of them.
	Milliseconds = Type[units.Seconds]{Name: "float", Read: milliseconds, Write: func(s units.Seconds) string { return fmt.Sprint(s.TypedMs()) }}
)

func natural(word string) (uint64, error) {
	n, err := strconv.ParseUint(word, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("out of range")
	case err != nil:
		return 0, errors.New("want a whole number")
	}
	return n, nil
}

func tokens(word string) (int, error) {
	if n, err := nargs.Int(word); err == nil {
		return n, nil
	}
	x, err := units.ReadCount(word)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > math.MaxInt32 {
		return 0, errors.New("want a whole number, such as 3500 or 3.5k")
	}
	return int(x), nil
}

func ms(word string) (float64, error) {
	x, err := units.ReadMs(word)
	switch {
	case err != nil || math.IsNaN(x):
		return 0, errors.New("want a positive time, such as 50 (milliseconds), 50ms or 2s, or inf")
	case x <= 0:
		return 0, errors.New("must be positive")
	}
	return x, nil
}

func limit(word string) (units.Seconds, error) {
	x, err := ms(word)
	return units.Seconds(x / 1e3), err
}

func writeLimit(s units.Seconds) string {
	switch {
	case math.IsInf(float64(s), 1):
		return "inf"
	case s == 0:
		return ""
	}
	return fmt.Sprint(s.TypedMs())
}

func milliseconds(word string) (units.Seconds, error) {
	x, err := nargs.Float(word)
	if err == nil && x < 0 {
		err = errors.New("must not be negative")
	}
	return units.Seconds(x / 1e3), err
}

// OneOf is one of some words.
func OneOf[T ~string](words ...T) Type[T] {
	return Type[T]{Name: "string", Read: nargs.OneOf(words...)}
}

// Named is one of some values that have names.
func Named[T fmt.Stringer](values ...T) Type[T] {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = v.String()
	}
	read := nargs.OneOf(names...)
	return Type[T]{Name: "string", Read: func(word string) (out T, err error) {
		name, err := read(word)
		for i := range names {
			if err == nil && names[i] == name {
				out = values[i]
			}
		}
		return out, err
	}}
}
