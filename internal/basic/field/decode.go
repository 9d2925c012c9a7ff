package field

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
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
func Decode(data []byte, into any) error { return decode(data, into, nil) }

// Rules are what holds for requests beside the facts of their fields.
type Rules struct {
	Names int  // maximum number of strings in a list, which come once each, and of entries in a map
	Items int  // maximum number of other values in a list
	Part  bool // required fields may be missing
}

// DecodeRequest is [Decode] for the requests of programs, which must be as their JSON schema says: values are within the [Facts] of their
// fields, null stands only where a value may be missing inside Go too, and 2.0 is a whole number.
func DecodeRequest(data []byte, into any, r Rules) error { return decode(data, into, &r) }

func decode(data []byte, into any, r *Rules) error {
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
	if r != nil {
		all = wholes(all)
	}
	c := &checker{rules: r}
	c.check(all, reflect.TypeOf(into).Elem(), "", &Facts{})
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
type checker struct {
	errs  []error
	rules *Rules // nil = types alone are checked
}

// check compares the value at a path with a type and its facts.
func (c *checker) check(raw json.RawMessage, t reflect.Type, path string, x *Facts) {
	if len(c.errs) > bound.Mistakes {
		return
	}
	if raw = bytes.TrimSpace(raw); string(raw) == "null" {
		c.null(raw, t, path)
		return
	}
	t = written(t)
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		if c.rules != nil && raw[0] != '{' {
			c.add(path, raw, "%s must be an object, got %s", named(path), short(raw))
		}
	case hasOwnJSON(t):
		c.leaf(raw, t, path, x)
	case t.Kind() == reflect.Struct && raw[0] == '{':
		c.object(raw, path, fields(t))
	case t.Kind() == reflect.Map && raw[0] == '{':
		c.entries(raw, t.Elem(), path, x)
	case t.Kind() == reflect.Slice && raw[0] == '[':
		c.list(raw, t.Elem(), path, x)
	default:
		c.leaf(raw, t, path, x)
	}
}

// written is the type of the JSON of a type.
func written(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if form, ok := reflect.TypeAssert[Form](reflect.Zero(t)); ok {
		t = reflect.TypeOf(form.JSONForm())
	}
	return t
}

// null compares null with a type: in a request it stands only for pointers and lists.
func (c *checker) null(raw json.RawMessage, t reflect.Type, path string) {
	if c.rules == nil || t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t != reflect.TypeFor[json.RawMessage]() {
		return
	}
	c.add(path, raw, "%s must be %s, got null", named(path), kindOf(written(t)))
}

// named is a path as messages have it.
func named(path string) string { return cmp.Or(path, "the JSON value") }

// hasOwnJSON reports whether a type reads its JSON itself.
func hasOwnJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// known is the fields of a struct as JSON has them, in their order.
type known struct {
	names  []string
	types  map[string]reflect.Type
	facts  map[string]Facts
	groups [][]string
}

// JSON is the name of a field in JSON, "" if it has none of its own: that of an embedded struct.
func JSON(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// fields lists the fields of a struct, those of embedded ones among them.
func fields(t reflect.Type) known {
	out := known{types: map[string]reflect.Type{}, facts: map[string]Facts{}, groups: AnyOf(t)}
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
			out.types[name], out.facts[name] = f.Type, FactsOf(f)
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
			x := k.facts[name]
			c.check(value, t, at, &x)
		}
	})
	if c.rules != nil && !c.rules.Part {
		c.missing(path, &k, seen)
	}
}

// missing adds required fields that an object does not have.
func (c *checker) missing(path string, k *known, seen []string) {
	at := func(name string) Name { return Name(strings.TrimPrefix(path+"."+name, ".")) }
	for _, name := range k.names {
		if k.facts[name].Required && !slices.Contains(seen, name) {
			c.errs = append(c.errs, At(string(at(name)), "", "%s is missing", string(at(name))))
		}
	}
	for _, group := range k.groups {
		if !slices.ContainsFunc(group, func(name string) bool { return slices.Contains(seen, name) }) {
			names := make([]any, len(group))
			for i := range group {
				names[i] = at(group[i])
			}
			c.errs = append(c.errs, newError(strings.Repeat("%s, ", len(group)-2)+"%s or %s is missing", names...))
		}
	}
}

