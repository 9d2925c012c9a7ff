package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
)

// stepFlags are the flags of "plimsoll step".
type stepFlags struct {
	*step.Form

	vendor textGenerateFlags
	json   bool
	trace  string
}

// newStepCmd makes "plimsoll step".
func newStepCmd(env *Env) *cobra.Command {
	f := &stepFlags{Form: step.NewForm()}
	cmd := &cobra.Command{
		Use:               "step MODEL",
		Aliases:           []string{"text_generate", "text-generate"},
		Short:             "Predict the time and memory of one forward pass",
		GroupID:           groupPlan,
		Args:              modelArg,
		RunE:              func(cmd *cobra.Command, args []string) error { return runStep(cmd, env, f, args) },
		ValidArgsFunction: completeModel,
	}
	f.define(cmd.Flags())
	return cmd
}

// define adds the flags, in the sections help shows.
func (f *stepFlags) define(fs *pflag.FlagSet) {
	asks(fs, f.Table())
	section(fs, "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.json, "json", false, "print JSON")
		outputVar(fs, &f.trace, aFile, "chrome-trace", "write the step as a Perfetto trace")
	})
	f.vendor.define(fs)
}

// typed is the request that flags and arguments make.
func (f *stepFlags) typed(cmd *cobra.Command, args []string) (step.Request, error) {
	args, err := f.vendor.arguments(args)
	r, wrong := f.Ask()
	if err == nil {
		r.Deployment.Model, err = theModel(cmd, args)
	}
	l := f.Layout()
	return r, errors.Join(err, f.vendor.check(cmd, l.TP, l.DP), usage(wrong))
}

// runStep evaluates and prints.
func runStep(cmd *cobra.Command, env *Env, f *stepFlags, args []string) error {
	world := env.world()
	q, err := f.typed(cmd, args)
	if err != nil {
		return together(err, step.Check(world, q))
	}
	r, err := step.Run(cmd.Context(), world, q)
	if err != nil {
		return asked(err)
	}
	tableNotes(env.Note, r.Tables)
	if f.json {
		err = env.JSON(r)
	} else {
		env.print(func(w io.Writer) { report.Step(w, r) })
	}
	if f.trace != "" {
		err = errors.Join(err, env.create("chrome-trace", f.trace, func(w io.Writer) error { return report.Trace(w, &r.Result) }))
	}
	return err
}

// completeModel offers catalog ids to the shell.
func completeModel(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, e := range model.IDs() {
		ids = append(ids, e.ID)
	}
	return ids, cobra.ShellCompDirectiveDefault
}

// completeDevice offers device names to the shell.
func completeDevice(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return device.Names(), cobra.ShellCompDirectiveNoFileComp
}
