package lint

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// region is where a flag stands with the values it takes, and the quotes around them; −1 if the values are not beside it.
func (f *Finding) region(data []byte, at, end int) (from, to int) {
	from, to = at, end
	if words := f.At.Words; len(words) > 0 && launch.Takes(f.At.Flag, words) {
		begin, after, _ := valuesAt(data[end:], words)
		if begin < 0 {
			return -1, -1
		}
		to = end + after
	}
	if from > 0 && isQuote(data[from-1]) {
		from--
	}
	if to < len(data) && isQuote(data[to]) {
		to++
	}
	return from, to
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// quoted is a word with the quotes that an old one has.
func quoted(old []byte, word string) []byte {
	if len(old) > 0 && isQuote(old[0]) {
		return []byte(string(old[0]) + word + string(old[0]))
	}
	return []byte(word)
}

var (
	blockItem = regexp.MustCompile(`^\s*-\s*$`)
	before    = regexp.MustCompile(`([\[,])\s*$`)
	after     = regexp.MustCompile(`^\s*([,\]])`)
)

// without is a text without a part: an argument of a shell command with the line it leaves empty, the items of a YAML list, or those of a
// list in brackets.
func without(data []byte, from, to int) []byte {
	start := bytes.LastIndexByte(data[:from], '\n') + 1
	if blockItem.Match(data[start:from]) {
		return cut(data, start, lineEnd(data, to))
	}
	left, right := before.FindSubmatchIndex(data[:from]), after.FindSubmatchIndex(data[to:])
	switch {
	case left == nil || right == nil:
		return argument(data, from, to)
	case data[to+right[2]] == ',':
		end := to + right[3]
		for end < len(data) && (data[end] == ' ' || data[end] == '\n') {
			end++
		}
		return cut(data, from, end)
	case data[left[2]] == ',':
		return cut(data, left[2], to)
	}
	return cut(data, from, to)
}

// argument is a text without an argument of a command. A line that has nothing else goes too, and with the last line of a command the
// backslash before it.
func argument(data []byte, from, to int) []byte {
	for to < len(data) && (data[to] == ' ' || data[to] == '\t') {
		to++
	}
	start, end := bytes.LastIndexByte(data[:from], '\n')+1, lineEnd(data, to)
	rest := strings.TrimSpace(string(data[start:from]) + string(data[to:end]))
	switch {
	case rest == `\`:
		return cut(data, start, end)
	case rest != "":
		if to == len(data) || data[to] == '\n' {
			for from > start && (data[from-1] == ' ' || data[from-1] == '\t') {
				from--
			}
		}
		return cut(data, from, to)
	}
	kept := bytes.TrimRight(data[:start], " \t\n")
	if joined, ok := bytes.CutSuffix(kept, []byte(`\`)); ok {
		return append(append(bytes.TrimRight(joined, " \t"), '\n'), data[end:]...)
	}
	return cut(data, start, end)
}

// lineEnd is behind the line break of a line, or the end of the text.
func lineEnd(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(data)
}

// cut is a text without a part.
func cut(data []byte, from, to int) []byte {
	return append(append([]byte{}, data[:from]...), data[to:]...)
}
