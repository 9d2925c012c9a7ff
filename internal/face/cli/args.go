package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

// arguments accepts positional arguments of these names, of which the first are required.
func arguments(required int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch n := len(args); {
		case n < required:
			return withHint(usagef("%s: no %s given", cmd.CommandPath(), names[n]), "usage: %s", cmd.UseLine())
		case n > len(names) && len(names) == 0:
			return usagef("%s: unexpected argument %q", cmd.CommandPath(), args[0])
		case n > len(names):
			last := len(names) - 1
			return usagef("%s: unexpected argument %q after %s %q", cmd.CommandPath(), args[last+1], names[last], args[last])
		}
		return nil
	}
}

// noArgs accepts no positional argument.
func noArgs(cmd *cobra.Command, args []string) error { return arguments(0)(cmd, args) }

// modelArg accepts one positional argument, the model. [theModel] reports a missing one together with other errors.
func modelArg(cmd *cobra.Command, args []string) error { return arguments(0, "MODEL")(cmd, args) }

// theModel is the model that was given.
func theModel(cmd *cobra.Command, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	err := usagef("%s: no MODEL given", cmd.CommandPath())
	if lists := given(cmd.Flags(), isList); len(lists) > 0 {
		return "", withHint(err, "--%s takes all words up to the next flag: put MODEL first", lists[len(lists)-1])
	}
	return "", withHint(err, "usage: %s", cmd.UseLine())
}

// isList reports whether a flag takes several words, and so may have swallowed a positional argument.
func isList(f *pflag.Flag) bool {
	a := nargs.ArityOf(f)
	return a == nargs.OneOrMore || a == nargs.ZeroOrMore
}

// join lists words with commas.
func join[T ~string](words []T) string { return strings.Join(nargs.Texts(words), ", ") }
