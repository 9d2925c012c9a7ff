package operation

import (
	"bytes"
	"math"
	"strconv"
)

// digits is how many significant digits a number of a document has. Sums of a simulation differ between processors in the last
// bits (ARM multiplies and adds with one rounding, x86 has its own exponential function), some 1e-13 of a figure: with ten digits the
// documents of all of them are the same bytes, and no figure of a plan is that sure.
const digits = 10

// rounded is a JSON text with its numbers rounded; whole numbers and texts stay.
func rounded(json []byte) []byte {
	out := make([]byte, 0, len(json))
	for len(json) > 0 {
		n := 1
		switch c := json[0]; {
		case c == '"':
			n = text(json)
		case c == '-' || '0' <= c && c <= '9':
			n = len(json) - len(bytes.TrimLeft(json, "+-.0123456789Ee"))
			out = append(out, number(json[:n])...)
			json = json[n:]
			continue
		}
		out = append(out, json[:n]...)
		json = json[n:]
	}
	return out
}

// text is the length of the text at the beginning of some JSON.
func text(json []byte) int {
	for i := 1; i < len(json); i++ {
		switch json[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(json)
}

// number is a number of JSON, rounded unless it is whole.
func number(token []byte) []byte {
	if len(token) <= digits || bytes.IndexByte(token, '.') < 0 {
		return token
	}
	x, err := strconv.ParseFloat(string(token), 64)
	if err != nil {
		return token
	}
	if math.Abs(x) >= 1e10 {
		x = math.Round(x)
	} else {
		x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64) // of its own text
	}
	if a := math.Abs(x); a != 0 && a < 1e-6 {
		return strconv.AppendFloat(nil, x, 'e', -1, 64)
	}
	return strconv.AppendFloat(nil, x, 'f', -1, 64)
}
