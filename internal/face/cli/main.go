package cli

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

// Main runs the program in env and returns its exit code.
func Main(env *Env) int { return run(env, commands) }

// run is [Main] with any set of commands.
func run(env *Env, commands func(*Env) []*cobra.Command) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = env.reportPanic(r)
		}
	}()
	inner := *env
	out := &watchedWriter{to: env.Stdout}
	inner.Stdout = out

	var prof profiles
	root := newRootCmd(&inner, commands(&inner), &prof)
	err := execute(root, env.Args)
	err = errors.Join(err, prof.finish(&inner))
	if err == nil && out.err != nil {
		err = fmt.Errorf("writing the result: %w", out.err)
	}
	return env.report(err)
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

// reportPanic reports a bug of the program, with the stack if PLIMSOLL_DEBUG is set.
func (e *Env) reportPanic(r any) int {
	e.say("internal error", fmt.Sprint(r))
	if e.Getenv("PLIMSOLL_DEBUG") != "" {
		fmt.Fprintf(e.Stderr, "%s", debug.Stack())
	} else {
		e.say("hint", "this is a bug in plimsoll; PLIMSOLL_DEBUG=1 prints the stack")
	}
	return ExitInternal
}
