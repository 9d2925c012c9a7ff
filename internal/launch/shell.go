package launch

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Word is a word of a generated command: a literal, which is always quoted, or an expansion of
// variables that the files themselves set.
type Word struct {
	text     string
	expands  bool
	manifest bool // "$" is doubled: Compose and Kubernetes read "$$" as "$"
}

// Command is the words of a command line.
type Command []Word

// Literals are words that stand for themselves, whatever they contain.
func Literals(words ...string) Command {
	out := make(Command, len(words))
	for i, w := range words {
		out[i] = Word{text: w}
	}
	return out
}

// Expansion is a word in which the shell, or Compose, replaces variables: "${NODE_0_IP}".
// Its text must not come from the user.
func Expansion(text string) Word { return Word{text: text, expands: strings.Contains(text, "$")} }

// Add appends literals.
func (c Command) Add(words ...string) Command { return append(c, Literals(words...)...) }

// InManifest is the command for a Compose file or a Kubernetes object, which replace
// variables themselves before a process sees them: $VAR, ${VAR} and $(VAR).
func (c Command) InManifest() Command {
	out := make(Command, len(c))
	for i, w := range c {
		w.manifest = true
		out[i] = w
	}
	return out
}

// Strings are the words as a list of arguments.
func (c Command) Strings() []string {
	out := make([]string, len(c))
	for i, w := range c {
		out[i] = w.escape(w.text)
	}
	return out
}

// Line is the command on one line of a shell script.
func (c Command) Line() string {
	out := make([]string, len(c))
	for i, w := range c {
		out[i] = w.shell()
	}
	return strings.Join(out, " ")
}

// Lines is the command in a shell script with each flag on a line.
func (c Command) Lines(indent string) string {
	var b strings.Builder
	for i, w := range c {
		switch {
		case i == 0:
		case strings.HasPrefix(w.text, "--"):
			b.WriteString(" \\\n" + indent)
		default:
			b.WriteString(" ")
		}
		b.WriteString(w.shell())
	}
	return b.String()
}

// shell is the word in a shell script.
func (w Word) shell() string {
	if w.expands {
		return `"` + w.text + `"`
	}
	return w.escape(Quote(w.text))
}

func (w Word) escape(text string) string {
	if w.expands || !w.manifest {
		return text
	}
	return strings.ReplaceAll(text, "$", "$$")
}

// Quote writes a literal argument for bash. An "=", which matters only in the first word
// of a command, stays outside of quotes. A NUL, which no argument of a process can hold,
// becomes the replacement character.
func Quote(text string) string {
	if text == "" {
		return "''"
	}
	parts := strings.Split(strings.ReplaceAll(text, "\x00", "\ufffd"), "=")
	for i, part := range parts {
		if part != "" {
			quoted, err := syntax.Quote(part, syntax.LangBash)
			if err != nil { // only a NUL cannot be quoted for bash
				quoted = "''"
			}
			parts[i] = quoted
		}
	}
	return strings.Join(parts, "=")
}
