package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// The exit codes of the program.
const (
	ExitOK       = 0
	ExitFailure  = 1  // the request is valid but failed
	ExitUsage    = 2  // the request is invalid: a flag, a name, a file's content
	ExitInternal = 70 // a bug in the program (EX_SOFTWARE of sysexits.h)
)

// usageError marks an error that the user can fix by changing the request.
type usageError struct{ error }

// Unwrap returns the error marked.
func (e *usageError) Unwrap() error { return e.error }

// usage marks err as bad input: the program exits with [ExitUsage]. A nil err stays nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

// usagef makes an error of bad input.
func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// usageIf makes an error of bad input, if something is wrong.
func usageIf(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return usagef(format, args...)
}

// hintError carries a hint on how to fix an error.
type hintError struct {
	error

	hint string
}

// Unwrap returns the error that carries the hint.
func (e *hintError) Unwrap() error { return e.error }

// Hint returns the hint.
func (e *hintError) Hint() string { return e.hint }

// withHint adds a hint to err, printed on a line of its own below it. A nil err stays nil.
func withHint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hintError{err, fmt.Sprintf(format, args...)}
}

// hints collects the hints in the tree of err, outermost first. An error of any package gives one by having a Hint method.
func hints(err error) []string {
	var out []string
	if h, ok := err.(interface{ Hint() string }); ok {
		out = append(out, h.Hint())
	}
	for _, inner := range field.Inside(err) {
		out = append(out, hints(inner)...)
	}
	return out
}

// report prints an error and returns the exit code it stands for. Joined errors take a line each.
func (e *Env) report(err error) int {
	if err == nil {
		return ExitOK
	}
	if bug, ok := errors.AsType[*pool.PanicError](err); ok {
		e.reportBug(bug)
		return ExitInternal
	}
	e.say("error", field.Say(err, flagOf))
	said := map[string]bool{}
	for _, h := range hints(err) {
		if !said[h] {
			e.say("hint", h)
		}
		said[h] = true
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return ExitUsage
	}
	return ExitFailure
}

// together joins what is wrong with flags with what the operation says is wrong with
// the request they make; where flags are wrong already, its word on them is left out.
func together(flags, request error) error {
	said := flagsIn(field.Say(flags, flagOf))
	for _, err := range field.Each(request) {
		again := func(name field.Name) bool { return slices.Contains(said, flagOf(name)) }
		if errors.Is(err, session.ErrNoModel) || slices.ContainsFunc(field.Names(err), again) {
			continue
		}
		flags = errors.Join(flags, mistake(err))
	}
	return flags
}

// flagsIn are the flags that a message of this package names.
func flagsIn(text string) []string {
	var out []string
	for word := range strings.FieldsSeq(text) {
		if strings.HasPrefix(word, "--") {
			out = append(out, strings.TrimRight(word, ",.;:"))
		}
	}
	return out
}

// say writes to stderr, every line with the program's name and the kind of message.
func (e *Env) say(kind, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(e.Stderr, "plimsoll: %s: %s\n", kind, bound.Cut(line))
	}
}

// unknownCommand is the error for a word where a command should be.
func unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	err := usagef("unknown command %q", word)
	if near, ok := nearest.Match(word, names); ok {
		return withHint(err, "did you mean \"%s %s\"?", root.CommandPath(), near)
	}
	return withHint(err, "\"%s --help\" lists the commands", root.CommandPath())
}

// flagError rewords pflag's error: the flag, what is wrong, what is allowed.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, unknown)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		if nargs.ArityOf(missing.GetFlag()) == nargs.OneOrMore {
			return usagef("--%s needs at least one value", missing.GetFlag().Name)
		}
		return usagef("--%s needs a value", missing.GetFlag().Name)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return invalidValue(invalid)
	}
	return usage(err)
}

// unknownFlag suggests the flag that was meant.
func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	if short := e.GetSpecifiedShortnames(); short != "" {
		err := usagef("unknown flag -%s for %s", e.GetSpecifiedName(), cmd.CommandPath())
		return withHint(err, "\"%s --help\" lists the flags", cmd.CommandPath())
	}
	if several := nargs.Matches(e.GetSpecifiedName(), cmd.Flags()); len(several) > 1 {
		return usagef("--%s is ambiguous: --%s", e.GetSpecifiedName(), strings.Join(several, ", --"))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	err := usagef("unknown flag --%s for %s", e.GetSpecifiedName(), cmd.CommandPath())
	if near, ok := nearest.Match(e.GetSpecifiedName(), names); ok {
		return withHint(err, "did you mean --%s?", near)
	}
	return withHint(err, "\"%s --help\" lists the flags", cmd.CommandPath())
}

// invalidValue lists the values that a flag accepts.
func invalidValue(e *pflag.InvalidValueError) error {
	cause := e.Unwrap()
	if number, ok := errors.AsType[*strconv.NumError](cause); ok {
		cause = numberProblem(number)
	}
	err := usagef("invalid value %q for --%s: %w", e.GetValue(), e.GetFlag().Name, cause)
	if choice, ok := errors.AsType[*nargs.ChoiceError](cause); ok {
		if near, ok := nearest.Match(choice.Word, choice.Allowed); ok {
			return withHint(err, "did you mean %s?", near)
		}
	}
	return err
}

// numberProblem replaces strconv's words, which name a Go function.
func numberProblem(e *strconv.NumError) error {
	switch {
	case errors.Is(e, strconv.ErrRange):
		return errors.New("out of range")
	case e.Func == "ParseBool":
		return errors.New("want true or false")
	case e.Func == "ParseFloat":
		return errors.New("want a number")
	default:
		return errors.New("want a whole number")
	}
}

// cause is why an operation on a file failed, without the name of the file.
func cause(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	if large, ok := errors.AsType[*bound.TooLargeError](err); ok {
		return &bound.TooLargeError{Kind: large.Kind, Size: large.Size}
	}
	return err
}
