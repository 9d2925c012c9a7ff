package nargs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Arity says how many words after a flag belong to it. The values are argparse's.
type Arity string

// The arities a flag can be marked with; an unmarked flag takes one word, or none if it is a switch.
const (
	OneOrMore  Arity = "+"
	ZeroOrMore Arity = "*"
	ZeroOrOne  Arity = "?"
)

// annotation is the key under which a flag carries its arity.
const annotation = "plimsoll_nargs"

// Bare is the value handed to a list whose flag stood alone. No word of a command line can hold a NUL, so "--f=" is
// still distinct from "--f".
const Bare = "\x00"

// ArityOf returns what the flag was marked with, or "" for an ordinary flag.
func ArityOf(f *pflag.Flag) Arity {
	if v := f.Annotations[annotation]; len(v) == 1 {
		return Arity(v[0])
	}
	return ""
}

// Mark writes the arity on a flag.
func Mark(f *pflag.Flag, a Arity) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[annotation] = []string{string(a)}
}

// Rewrite turns a command line with argparse lists into one that pflag parses to the same meaning.
//
// Where a value is missing ("--n --json", or a "+" list without a word) the result ends with the flag that lacks it:
// pflag then reports exactly that, instead of taking the next flag for the value.
func Rewrite(args []string, fs *pflag.FlagSet) []string {
	args = expand(args, fs)
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		f := lookup(args[i], fs)
		if f.flag == nil {
			out = append(out, args[i])
			continue
		}
		values := f.values(args[i+1:])
		i += len(values)
		if len(values) == 0 && f.needsValue() {
			return append(out, f.word)
		}
		out = f.emit(out, values)
	}
	return out
}

// Complete is [Rewrite] for a command line whose last word is still being typed. If that word would belong to a list, it
// is put behind the list's flag, so that a shell completes it as a value of that flag.
func Complete(args []string, fs *pflag.FlagSet) []string {
	if len(args) == 0 {
		return args
	}
	head, last := expand(args[:len(args)-1], fs), args[len(args)-1]
	if isFlag(last) {
		return append(Rewrite(head, fs), last)
	}
	at := len(head)
	for at > 0 && !isFlag(head[at-1]) {
		at--
	}
	if at == 0 || head[at-1] == "--" {
		return append(Rewrite(head, fs), last)
	}
	f := lookup(head[at-1], fs)
	if f.flag == nil || len(f.values(args[at:])) != len(args)-at {
		return append(Rewrite(head, fs), last)
	}
	out := Rewrite(head[:at-1], fs)
	if values := head[at:]; len(values) > 0 {
		out, f.switches = f.emit(out, values), ""
	}
	if f.switches != "" {
		out = append(out, f.switches)
	}
	return append(out, f.name, last)
}

// Words returns the words of a command line that are neither flags nor values of flags of fs.
func Words(args []string, fs *pflag.FlagSet) []string {
	var words []string
	args = expand(args, fs)
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(words, args[i+1:]...)
		}
		if f := lookup(args[i], fs); f.flag != nil {
			i += len(f.values(args[i+1:]))
		} else if !isFlag(args[i]) {
			words = append(words, args[i])
		}
	}
	return words
}

// expand writes out long flags that are given by an unambiguous beginning, as argparse allows. A flag whose name only
// extends another's ("device-file" and "device") does not make the beginning of both ambiguous.
func expand(args []string, fs *pflag.FlagSet) []string {
	var out []string
	for i, word := range args {
		if word == "--" {
			break
		}
		long, ok := strings.CutPrefix(word, "--")
		if !ok {
			continue
		}
		name, value, valued := strings.Cut(long, "=")
		matches := Matches(name, fs)
		if len(matches) == 0 || fs.Lookup(name) != nil {
			continue
		}
		if slices.ContainsFunc(matches, func(m string) bool { return !strings.HasPrefix(m, matches[0]) }) {
			continue
		}
		if out == nil {
			out = append(out, args...)
		}
		out[i] = "--" + matches[0]
		if valued {
			out[i] += "=" + value
		}
	}
	if out == nil {
		return args
	}
	return out
}

// Matches returns the long flags that begin with name, in the order of the alphabet.
func Matches(name string, fs *pflag.FlagSet) []string {
	if name == "" {
		return nil
	}
	begin := string(fs.GetNormalizeFunc()(fs, name))
	var out []string
	fs.VisitAll(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Name, begin) {
			out = append(out, f.Name)
		}
	})
	return out
}

// spelled is a flag as it stands in a command line, waiting for values.
type spelled struct {
	flag     *pflag.Flag
	word     string // the whole word: "--device", "-d" or "-vd"
	switches string // switches in front of a short flag: the "-v" of "-vd"
	name     string // the flag alone: "--device" or "-d"
}

// lookup finds the flag that word names if the words after it may be its values: not a switch, and not a flag that
// carries its value already ("--n=4", "-n4").
func lookup(word string, fs *pflag.FlagSet) spelled {
	if long, ok := strings.CutPrefix(word, "--"); ok {
		if long == "" || strings.Contains(long, "=") {
			return spelled{}
		}
		f := fs.Lookup(long)
		if f == nil || takesNothing(f) {
			return spelled{}
		}
		return spelled{flag: f, word: word, name: word}
	}
	if !isFlag(word) {
		return spelled{}
	}
	for i := 1; i < len(word); i++ {
		f := fs.ShorthandLookup(word[i : i+1])
		if f == nil {
			return spelled{}
		}
		if takesNothing(f) {
			continue
		}
		if i < len(word)-1 {
			return spelled{} // the rest of the word is the value
		}
		s := spelled{flag: f, word: word, name: "-" + word[i:]}
		if i > 1 {
			s.switches = word[:i]
		}
		return s
	}
	return spelled{}
}

// takesNothing reports whether a flag is a switch.
func takesNothing(f *pflag.Flag) bool { return f.NoOptDefVal != "" && ArityOf(f) != ZeroOrOne }

// values returns the words at the head of rest that belong to the flag.
func (s spelled) values(rest []string) []string {
	n := 0
	for n < len(rest) && !isFlag(rest[n]) {
		n++
	}
	if a := ArityOf(s.flag); a != OneOrMore && a != ZeroOrMore {
		n = min(n, 1)
	}
	return rest[:n]
}

// needsValue reports whether the flag may not stand alone.
func (s spelled) needsValue() bool {
	a := ArityOf(s.flag)
	return a != ZeroOrMore && a != ZeroOrOne
}

// emit appends the flag with its values in pflag's form.
func (s spelled) emit(out, values []string) []string {
	if s.switches != "" {
		out = append(out, s.switches)
	}
	switch {
	case len(values) == 0 && ArityOf(s.flag) == ZeroOrMore:
		return append(out, s.name+"="+Bare)
	case len(values) == 0:
		return append(out, s.name)
	}
	for _, v := range values {
		out = append(out, s.name+"="+v)
	}
	return out
}

// isFlag reports whether a word is a flag, or the "--" that ends them. "-" stands for a standard stream and is a value,
// as are negative numbers.
func isFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && !isNegativeNumber(word)
}

// isNegativeNumber accepts "-1", "-.5" and "-1e-3", but not "-inf": that would be a flag's name.
func isNegativeNumber(word string) bool {
	if digit := word[1]; digit != '.' && (digit < '0' || digit > '9') {
		return false
	}
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}
