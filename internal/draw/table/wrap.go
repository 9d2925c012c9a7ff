package table

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text into lines of at most width runes, where its words allow.
func Wrap(text string, width int) []string {
	var lines []string
	line, length := "", 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if length > 0 && length+1+n > width {
			lines, line, length = append(lines, line), "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	if length > 0 {
		lines = append(lines, line)
	}
	return lines
}
