package lint

import (
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// sheet is a text of lines that keep their numbers.
type sheet []sheetLine

type sheetLine struct {
	number int // 0 of a new one
	text   string
}

func newSheet(data []byte) sheet {
	var out sheet
	for i, text := range strings.SplitAfter(string(data), "\n") {
		out = append(out, sheetLine{i + 1, text})
	}
	return out
}

func (s sheet) String() string {
	var b strings.Builder
	for _, l := range s {
		b.WriteString(l.text)
	}
	return b.String()
}

// indent is how far a line is indented, −1 if it is empty or a comment.
func (l *sheetLine) indent() int {
	rest := strings.TrimLeft(l.text, " ")
	if text := strings.TrimSpace(rest); text == "" || strings.HasPrefix(text, "#") {
		return -1
	}
	return len(l.text) - len(rest)
}

// key is the key at the beginning of a line, and what follows its colon.
func (l *sheetLine) key() (key, value string) {
	key, value, ok := strings.Cut(strings.TrimSpace(l.text), ":")
	if !ok {
		return "", ""
	}
	return strings.Trim(key, `"'`), strings.TrimSpace(value)
}

// rekeyed is a text with corrections of keys: another name, another place, or none.
func rekeyed(path string, data []byte, all []*Finding) []byte {
	s := newSheet(data)
	var stay []string // keys whose correction is left out, with what they are below
	for _, f := range all {
		if f.Remove && slices.ContainsFunc(stay, func(key string) bool { return strings.HasPrefix(key, f.At.Flag+".") }) {
			continue
		}
		next := f.rekey(slices.Clone(s))
		if next == nil || !readsAlike(path, []byte(s.String()), []byte(next.String())) {
			stay = append(stay, f.At.Flag)
			continue
		}
		s = next
	}
	return []byte(s.String())
}

// rekey is a text with the correction of one key, nil if it is not alone on its line.
func (f *Finding) rekey(s sheet) sheet {
	above, name := launch.CutLast(f.At.Flag)
	i := slices.IndexFunc(s, func(l sheetLine) bool { return l.number == f.At.Line })
	if i < 0 {
		return nil
	}
	key, value := s[i].key()
	if key != name {
		return nil
	}
	rename, other, valued := strings.Cut(f.Rename, "=")
	if valued {
		value = other
	}
	end := s.blockEnd(i)
	to, last := launch.CutLast(rename)
	switch {
	case f.Remove:
		return slices.Delete(s, i, end)
	case above == to:
		old := s[i].text
		s[i].text = strings.Replace(old, name, last, 1)
		if valued {
			s[i].text = strings.Repeat(" ", s[i].indent()) + last + ": " + value + "\n"
		}
		return s
	case end > i+1: // a mapping or a list below it
		return nil
	}
	return s.move(i, to, last, value)
}

// blockEnd is behind the lines of the value of a key.
func (s sheet) blockEnd(i int) int {
	own := s[i].indent()
	_, value := s[i].key()
	end := i + 1
	for j := i + 1; j < len(s); j++ {
		in := s[j].indent()
		item := value == "" && in == own && strings.HasPrefix(strings.TrimSpace(s[j].text), "- ")
		if in >= 0 && in <= own && !item {
			break
		}
		if in >= 0 {
			end = j + 1
		}
	}
	return end
}

// move puts the key of a line below another key of the mapping that its path begins in, "" for that mapping itself.
func (s sheet) move(i int, above, name, value string) sheet {
	in := s[i].indent()
	first := i // of the old mapping, if it is below one
	for s[first].indent() >= in && first > 0 && s.below(i) {
		first--
	}
	top := s[first].indent()
	s = slices.Delete(s, i, i+1)
	pad := strings.Repeat(" ", top)
	if above == "" {
		end := min(i, len(s))
		if first < i {
			end = s.blockEnd(first)
		}
		return slices.Insert(s, end, sheetLine{0, pad + name + ": " + value + "\n"})
	}
	for j := range s {
		if key, rest := s[j].key(); key == above && s[j].indent() == top && s.sameBlock(first, j, top) {
			if rest != "" {
				return nil
			}
			return slices.Insert(s, j+1, sheetLine{0, pad + "  " + name + ": " + value + "\n"})
		}
	}
	end := min(i, len(s))
	if first < i {
		end = s.blockEnd(first)
	}
	return slices.Insert(s, end, sheetLine{0, pad + above + ":\n"}, sheetLine{0, pad + "  " + name + ": " + value + "\n"})
}

// below reports whether a line is of a mapping below another key.
func (s sheet) below(i int) bool {
	in := s[i].indent()
	for j := i - 1; j >= 0; j-- {
		if at := s[j].indent(); at >= 0 && at < in {
			_, value := s[j].key()
			key, _ := s[j].key()
			return key != "" && value == "" && !strings.HasSuffix(key, ".yaml") && !strings.HasSuffix(key, ".yml")
		}
	}
	return false
}

// sameBlock reports whether no line between two is indented less than both.
func (s sheet) sameBlock(i, j, top int) bool {
	for k := min(i, j); k <= max(i, j) && k < len(s); k++ {
		if in := s[k].indent(); in >= 0 && in < top {
			return false
		}
	}
	return true
}