// entries compares the values of an object with the elements of a map.
func (c *checker) entries(raw json.RawMessage, t reflect.Type, path string, x *Facts) {
	n := 0
	each(raw, func(name string, value json.RawMessage) {
		n++
		c.check(value, t, path+"."+name, x)
	})
	if c.rules != nil {
		c.sized(path, n, &Facts{MaxItems: &c.rules.Names})
	}
}

// list compares the elements of a list.
func (c *checker) list(raw json.RawMessage, t reflect.Type, path string, x *Facts) {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return // it was read as JSON before
	}
	if c.rules != nil && !c.sized(path, len(elements), c.rules.Of(t, x)) {
		return
	}
	seen := map[string]bool{}
	for i, e := range elements {
		c.check(e, t, fmt.Sprintf("%s[%d]", path, i), x)
		if text := string(e); c.rules != nil && c.rules.Of(t, x).Unique && seen[text] {
			c.add(path, e, "%s has %s twice", path, strings.Trim(text, `"`))
			return
		}
		seen[string(e)] = true
	}
}

// Of are the facts of a list with elements of a type.
func (r *Rules) Of(t reflect.Type, x *Facts) *Facts {
	out := *x
	if t.Kind() == reflect.String {
		out.Unique = true
		out.MaxItems = cmp.Or(x.MaxItems, &r.Names)
	}
	out.MaxItems = cmp.Or(out.MaxItems, &r.Items)
	return &out
}

// sized adds a list or a map with too few or too many entries.
func (c *checker) sized(path string, n int, x *Facts) bool {
	err := x.size(path, n)
	if err != nil {
		c.errs = append(c.errs, err)
	}
	return err == nil
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
func (c *checker) leaf(raw json.RawMessage, t reflect.Type, path string, x *Facts) {
	err := json.Unmarshal(raw, reflect.New(t).Interface())
	if err == nil {
		if c.rules != nil {
			c.value(raw, path, x)
		}
		return
	}
	where := named(path)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		c.add(path, raw, "%s must be %s, got %s", where, kindOf(t), article(wrong.Value))
		return
	}
	c.add(path, raw, "%s: %w", where, err)
}

// value compares a number or a word with the facts of its field.
func (c *checker) value(raw json.RawMessage, path string, x *Facts) {
	var err error
	var word string
	if n, number := strconv.ParseFloat(string(raw), 64); number == nil {
		err = x.within(path, n, string(raw))
	} else if json.Unmarshal(raw, &word) == nil {
		err = x.word(path, word)
		if x.MinLength != nil && len(word) < *x.MinLength {
			err = At(path, word, "%s is empty", path)
		}
	}
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

// wholes is a JSON text whose whole numbers have neither a point nor an exponent, as far as Go's integers and those of JavaScript go.
func wholes(data json.RawMessage) json.RawMessage {
	const exact = 1 << 53
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		n := 1
		switch c := data[0]; {
		case c == '"':
			for n < len(data) && data[n] != '"' {
				if data[n] == '\\' {
					n++
				}
				n++
			}
			n++
		case c == '-' || '0' <= c && c <= '9':
			n = len(data) - len(bytes.TrimLeft(data, "+-.0123456789Ee"))
			x, err := strconv.ParseFloat(string(data[:n]), 64)
			if err == nil && bytes.ContainsAny(data[:n], ".eE") && x == math.Trunc(x) && math.Abs(x) <= exact {
				out, data = strconv.AppendInt(out, int64(x), 10), data[n:]
				continue
			}
		}
		out, data = append(out, data[:n]...), data[n:]
	}
	return out
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
func kindOf(t reflect.Type) string {
	switch k := t.Kind(); {
	case k == reflect.Int && hasOwnJSON(t): // written as a word
		return "a string"
	case k >= reflect.Int && k <= reflect.Uintptr:
		return "a whole number"
	case k == reflect.Float32, k == reflect.Float64:
		return "a number"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.Slice && t != reflect.TypeFor[json.RawMessage]():
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
