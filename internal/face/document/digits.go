package document

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Encode writes a document the same way for all interfaces: equal documents give equal bytes.
func Encode(w io.Writer, document any) error {
	data, err := encode(document, "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Compact is a document in one line without its end, and without blanks.
func Compact(document any) ([]byte, error) {
	data, err := encode(document, "")
	return bytes.TrimSuffix(data, []byte("\n")), err
}

func encode(document any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(document)
	return rounded(b.Bytes()), err
}

// rounded is a JSON text with its numbers rounded; whole numbers and texts stay.
func rounded(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		switch c := data[0]; {
		case c == '"':
			n := quoted(data)
			out, data = append(out, data[:n]...), data[n:]
		case c == '-' || '0' <= c && c <= '9':
			n := len(data) - len(bytes.TrimLeft(data, "+-.0123456789Ee"))
			out, data = append(out, number(data[:n])...), data[n:]
		default:
			out, data = append(out, c), data[1:]
		}
	}
	return out
}

// quoted is the length of the text at the beginning of some JSON.
func quoted(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// number is a number of JSON, rounded unless it is whole.
func number(token []byte) []byte {
	if len(token) <= units.Digits || bytes.IndexByte(token, '.') < 0 {
		return token
	}
	x, err := strconv.ParseFloat(string(token), 64)
	if err != nil {
		return token
	}
	out, err := json.Marshal(units.Rounded(x))
	if err != nil {
		return token
	}
	return out
}
