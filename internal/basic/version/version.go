// Package version orders the releases of engines, which are Python packages: "0.11.2", "1.2.0rc6.post3".
//
// In: the text of versions. Out: their order by PEP 440 (peps.python.org/pep-0440), and an error for what is not a version.
// Local parts ("+cu129") say how a release was built and do not count. It does not know which releases exist. Start at
// [Compare].
package version

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Compare returns a number below 0 if release a comes before b, above 0 if after, and 0 if both are the same: "0.14" is
// "0.14.0". Text that is not a version comes before all that is, in the order of its bytes.
func Compare(a, b string) int {
	v, isA := parse(a)
	w, isB := parse(b)
	switch {
	case !isA && !isB:
		return strings.Compare(a, b)
	case !isA:
		return -1
	case !isB:
		return 1
	}
	x, y := &v.suffix, &w.suffix
	return cmp.Or(
		cmp.Compare(v.epoch, w.epoch), slices.Compare(v.release, w.release),
		cmp.Compare(x.stage, y.stage), cmp.Compare(x.pre, y.pre), cmp.Compare(x.post, y.post), cmp.Compare(x.dev, y.dev),
	)
}

// Check returns an error that says what is wanted if s is not a version.
func Check(s string) error {
	if _, ok := parse(s); !ok {
		return fmt.Errorf("%q is not a version; want for example 0.11.2 or 1.2.0rc6", s)
	}
	return nil
}

// Major is the first number of a release, 0 for what is not a version.
func Major(s string) int {
	v, _ := parse(s)
	if len(v.release) == 0 {
		return 0
	}
	return v.release[0]
}

// Release is the first numbers of a version, three at most ("1.2.0" of "1.2.0rc2.post2"), whatever follows them, or the
// whole text where it does not begin with two.
func Release(s string) string {
	r := reader{strings.TrimPrefix(s, "v")}
	begin := r.rest
	_, ok := r.number()
	for i := 1; ok && i < 3; i++ {
		if _, more := r.numberAfter("."); !more {
			ok = i > 1
			break
		}
	}
	if !ok {
		return s
	}
	return strings.TrimSuffix(begin, r.rest)
}

// version is a release; versions compare by their fields, in this order.
type version struct {
	epoch   int
	release []int // without zeros at the end
	// stage and pre are one of the stages and its number; post is -1 and dev
	// endless where the version has none.
	suffix struct{ stage, pre, post, dev int }
}

// The stages before a release, and the release.
const (
	development = iota
	alpha
	beta
	candidate
	final
)

// parse reads a version as PEP 440 writes it, and the other spellings that it asks
// tools to read: capitals, a "v" in front, other separators and words.
func parse(s string) (v version, isVersion bool) {
	text, local, built := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "+")
	r := reader{strings.TrimPrefix(text, "v")}
	n, ok := r.number()
	if rest, found := strings.CutPrefix(r.rest, "!"); ok && found {
		v.epoch, r.rest = n, rest
		n, ok = r.number()
	}
	for more := ok; more; n, more = r.numberAfter(".") {
		v.release = append(v.release, n)
	}
	for len(v.release) > 0 && v.release[len(v.release)-1] == 0 {
		v.release = v.release[:len(v.release)-1]
	}
	v.readSuffix(&r)
	if !ok || r.rest != "" || built && !validLocal(local) {
		return version{}, false
	}
	return v, true
}

func (v *version) readSuffix(r *reader) {
	x := &v.suffix
	x.stage, x.post, x.dev = final, -1, math.MaxInt
	if word, n := r.word("alpha", "a", "beta", "b", "preview", "pre", "rc", "c"); word != "" {
		switch x.pre = n; word[0] {
		case 'a':
			x.stage = alpha
		case 'b':
			x.stage = beta
		default:
			x.stage = candidate
		}
	}
	if word, n := r.word("post", "rev", "r"); word != "" {
		x.post = n
	} else if n, ok := r.numberAfter("-"); ok {
		x.post = n
	}
	if word, n := r.word("dev"); word != "" {
		if x.dev = n; x.stage == final && x.post < 0 {
			x.stage = development
		}
	}
}

// reader takes a version apart from the left. What it does not know stays.
type reader struct{ rest string }

// number takes digits.
func (r *reader) number() (n int, ok bool) {
	end := 0
	for end < len(r.rest) && r.rest[end] >= '0' && r.rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(r.rest[:end])
	if err != nil { // none, or too many
		return 0, false
	}
	r.rest = r.rest[end:]
	return n, true
}

// numberAfter takes a separator that a number follows, and both only together.
func (r *reader) numberAfter(separator string) (n int, ok bool) {
	if rest, found := strings.CutPrefix(r.rest, separator); found {
		after := reader{rest}
		if n, ok = after.number(); ok {
			*r = after
		}
	}
	return n, ok
}

const separators = "-_."

// word takes the first of some words that comes next, with the number after it, 0
// if there is none. A separator may stand on both sides of the word, which is ""
// if none comes.
func (r *reader) word(words ...string) (word string, n int) {
	rest := cutSeparator(r.rest)
	for _, word := range words {
		if after, ok := strings.CutPrefix(rest, word); ok {
			r.rest = cutSeparator(after)
			n, _ := r.number()
			return word, n
		}
	}
	return "", 0
}

func cutSeparator(s string) string {
	if s != "" && strings.Contains(separators, s[:1]) {
		return s[1:]
	}
	return s
}

// validLocal reports whether a local part is letters and digits, with single
// separators between them.
func validLocal(local string) bool {
	word := false // the last character was no separator
	for _, c := range local {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			word = true
		case word && strings.ContainsRune(separators, c):
			word = false
		default:
			return false
		}
	}
	return word
}
