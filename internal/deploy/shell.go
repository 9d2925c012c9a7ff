package deploy

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
	s := splitter{}
	for i := 0; i < len(script); i++ {
		c := script[i]
		switch {
		case s.quote == '\'' && c != '\'', s.quote == '"' && c != '"' && c != '\\':
			s.put(c)
		case s.quote == c && c != 0:
			s.quote = 0
		case c == '\\' && i+1 < len(script):
			if i++; script[i] != '\n' {
				if s.quote == '"' && !strings.ContainsRune("\"\\$`", rune(script[i])) {
					s.put('\\')
				}
				s.put(script[i])
			}
		case s.quote == 0 && (c == '\'' || c == '"'):
			s.quote, s.inWord = c, true
		case c == '#' && !s.inWord:
			for i+1 < len(script) && script[i+1] != '\n' {
				i++
			}
		case c == ' ' || c == '\t':
			s.endWord()
		case strings.ContainsRune("\n;&|()", rune(c)) && !s.sum(c):
			s.endCommand()
		default:
			s.put(c)
		}
	}
	s.endCommand()
	return s.commands
}

// splitter is the state of split.
type splitter struct {
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
