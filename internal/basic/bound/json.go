package bound

import (
	"encoding/json"
	"fmt"
)

// Decode reads a JSON text whose parts are within bounds.
func Decode(data []byte, objects int, into any) error {
	if err := JSON(data, objects); err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// JSON reports an error if a value of a JSON text has more parts than are read: an object of two bytes takes some hundred in
// memory. The text may have several values, one after the other. What is not JSON is left to who reads it.
func JSON(data []byte, objects int) error {
	quoted, depth, opened, values, line := false, 0, 0, 0, 1
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '\n':
			line++
		case quoted:
		case c == '{' || c == '[':
			depth++
			opened++
			values++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				depth, opened, values = 0, 0, 0
			}
		case c == ',':
			values++
		}
		if opened > objects {
			return Over(objects, fmt.Sprintf("objects and lists up to line %d", line))
		}
		if values > JSONValues {
			return Over(JSONValues, fmt.Sprintf("values up to line %d", line))
		}
	}
	return nil
}
