package bound

import "unicode/utf8"

// Cut is the beginning of a message that is too long.
func Cut(text string) string {
	if len(text) <= Message {
		return text
	}
	end := Message
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
