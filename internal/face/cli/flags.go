package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/ask"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// sectionKey is the annotation under which a flag carries the heading that help prints it below.
const sectionKey = "plimsoll_section"

// section defines flags that belong together; help prints them below title, in the order of their definition, and the
// sections in the order of their first flag. Calling it twice with one title adds to that section.
func section(into *pflag.FlagSet, title string, define func(*pflag.FlagSet)) {
	fs := pflag.NewFlagSet(title, pflag.ContinueOnError)
	fs.SortFlags = false
	define(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[sectionKey] = []string{title}
	})
	into.SortFlags = false
	into.AddFlagSet(fs)
}

// asks defines the fields of a table as flags; of some sections, or of all.
func asks(into *pflag.FlagSet, t *ask.Table, titles ...string) {
	own := map[*pflag.Flag]bool{} // of the command, which stay where they are
	into.VisitAll(func(flag *pflag.Flag) { own[flag] = true })
	into.SortFlags = false
	t.Flags(into, titles...)
	t.Each(func(f *ask.Field) {
		if flag := into.Lookup(f.Name); flag != nil && !own[flag] {
			_ = into.SetAnnotation(f.Name, sectionKey, []string{f.Section})
		}
	})
}

// flagSection is the flags below one heading.
type flagSection struct {
	title string
	flags []*pflag.Flag
}

// sections sorts the visible flags of fs by heading; flags that have none come first, below "Flags".
func sections(fs *pflag.FlagSet) []flagSection {
	all := []flagSection{{title: "Flags"}}
	at := map[string]int{"Flags": 0}
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		title := "Flags"
		if v := f.Annotations[sectionKey]; len(v) == 1 {
			title = v[0]
		}
		i, known := at[title]
		if !known {
			i = len(all)
			at[title] = i
			all = append(all, flagSection{title: title})
		}
		all[i].flags = append(all[i].flags, f)
	})
	if len(all[0].flags) == 0 {
		all = all[1:]
	}
	return all
}

// zeros reports counts that were set to zero, which in a request means unset.
func zeros(fs *pflag.FlagSet, fields ...field.Name) error {
	var errs []error
	for _, name := range fields {
		if isZero(fs, strings.TrimPrefix(flagOf(name), "--")) {
			errs = append(errs, session.Zero(name))
		}
	}
	return asked(errors.Join(errs...))
}

// notZero reports a flag that was set to zero, with the range that it must be in.
func notZero(fs *pflag.FlagSet, flag, within string) error {
	if isZero(fs, flag) {
		return usagef("--%s must be %s, got 0", flag, within)
	}
	return nil
}

// given lists the flags that were set, of those that count.
func given(fs *pflag.FlagSet, counts func(*pflag.Flag) bool) []string {
	var out []string
	fs.Visit(func(f *pflag.Flag) {
		if counts(f) {
			out = append(out, f.Name)
		}
	})
	return out
}

// firstGiven is the first of some flags that was set, "" for none.
func firstGiven(fs *pflag.FlagSet, flags ...string) string {
	i := slices.IndexFunc(flags, fs.Changed)
	if i < 0 {
		return ""
	}
	return flags[i]
}

// isZero reports whether a number was set to zero.
func isZero(fs *pflag.FlagSet, flag string) bool {
	f := fs.Lookup(flag)
	x, err := strconv.ParseFloat(f.Value.String(), 64)
	return f.Changed && err == nil && x == 0
}

// flagOf is the flag of a request field.
func flagOf(name field.Name) string {
	switch name {
	case "image":
		return "--k8s-image"
	case "pd_ratio":
		return "--enable-optimize-prefill-decode-ratio"
	case "shared_expert_tp":
		return "--enable-shared-expert-tp"
	}
	return "--" + strings.ReplaceAll(string(name), "_", "-")
}
