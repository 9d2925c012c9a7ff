package field

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Facts are what a request may have in a field, as the tags of the field say it in the words of JSON Schema: required:"true",
// minimum:"0", exclusiveMinimum:"0", maximum:"9", exclusiveMaximum:"1", minItems:"1", maxItems:"2", uniqueItems:"true", minLength:"1"
// and enum:"a,b". Those of numbers and words hold for each element of a list or map.
type Facts struct {
	Required         bool
	Minimum, Maximum *float64
	Above, Below     bool // the minimum, the maximum itself is not allowed
	MinItems         *int
	MaxItems         *int
	MinLength        *int
	Unique           bool
	Words            []string // "" among them is the default
}

// FactsOf reads the tags of a field, and the words of its type, if it has a method that lists them.
func FactsOf(f reflect.StructField) Facts {
	out := Facts{Required: f.Tag.Get("required") == "true", Unique: f.Tag.Get("uniqueItems") == "true"}
	number := func(inclusive, exclusive string) (*float64, bool) {
		for _, key := range []string{inclusive, exclusive} {
			if x, err := strconv.ParseFloat(f.Tag.Get(key), 64); err == nil {
				return &x, key == exclusive
			}
		}
		return nil, false
	}
	count := func(key string) *int {
		if n, err := strconv.Atoi(f.Tag.Get(key)); err == nil {
			return &n
		}
		return nil
	}
	out.Minimum, out.Above = number("minimum", "exclusiveMinimum")
	out.Maximum, out.Below = number("maximum", "exclusiveMaximum")
	out.MinItems, out.MaxItems, out.MinLength = count("minItems"), count("maxItems"), count("minLength")
	if words, ok := f.Tag.Lookup("enum"); ok {
		out.Words = strings.Split(words, ",")
	} else {
		out.Words = WordsOf(f.Type)
	}
	return out
}

// Worded is implemented by types that are one of some words.
type Worded interface{ Words() []string }

// WordsOf are the words that a type, or the elements of a list, are one of; nil if they may be any. A field that is no list may also have
// "", its default.
func WordsOf(t reflect.Type) []string {
	list := t.Kind() == reflect.Slice
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	w, ok := reflect.TypeAssert[Worded](reflect.Zero(t))
	if !ok {
		return nil
	}
	if list || t.Kind() != reflect.String {
		return w.Words()
	}
	return append([]string{""}, w.Words()...)
}

// Texts are words as strings.
func Texts[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// EnumOf are the words of a field's tag, without the default.
func EnumOf[Struct any](name string) []string {
	f, _ := reflect.TypeFor[Struct]().FieldByName(name)
	return slices.DeleteFunc(strings.Split(f.Tag.Get("enum"), ","), func(w string) bool { return w == "" })
}

// AnyOf are the groups of fields of which a request must have one at least, as the tag of a blank field says: anyOf:"gpus,rate model,config".
func AnyOf(t reflect.Type) [][]string {
	var out [][]string
	for f := range t.Fields() {
		if f.Name == "_" {
			for group := range strings.FieldsSeq(f.Tag.Get("anyOf")) {
				out = append(out, strings.Split(group, ","))
			}
		}
	}
	return out
}

// within reports a number out of range.
func (x *Facts) within(where any, n float64, text string) error {
	if (x.Minimum == nil || n > *x.Minimum || n == *x.Minimum && !x.Above) && (x.Maximum == nil || n < *x.Maximum || n == *x.Maximum && !x.Below) {
		return nil
	}
	e := about(where, text, "%s must be %s, got %s", where, x.span(), text)
	e.Allowed = []string{x.span()}
	return e
}

// about is a mistake where a value stands: at a path, or in the field of a [Name].
func about(where any, value, format string, args ...any) *Error {
	e := newError(format, args...)
	e.Value = value
	if path, ok := where.(string); ok {
		e.Path = path
	}
	return e
}

// Check reports a value that is not allowed in a field; each element of a list and of a map counts.
func (x *Facts) Check(name Name, v reflect.Value) error {
	switch k := v.Kind(); {
	case k == reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return x.Check(name, v.Elem())
	case k == reflect.Slice:
		if err := x.size(name, v.Len()); err != nil {
			return err
		}
		return x.each(name, v)
	case k == reflect.Map:
		return x.each(name, v)
	case k == reflect.String:
		return x.word(name, v.String())
	case v.CanFloat():
		return x.number(name, v.Float())
	case v.CanInt():
		return x.within(name, float64(v.Int()), strconv.FormatInt(v.Int(), 10))
	case v.CanUint():
		return x.within(name, float64(v.Uint()), strconv.FormatUint(v.Uint(), 10))
	}
	return nil
}

// each checks the elements of a list or a map.
func (x *Facts) each(name Name, v reflect.Value) error {
	var errs []error
	for _, e := range v.Seq2() {
		errs = append(errs, x.Check(name, e))
	}
	return errors.Join(errs...)
}

// number checks a number that need not be whole; an infinite one is a limit that does not bind, where a field can have it.
func (x *Facts) number(name Name, n float64) error {
	switch {
	case math.IsInf(n, 1):
		return nil
	case math.IsNaN(n) || math.IsInf(n, -1):
		return Errorf("%s must be a number, got %g", name, n)
	}
	return x.within(name, n, strconv.FormatFloat(n, 'g', -1, 64))
}

// span is the range in words.
func (x *Facts) span() string {
	plain := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	var low, high string
	switch {
	case x.Minimum == nil:
	case x.Above:
		low = "above " + plain(*x.Minimum)
	default:
		low = "at least " + plain(*x.Minimum)
	}
	switch {
	case x.Maximum == nil:
	case x.Below:
		high = "below " + plain(*x.Maximum)
	default:
		high = "at most " + plain(*x.Maximum)
	}
	switch {
	case low == "" || high == "":
		return low + high
	case !x.Above && !x.Below:
		return fmt.Sprintf("between %s and %s", plain(*x.Minimum), plain(*x.Maximum))
	}
	return low + " and " + high
}

// word reports a word that is not allowed.
func (x *Facts) word(where any, word string) error {
	if x.Words == nil || slices.Contains(x.Words, word) {
		return nil
	}
	named := slices.DeleteFunc(slices.Clone(x.Words), func(w string) bool { return w == "" })
	near, hint := hint(word, named)
	e := about(where, word, "%s must be one of %s, got %q%s", where, strings.Join(named, ", "), word, hint)
	e.Allowed, e.Nearest = named, near
	return e
}

// size reports a list with too few or too many entries.
func (x *Facts) size(where any, n int) error {
	wrong := func(most string, bound int) error {
		entries := "entries"
		if bound == 1 {
			entries = "entry"
		}
		e := about(where, strconv.Itoa(n), "%s must have at %s %d %s, got %d", where, most, bound, entries, n)
		e.Allowed = []string{fmt.Sprintf("at %s %d", most, bound)}
		return e
	}
	switch {
	case x.MinItems != nil && n < *x.MinItems:
		return wrong("least", *x.MinItems)
	case x.MaxItems != nil && n > *x.MaxItems:
		return wrong("most", *x.MaxItems)
	}
	return nil
}
