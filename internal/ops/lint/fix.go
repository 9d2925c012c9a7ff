package lint

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// Fixable reports whether [Mended] has something to write for a finding.
func (f *Finding) Fixable() bool {
	rule := RuleOf(f.Code)
	return rule != nil && rule.Fixed && f.At.Line > 0 && (f.Rename != "" || len(f.Words) > 0 || f.Remove)
}

// part is what corrections are about.
type part int

// The parts, in the order they are corrected.
const (
	flags  part = iota // other flags, or none
	keys               // other keys of config files, or none
	values             // other values
)

// part is that of a finding.
func (f *Finding) part() part {
	switch {
	case f.Rename == "" && !f.Remove:
		return values
	case strings.HasPrefix(f.At.Flag, "-") || f.Code == "PL007":
		return flags
	}
	return keys
}

// Mended are the files that findings are about with their corrections: another flag or key, none, or other values. Comments and layout
// stay. Values are corrected once all flags are, since a flag that the engine does not know may be what they depend on. A value that stands elsewhere,
// as in a variable, and a correction after which the file cannot be read as before, are left out. The path of a command is "".
func (r *Response) Mended(files []launch.File) []launch.File {
	for _, p := range []part{flags, keys, values} {
		if out := r.mended(files, p); len(out) > 0 {
			return out
		}
	}
	return nil
}

// mended are files with corrections of one part.
func (r *Response) mended(files []launch.File, p part) []launch.File {
	var out []launch.File
	for _, f := range files {
		var all []*Finding
		for i := range r.Findings {
			if x := &r.Findings[i]; x.Fixable() && x.At.File == f.Path && x.part() == p {
				all = append(all, x)
			}
		}
		// From the end, so that lines keep their numbers.
		slices.SortStableFunc(all, func(a, b *Finding) int { return b.At.Line - a.At.Line })
		data := f.Data
		if p == keys {
			data = rekeyed(f.Path, data, all)
		}
		for _, x := range all {
			if p == keys {
				break
			}
			if next := x.apply(data); next != nil && readsAlike(f.Path, data, next) {
				data = next
			}
		}
		if !bytes.Equal(data, f.Data) {
			out = append(out, launch.File{Path: f.Path, Mode: f.Mode, Data: data})
		}
	}
	return out
}

// apply is a text with a correction of a flag or of values, nil if what is to be corrected is not where it was read.
func (f *Finding) apply(data []byte) []byte {
	begin := lineStart(data, f.At.Line)
	flag := f.At.Flag
	if !strings.HasPrefix(flag, "-") && f.Code != "PL007" { // keys are paths, and a file has their last part
		_, flag = launch.CutLast(flag)
	}
	i := tokenAt(data[begin:], flag)
	if i < 0 || begin+i >= lineStart(data, f.At.Line+1) && f.Code != "PL007" {
		return nil
	}
	at, end := begin+i, begin+i+len(flag)
	whole := f.Remove || strings.HasPrefix(f.Rename, "--") && strings.Contains(f.Rename, "=")
	switch {
	case whole:
		from, to := f.region(data, at, end)
		if from < 0 {
			return nil
		}
		if !f.Remove {
			return slices.Concat(data[:from], quoted(data[from:to], f.Rename), data[to:])
		}
		return without(data, from, to)
	case f.Rename != "":
		return slices.Concat(data[:at], []byte(f.Rename), data[end:])
	}
	from, to, between := valuesAt(data[end:], f.At.Words)
	if from < 0 || len(f.Words) != 1 && len(f.At.Words) < 2 {
		return nil
	}
	return slices.Concat(data[:end+from], []byte(strings.Join(f.Words, between)), data[end+to:])
}

// lineStart is where a line begins, the end of the text if there is none.
func lineStart(data []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return len(data)
		}
		at += i + 1
	}
	return at
}

// tokenAt is where a flag or key stands by itself, −1 if nowhere.
func tokenAt(data []byte, token string) int {
	if token == "" {
		return -1
	}
	inner := func(c byte) bool {
		return c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte(token))
		if i < 0 {
			return -1
		}
		at, end := from+i, from+i+len(token)
		if (at == 0 || !inner(data[at-1])) && (end == len(data) || !inner(data[end])) {
			return at
		}
		from = end
	}
}

// valuesAt is where the values after a flag are, and what is between two of them: blanks, quotes, line breaks, and the marks of
// lists.
func valuesAt(data []byte, words []string) (from, to int, between string) {
	if len(words) == 0 {
		return -1, -1, ""
	}
	const gap = `([\s"',:=\[\\-]*?)`
	var b strings.Builder
	b.WriteString("^" + gap)
	for i, w := range words {
		if i > 0 {
			b.WriteString(`([\s"',\\-]+)`)
		}
		b.WriteString(regexp.QuoteMeta(w))
	}
	b.WriteString(`(?:[^\w.]|$)`)
	at := regexp.MustCompile(b.String()).FindSubmatchIndex(data)
	if at == nil {
		return -1, -1, ""
	}
	from, to = at[3], at[3]
	for i, w := range words {
		if i > 0 {
			to = at[3+2*i]
		}
		if i == 1 {
			between = string(data[at[4]:at[5]])
		}
		to += len(w)
	}
	return from, to, between
}

// readsAlike reports whether a corrected text still starts the same engines, with no more problems than before.
func readsAlike(path string, before, after []byte) bool {
	read := func(data []byte) *launch.Found {
		var found *launch.Found
		var err error
		if path == "" {
			found, err = launch.ReadCommand(string(data))
		} else if found, err = launch.Read(launch.File{Path: path, Data: data}); err != nil {
			found, err = launch.ReadCommand(string(data))
		}
		if err != nil {
			return nil
		}
		return found
	}
	a, b := read(before), read(after)
	if a == nil || b == nil {
		return a == b // a file of settings, which only others read
	}
	return len(a.Launches) == len(b.Launches) && a.Deployment.Model == b.Deployment.Model && a.Deployment.Engine.Name == b.Deployment.Engine.Name && len(b.Problems) <= len(a.Problems)
}
