package cli

import (
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
)

// Asked is the request that a command line makes, with its files not read.
func Asked(args []string) (request any, err error) {
	env := &Env{Args: args, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	var define func(*pflag.FlagSet)
	var ask func(words []string) (any, error)
	switch args[0] {
	case "step":
		f := &stepFlags{Form: step.NewForm()}
		define, ask = f.define, func(words []string) (any, error) {
			r, err := f.Ask()
			r.Deployment.Model = strings.Join(words, " ")
			return r, err
		}
	case "simulate":
		f := &simulateFlags{Form: simulate.NewForm()}
		define, ask = f.define, func(words []string) (any, error) {
			f.Model(words)
			return f.Ask()
		}
	case "plan":
		f := &planFlags{Form: plan.NewForm()}
		define, ask = f.define, func(words []string) (any, error) {
			r, err := f.Ask()
			r.Model = strings.Join(words, " ")
			return r, err
		}
	case "throughput-optimizer":
		f := newOptimizeFlags()
		define, ask = f.define, func(words []string) (any, error) {
			r, err := f.Ask()
			r.Model = strings.Join(words, " ")
			return r, err
		}
	default:
		return nil, errors.New("no command")
	}
	cmd := &cobra.Command{Use: args[0], Run: func(*cobra.Command, []string) {}}
	define(cmd.Flags())
	newRootCmd(env, []*cobra.Command{cmd}, &profiles{})
	if err := cmd.ParseFlags(nargs.Rewrite(args[1:], cmd.Flags())); err != nil {
		return nil, err
	}
	return ask(cmd.Flags().Args())
}

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
