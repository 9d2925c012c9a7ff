package cli

import (
	"embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
)

// newHelpCmd makes "plimsoll help COMMAND".
func newHelpCmd(env *Env) *cobra.Command {
	var manDir string
	cmd := &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print help about a command",
		GroupID: groupAbout,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if len(args) == 0 {
				for _, c := range cmd.Root().Commands() {
					if c.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), args[0])
			}
			if manDir != "" {
				return writeManPages(env, manDir, topic)
			}
			return topic.Help()
		},
	}
	outputVar(cmd.Flags(), &manDir, aHome, "man-dir", "write the manual pages of the command and those below it into this `directory`")
	return cmd
}

// helpTexts are the descriptions and examples of commands, in files named by the words that call the command.
//
//go:embed help
var helpTexts embed.FS

// describe gives a command and those below it their help.
func describe(cmd *cobra.Command) {
	name := strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), "plimsoll "), " ", "-")
	if text, err := helpTexts.ReadFile("help/" + name + ".md"); err == nil { // "help" needs none
		cmd.Long, cmd.Example, _ = strings.Cut(string(text), "\nExamples:\n")
	}
	for _, c := range cmd.Commands() {
		describe(c)
	}
}

// widest is the longest line of help: longer ones are hard to read on any terminal.
const widest = 100

// printHelp prints the description, usage, examples and flags of a command.
func printHelp(env *Env, cmd *cobra.Command) {
	width := widest
	if w := env.Width(); w > 0 {
		width = min(width, w)
	}
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	var b strings.Builder
	b.WriteString(reflow(text, width))
	fmt.Fprintf(&b, "\n\nUsage:\n  %s\n", cmd.UseLine())
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.TrimRight(cmd.Example, "\n"))
	}
	writeCommands(&b, cmd, width)
	cmd.InheritedFlags() // merges the flags of its parents into cmd.Flags
	for _, s := range sections(cmd.Flags()) {
		fmt.Fprintf(&b, "\n%s:\n", s.title)
		for _, f := range s.flags {
			writeEntry(&b, flagName(f), flagText(f), width)
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nRun \"%s COMMAND --help\" for the flags of a command.\n", cmd.CommandPath())
	}
	fmt.Fprint(env.Stdout, b.String())
}

// writeCommands lists the sub-commands by group.
func writeCommands(b *strings.Builder, cmd *cobra.Command, width int) {
	for _, group := range cmd.Groups() {
		heading := "\n" + group.Title + ":\n"
		for _, c := range cmd.Commands() {
			if c.GroupID == group.ID && (c.IsAvailableCommand() || c.Name() == "help") {
				b.WriteString(heading)
				heading = ""
				writeEntry(b, c.Name(), c.Short, width)
			}
		}
	}
}

// writeEntry writes a name and, in a second column, its description. After a long name the description starts on a new line.
func writeEntry(b *strings.Builder, name, text string, width int) {
	const indent, column = 2, 30
	lines := table.Wrap(text, max(width-column, 20))
	gap := column - indent - utf8.RuneCountInString(name)
	fmt.Fprintf(b, "%*s%s", indent, "", name)
	for i, line := range lines {
		if i == 0 && gap >= 2 {
			fmt.Fprintf(b, "%*s%s", gap, "", line)
		} else {
			fmt.Fprintf(b, "\n%*s%s", column, "", line)
		}
	}
	b.WriteString("\n")
}

// flagName prints a flag with its values as argparse does: "--device NAME [NAME ...]".
func flagName(f *pflag.Flag) string {
	name := "    --" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", --" + f.Name
	}
	value, _ := pflag.UnquoteUsage(f)
	if value == "" {
		return name // a switch
	}
	value = strings.ToUpper(value)
	switch nargs.ArityOf(f) {
	case nargs.OneOrMore:
		return fmt.Sprintf("%s %s [%s ...]", name, value, value)
	case nargs.ZeroOrMore:
		return fmt.Sprintf("%s [%s ...]", name, value)
	case nargs.ZeroOrOne:
		return fmt.Sprintf("%s [%s]", name, value)
	}
	return name + " " + value
}

// flagText prints the usage of a flag and its default, unless that is zero.
func flagText(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "0", "false", "[]", "0s":
		return text
	}
	return fmt.Sprintf("%s (default %s)", text, f.DefValue)
}

// reflow wraps the paragraphs of a text; indented lines stay as they are.
func reflow(text string, width int) string {
	var out []string
	var paragraph []string
	flush := func() {
		out = append(out, table.Wrap(strings.Join(paragraph, " "), width)...)
		paragraph = nil
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if line == "" || line[0] == ' ' {
			flush()
			out = append(out, line)
			continue
		}
		paragraph = append(paragraph, line)
	}
	flush()
	return strings.Join(out, "\n")
}
