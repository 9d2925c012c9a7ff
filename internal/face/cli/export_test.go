package cli

import (
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Outputs are the flags of all commands that name what is written, and those whose help says that they write, as one types them.
func Outputs() (marked, said []string) {
	env := &Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	writes := regexp.MustCompile("^(also )?(write|plot)|to write:|and written|`(file|folder|directory)` to write")
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name := strings.TrimPrefix(c.CommandPath(), "plimsoll ") + " --" + f.Name
			if f.Annotations[outputKey] != nil && (!f.Hidden || strings.HasSuffix(f.Name, "profile")) {
				marked = append(marked, name)
			} else if f.Annotations[outputKey] == nil && f.Value.Type() == "string" && writes.MatchString(f.Usage) {
				said = append(said, name)
			}
		})
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(newRootCmd(env, commands(env), &profiles{}))
	return marked, said
}

// Leaves are the commands that have none below them, as one types them after the program's name.
func Leaves() []string {
	env := &Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	root := newRootCmd(env, commands(env), &profiles{})
	var out []string
	for _, c := range root.Commands() {
		if !c.HasSubCommands() {
			out = append(out, c.Name())
		}
		for _, below := range c.Commands() {
			out = append(out, c.Name()+" "+below.Name())
		}
	}
	return out
}
