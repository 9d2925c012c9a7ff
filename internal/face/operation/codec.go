package operation

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
)

// Encode writes a document the same way for all interfaces: equal documents give equal bytes.
func Encode(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document)
}

// decode reads JSON into a request, and refuses requests that are too large for a server.
func decode(data []byte, into any, operation string) error {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	err := field.Decode(data, into)
	if err == nil {
		err = atTheDoor(reflect.ValueOf(into).Elem(), "")
	}
	if err == nil {
		return nil
	}
	return document.NewInputError(err, operation)
}
