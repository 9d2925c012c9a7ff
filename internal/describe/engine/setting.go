package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// setting is a value with a key, for files, flags, JSON and tables.
type setting struct {
	key     string // a dot leads into a mapping: "graph.max_batch"
	valid   rule
	meaning string
	// at is where the value is: a quantity, or a pointer to a bool, int, float64,
	// string, list of strings or number format.
	at any
}

// quantity is a number that is written in a unit.
type quantity struct {
	to   *float64
	unit float64
}

func gib(b *units.Bytes) quantity  { return quantity{(*float64)(b), float64(units.GiB)} }
func mib(b *units.Bytes) quantity  { return quantity{(*float64)(b), float64(units.MiB)} }
func kib(b *units.Bytes) quantity  { return quantity{(*float64)(b), float64(units.KiB)} }
func us(s *units.Seconds) quantity { return quantity{(*float64)(s), float64(units.Microsecond)} }

// rule restricts a value: a number within bounds, or one of some words. The zero rule allows any.
type rule struct {
	low, high float64
	words     []Word
}

// Word is one of the values that a setting may have.
type Word struct{ Name, Meaning string }

func atLeast(low float64) rule   { return rule{low: low, high: math.MaxFloat64} }
func shareFrom(low float64) rule { return rule{low: low, high: 1} }
func oneOf(words ...Word) rule   { return rule{words: words} }

// String follows "must be".
func (r rule) String() string {
	switch {
	case len(r.words) > 0:
		var names []string
		for _, w := range r.words {
			names = append(names, w.Name)
		}
		return "one of " + strings.Join(names, ", ")
	case r.high == math.MaxFloat64:
		return fmt.Sprintf("at least %g", r.low)
	default:
		return fmt.Sprintf("between %g and %g", r.low, r.high)
	}
}

// auto is how the KV format of the checkpoint is written.
const auto = "auto"

// set reads the value from text and checks it.
func (s *setting) set(text string) error {
	var err error
	want := "a number"
	switch to := s.at.(type) {
	case *bool:
		want = "true or false"
		*to, err = strconv.ParseBool(text)
	case *int:
		want = "a whole number"
		*to, err = strconv.Atoi(text)
	case *float64:
		*to, err = strconv.ParseFloat(text, 64)
	case quantity:
		*to.to, err = strconv.ParseFloat(text, 64)
		*to.to *= to.unit
	case *string:
		*to = text
	case *dtype.Format:
		want = auto + ", bf16, fp8 or another format"
		var ok bool
		if *to, ok = dtype.Parse(text); !ok && text != auto {
			err = errors.ErrUnsupported
		}
	}
	if err != nil {
		return fmt.Errorf("must be %s, got %q", want, text)
	}
	return s.check()
}

// value is the value as in a file: a bool, int, float64, string or list of strings.
func (s *setting) value() any {
	switch from := s.at.(type) {
	case quantity:
		// Twelve digits hide conversion noise.
		x, _ := strconv.ParseFloat(strconv.FormatFloat(*from.to/from.unit, 'g', 12, 64), 64)
		return x
	case *dtype.Format:
		if *from == dtype.None {
			return auto
		}
		return from.String()
	default:
		return reflect.ValueOf(from).Elem().Interface()
	}
}

// text is the value as set reads it.
func (s *setting) text() string {
	if x, ok := s.value().(float64); ok {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return fmt.Sprint(s.value())
}

// check reports a value that breaks the rule.
func (s *setting) check() error {
	ok := true
	switch v := s.value().(type) {
	case int:
		ok = float64(v) >= s.valid.low && float64(v) <= s.valid.high
	case float64: // NaN is not
		ok = v >= s.valid.low && v <= s.valid.high
	case string:
		ok = len(s.valid.words) == 0 || s.word() != nil
	}
	if !ok {
		return fmt.Errorf("must be %s, got %s", s.valid, s.text())
	}
	return nil
}

// word is the one of the rule's words that the value is.
func (s *setting) word() *Word {
	for i := range s.valid.words {
		if s.valid.words[i].Name == s.value() {
			return &s.valid.words[i]
		}
	}
	return nil
}

// withKey returns the setting of a key, nil if there is none.
func withKey(all []setting, key string) *setting {
	if i := slices.IndexFunc(all, func(s setting) bool { return s.key == key }); i >= 0 {
		return &all[i]
	}
	return nil
}

// byKey returns the setting of a key, or an error that names the nearest.
func byKey(all []setting, key string) (*setting, error) {
	if s := withKey(all, key); s != nil {
		return s, nil
	}
	var keys []string
	for _, s := range all {
		keys = append(keys, s.key)
	}
	return nil, errors.New("unknown key" + cmp.Or(nearest.Hint(key, keys), "; keys: "+strings.Join(keys, ", ")))
}
