package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// newPlanCmd makes "plimsoll plan".
func newPlanCmd(env *Env) *cobra.Command {
	f := &planFlags{Form: plan.NewForm()}
	cmd := &cobra.Command{
		Use:               "plan MODEL",
		Short:             "Find the best deployment of a model: its capacity, its cost and the files that run it",
		GroupID:           groupPlan,
		Args:              modelArg,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
		ValidArgsFunction: completeModel,
	}
	f.define(cmd.Flags())
	return cmd
}

// run plans and prints.
func (f *planFlags) run(cmd *cobra.Command, env *Env, args []string) error {
	if err := f.complete(env, args); err != nil {
		return err
	}
	if f.wizard.answers != "" || f.asksFor(env) {
		return f.ask(cmd, env)
	}
	if err := f.missing(env); err != nil {
		return err
	}
	r, err := env.plan(cmd.Context(), f.Request, f.quiet)
	if err != nil {
		return err
	}
	if len(r.Contenders) == 0 {
		return errors.Join(show(env, f.json, r, report.Ways), usagef("%s %s", r.Answer.Sentence, r.Answer.Reason))
	}
	if f.out != "" {
		err = f.write(cmd.Context(), env, r)
	}
	return errors.Join(err, show(env, f.json, r, f.report()))
}

// report prints a plan, explained if that is wanted.
func (f *planFlags) report() func(io.Writer, *plan.Response) {
	if f.explain {
		return report.Explained
	}
	return report.Plan
}

// plan plans.
func (e *Env) plan(ctx context.Context, q plan.Request, quiet bool) (*plan.Response, error) {
	r, err := watched(ctx, e, quiet, plan.Run, q)
	if err == nil {
		r.Complete(e.programVersion())
	}
	return r, err
}
