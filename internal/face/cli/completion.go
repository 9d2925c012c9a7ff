package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

// shell is a shell that completions can be written for.
type shell struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}

// shells lists the shells cobra knows.
func shells() []shell {
	return []shell{
		{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"zsh", func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) }},
		{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"powershell", func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) }},
	}
}

// completeFlags makes the shell complete the names that flags take, on a command and those below it.
func completeFlags(cmd *cobra.Command) {
	for flag, offer := range map[string]cobra.CompletionFunc{
		"device": completeDevice, "system": completeDevice, "decode-system": completeDevice, "model": completeModel,
		"set": completeSetting, "prefill-set": completeSetting, "engine-preset": completePreset, "deployment-target": completeTarget,
	} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, offer)
		}
	}
	for _, c := range cmd.Commands() {
		completeFlags(c)
	}
}

// newCompletionCmd makes "plimsoll completion SHELL".
func newCompletionCmd(env *Env) *cobra.Command {
	var names []string
	for _, s := range shells() {
		names = append(names, s.name)
	}
	return &cobra.Command{
		Use:               "completion {bash|zsh|fish|powershell}",
		Short:             "Print a shell completion script",
		GroupID:           groupAbout,
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("completion: want one of %s", strings.Join(names, ", "))
			}
			name, err := nargs.OneOf(names...)(args[0])
			if err != nil {
				return usagef("completion: unknown shell %q: %w", args[0], err)
			}
			return shells()[slices.Index(names, name)].write(cmd.Root(), env.Stdout)
		},
	}
}
