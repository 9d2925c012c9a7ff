package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

// mistakes is the document of a call whose request is wrong.
type mistakes struct {
	Errors []document.Mistake `json:"errors"`
}

// newCallCmd makes "plimsoll call OPERATION [FILE]".
func newCallCmd(env *Env) *cobra.Command {
	var names []string
	for _, o := range operation.Table() {
		if !o.Writes { // a call writes nothing
			names = append(names, o.Name)
		}
	}
	return &cobra.Command{
		Use:               "call OPERATION [FILE]",
		Short:             "Answer a request in JSON, for programs",
		GroupID:           groupServe,
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return usagef("call: want an operation (%s), and a file with its request or nothing", strings.Join(names, ", "))
			}
			name, err := nargs.OneOf(names...)(args[0])
			if err != nil {
				return usagef("call: unknown operation %q: %w", args[0], err)
			}
			return call(cmd.Context(), env, name, append(args, "-")[1])
		},
	}
}

// call answers the request in a file.
func call(ctx context.Context, env *Env, name, file string) error {
	data, err := env.ReadFile(file, bound.Request)
	if err != nil {
		return usagef("call: %w", err)
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	runner, o := env.runner(nil, 0), operation.Lookup(operation.Table(), name)
	request, err := runner.Decode(o, data)
	if err == nil {
		var answer any
		if answer, err = runner.Run(ctx, o, request, nil); err == nil {
			return env.JSON(answer)
		}
	}
	if wrong, ok := errors.AsType[*document.InputError](err); ok {
		return errors.Join(usage(err), env.JSON(mistakes{wrong.Mistakes}))
	}
	return err
}
