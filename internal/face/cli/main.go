package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
)

// Main runs the program in env and returns its exit code.
func Main(env *Env) int { return run(env, commands) }

// run is [Main] with any set of commands.
func run(env *Env, commands func(*Env) []*cobra.Command) int {
	var err error
	bug := pool.Guard(func() { err = env.run(commands) })
	return env.report(cmp.Or(bug, err))
}

// run makes the commands and runs the one that the arguments name.
func (e *Env) run(commands func(*Env) []*cobra.Command) error {
	inner := *e
	out := &watchedWriter{to: e.Stdout}
	inner.Stdout, inner.streams = out, &streams{}

	var prof profiles
	root := newRootCmd(&inner, commands(&inner), &prof)
	err := execute(root, e.Args)
	err = errors.Join(err, prof.finish(&inner))
	if err == nil && out.err != nil {
		err = fmt.Errorf("writing the result: %w", out.err)
	}
	return err
}

// execute runs the command that args name.
func execute(root *cobra.Command, args []string) error {
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		if cmd, _, err := root.Find(args[1:]); err == nil {
			cmd.InheritedFlags() // merges the flags of its parents into cmd.Flags
			args = append(args[:1:1], nargs.Complete(args[1:], cmd.Flags())...)
		}
		root.SetArgs(args)
		return root.Execute()
	}
	cmd, _, err := root.Find(args)
	if words := nargs.Words(args, root.PersistentFlags()); cmd == root && len(words) > 0 {
		return unknownCommand(root, words[0])
	}
	if err != nil {
		return usage(err)
	}
	cmd.InheritedFlags()
	root.SetArgs(nargs.Rewrite(args, cmd.Flags()))
	return root.Execute()
}

// reportBug reports a bug of the program. PLIMSOLL_DEBUG=1 adds the stack.
func (e *Env) reportBug(bug *pool.PanicError) {
	e.say("internal error", fmt.Sprint(bug.Value))
	if e.Getenv("PLIMSOLL_DEBUG") != "" {
		fmt.Fprintf(e.Stderr, "%s", bug.Stack)
	} else {
		e.say("hint", "this is a bug in plimsoll; PLIMSOLL_DEBUG=1 prints the stack")
	}
}
