package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// object is a JSON object that knows the order of its fields.
type object struct {
	names  []string
	values []any
}

func (o *object) add(name string, v any) {
	o.names, o.values = append(o.names, name), append(o.values, v)
}

func (o *object) get(name string) any {
	for i, n := range o.names {
		if n == name {
			return o.values[i]
		}
	}
	return nil
}

// decode reads a JSON value: objects as *object, lists as []any, numbers as they are written. Infinities, which Python
// writes and JSON does not know, are null.
func decode(data []byte) (any, error) {
	data = regexp.MustCompile(`([:\[,]\s*)-?(Infinity|NaN)\b`).ReplaceAll(data, []byte("${1}null"))
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := value(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func value(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := &object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := value(d)
			if err != nil {
				return nil, err
			}
			o.add(fmt.Sprint(name), v)
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := value(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	return t, nil
}

// encode writes objects over several lines and lists on one.
func encode(b []byte, v any, indent string) []byte {
	switch v := v.(type) {
	case *object:
		b = append(b, '{')
		for i, name := range v.names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, '\n'), indent+"  "...)
			b = append(quote(b, name), ": "...)
			b = encode(b, v.values[i], indent+"  ")
		}
		return append(append(append(b, '\n'), indent...), '}')
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = encode(b, x, indent)
		}
		return append(b, ']')
	}
	return quote(b, v)
}

// quote writes a value that is neither object nor list.
func quote(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers, booleans and null have no other form
	}
	return append(b, text...)
}
