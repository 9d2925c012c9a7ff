package field

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// Form is implemented by types whose JSON is that of another type, which [Decode] then checks in their place.
type Form interface {
	// JSONForm is a value of the other type.
	JSONForm() any
}

// Decode reads one JSON value into what into points to. Every unknown or repeated field, at any depth, and every value of
// a wrong type is an [*Error] with its path; all of them are joined. Unlike json.Unmarshal it does not take "Model" for
// "model".
func Decode(data []byte, into any) error {
	if err := bound.JSON(data, bound.RequestObjects); err != nil {
		return Errorf("%w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	var all json.RawMessage
	if err := d.Decode(&all); err != nil {
		return syntax(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Errorf("unexpected data after the JSON value")
	}
	c := &checker{}
	c.check(all, reflect.TypeOf(into).Elem(), "")
	if len(c.errs) > bound.Mistakes {
		c.errs[bound.Mistakes] = Errorf("%w", bound.Over(bound.Mistakes, "mistakes; these are the first"))
	}
	if len(c.errs) > 0 {
		return errors.Join(c.errs...)
	}
	return json.Unmarshal(all, into)
}

// syntax says what is wrong with text that is not JSON.
func syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Errorf("not JSON: it ends too early")
	}
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		return Errorf("not JSON: %v at byte %d", bad, bad.Offset)
	}
	return err
}

// checker compares JSON with the type that it is read into.
type checker struct{ errs []error }

// check compares the value at a path with a type.
func (c *checker) check(raw json.RawMessage, t reflect.Type, path string) {
	if len(c.errs) > bound.Mistakes {
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if form, ok := reflect.TypeAssert[Form](reflect.Zero(t)); ok {
		t = reflect.TypeOf(form.JSONForm())
	}
	switch raw = bytes.TrimSpace(raw); {
	case string(raw) == "null":
	case hasOwnJSON(t):
		c.leaf(raw, t, path)
	case t.Kind() == reflect.Struct && raw[0] == '{':
		c.object(raw, path, fields(t))
	case t.Kind() == reflect.Map && raw[0] == '{':
		c.entries(raw, t.Elem(), path)
	case t.Kind() == reflect.Slice && raw[0] == '[':
		c.list(raw, t.Elem(), path)
	default:
		c.leaf(raw, t, path)
	}
}

// hasOwnJSON reports whether a type reads its JSON itself.
func hasOwnJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// known is the fields of a struct as JSON has them, in their order.
type known struct {
	names []string
	types map[string]reflect.Type
}

// JSON is the name of a field in JSON, "" if it has none of its own: that of an embedded struct.
func JSON(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// fields lists the fields of a struct, those of embedded ones among them.
func fields(t reflect.Type) known {
	out := known{types: map[string]reflect.Type{}}
	for _, f := range reflect.VisibleFields(t) {
		name := JSON(f)
		switch {
		case name == "-", !f.IsExported(), f.Anonymous && name == "":
			continue
		case name == "":
			name = f.Name
		}
		if out.types[name] == nil {
			out.names = append(out.names, name)
			out.types[name] = f.Type
		}
	}
	return out
}

// object compares an object with the fields of a struct.
func (c *checker) object(raw json.RawMessage, path string, k known) {
	var seen []string
	each(raw, func(name string, value json.RawMessage) {
		at := strings.TrimPrefix(path+"."+name, ".")
		switch t := k.types[name]; {
		case len(c.errs) > bound.Mistakes:
		case t == nil:
			c.unknown(at, name, value, k.names)
		case slices.Contains(seen, name):
			c.add(at, value, "field %s is given twice", at)
		default:
			seen = append(seen, name)
			c.check(value, t, at)
		}
	})
}

// entries compares the values of an object with the elements of a map.
func (c *checker) entries(raw json.RawMessage, t reflect.Type, path string) {
	each(raw, func(name string, value json.RawMessage) { c.check(value, t, path+"."+name) })
}

// list compares the elements of a list.
func (c *checker) list(raw json.RawMessage, t reflect.Type, path string) {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return // it was read as JSON before
	}
	for i, e := range elements {
		c.check(e, t, fmt.Sprintf("%s[%d]", path, i))
	}
}

// each visits the fields of an object in their order.
func each(raw json.RawMessage, visit func(name string, value json.RawMessage)) {
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token() // the brace; it was read as JSON before
	for d.More() {
		name, _ := d.Token()
		var value json.RawMessage
		_ = d.Decode(&value)
		visit(name.(string), value)
	}
}

// leaf reads a value of a type that is neither a struct, a map nor a list.
func (c *checker) leaf(raw json.RawMessage, t reflect.Type, path string) {
	err := json.Unmarshal(raw, reflect.New(t).Interface())
	if err == nil {
		return
	}
	where := path
	if where == "" {
		where = "the JSON value"
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		c.add(path, raw, "%s must be %s, got %s", where, kindOf(t.Kind()), article(wrong.Value))
		return
	}
	c.add(path, raw, "%s: %w", where, err)
}

// unknown adds a field that there is none of.
func (c *checker) unknown(path, name string, value json.RawMessage, allowed []string) {
	near, hint := hint(name, allowed)
	e := At(path, short(value), "unknown field %s with value %s%s; allowed: %s", path, short(value), hint, strings.Join(allowed, ", "))
	e.Allowed, e.Nearest = allowed, near
	c.errs = append(c.errs, e)
}

// At is a mistake at a path of a JSON text.
func At(path, value, format string, args ...any) *Error {
	e := newError(format, args...)
	e.Path, e.Value = path, value
	return e
}

// add adds a mistake.
func (c *checker) add(path string, value json.RawMessage, format string, args ...any) {
	c.errs = append(c.errs, At(path, short(value), format, args...))
}

// short is a value for a message of one line.
func short(raw json.RawMessage) string {
	const most = 60
	var b bytes.Buffer
	if json.Compact(&b, raw) == nil {
		raw = b.Bytes()
	}
	if text := []rune(string(raw)); len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(raw)
}

// kindOf is the type that a field wants, in the words of JSON.
func kindOf(k reflect.Kind) string {
	switch {
	case k >= reflect.Int && k <= reflect.Uintptr:
		return "a whole number"
	case k == reflect.Float32, k == reflect.Float64:
		return "a number"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.Slice:
		return "a list"
	case k == reflect.String:
		return "a string"
	}
	return "an object"
}

// article is a JSON value's kind in a sentence.
func article(value string) string {
	switch kind, number, _ := strings.Cut(value, " "); kind {
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "number":
		if number != "" {
			return number
		}
		return "a number"
	default:
		return "a " + kind
	}
}
