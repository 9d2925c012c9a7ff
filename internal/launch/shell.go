package launch

import "strings"

// quote writes a word for a shell. Variables ("${NODE_RANK}") and sums stay
// expandable.
func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:@%,"
	switch {
	case word != "" && strings.Trim(word, plain) == "":
		return word
	case strings.Contains(word, "$"):
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`").Replace(word) + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quoted joins words to a command on one line.
func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return strings.Join(out, " ")
}

// lines writes a command with a flag on each line.
func lines(command []string, indent string) string {
	var b strings.Builder
	for i, w := range command {
		switch {
		case i == 0:
			b.WriteString(quote(w))
		case strings.HasPrefix(w, "--"):
			b.WriteString(" \\\n" + indent + quote(w))
		default:
			b.WriteString(" " + quote(w))
		}
	}
	return b.String()
}

// split takes a shell script apart into commands, each a list of words, without
// comments, quotes and assignments in front. It knows what launch scripts use:
// quotes, continued lines, "&", ";", pipes. Variables stay as they are.
func split(script string) [][]string {
	s := splitter{text: script}
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch {
		case s.quote != 0:
			s.quoted(c)
		case c == '\\':
			s.escaped()
		case c == '\'' || c == '"':
			s.quote, s.inWord = c, true
		case c == '#' && !s.inWord:
			s.comment()
		case c == ' ' || c == '\t':
			s.endWord()
		case strings.ContainsRune("\n;&|()", rune(c)) && !s.sum(c):
			s.endCommand()
		case !strings.ContainsRune("\n;&|()", rune(c)):
			s.put(c)
		}
	}
	s.endCommand()
	return s.commands
}

// splitter is the state of split.
type splitter struct {
	text     string
	at       int
	word     strings.Builder
	inWord   bool
	quote    byte
	words    []string
	commands [][]string
}

func (s *splitter) put(c byte) {
	s.word.WriteByte(c)
	s.inWord = true
}

// quoted takes a character inside quotes. Between double ones a backslash still
// escapes what has a meaning there.
func (s *splitter) quoted(c byte) {
	switch {
	case c == s.quote:
		s.quote = 0
	case c == '\\' && s.quote == '"' && s.at < len(s.text):
		next := s.text[s.at]
		s.at++
		if !strings.ContainsRune("\"\\$`\n", rune(next)) {
			s.put(c)
		}
		if next != '\n' {
			s.put(next)
		}
	default:
		s.put(c)
	}
}

// escaped takes the character after a backslash; a line goes on after one at its
// end.
func (s *splitter) escaped() {
	if s.at < len(s.text) {
		if c := s.text[s.at]; c != '\n' {
			s.put(c)
		}
		s.at++
	}
}

// comment skips the rest of a line.
func (s *splitter) comment() {
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		s.at++
	}
}

// sum reports a parenthesis that belongs to "$(…)", and keeps it.
func (s *splitter) sum(c byte) bool {
	text := s.word.String()
	inside := strings.Count(text, "(") > strings.Count(text, ")")
	if c == '(' && (strings.HasSuffix(text, "$") || inside) || inside {
		s.put(c)
		return true
	}
	return false
}

func (s *splitter) endWord() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.inWord = false
}

func (s *splitter) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, s.words)
	}
	s.words = nil
}
