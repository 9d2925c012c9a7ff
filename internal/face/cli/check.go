package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// newCheckCmd makes "plimsoll check".
func newCheckCmd(env *Env) *cobra.Command {
	f := &simulateFlags{Form: simulate.NewOpenForm()}
	var against string
	cmd := &cobra.Command{
		Use:     "check RESULT [MODEL]",
		Short:   "Compare a benchmark result with its prediction, and explain differences",
		GroupID: groupTrust,
		Args:    arguments(1, "RESULT", "MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := check.Request{File: args[0]}
			if err := f.expected(cmd, env, against, args, &r); err != nil {
				return err
			}
			res, err := watched(cmd.Context(), env, false, check.Run, r)
			if err != nil {
				return err
			}
			return show(env, f.json, res, report.CheckResult)
		},
	}
	f.defineOpen(cmd.Flags())
	section(cmd.Flags(), simulate.DeploymentSection, func(fs *pflag.FlagSet) {
		fs.StringVar(&against, "against", "", "compare with the best deployment of a plan `file`")
	})
	return cmd
}

// defineOpen adds the flags of simulate that say what a result does not.
func (f *simulateFlags) defineOpen(fs *pflag.FlagSet) {
	f.define(fs)
	for _, name := range []string{"per-request", "timeline", "no-terminal-plots", "ttft-limit", "tpot-limit"} {
		_ = fs.MarkHidden(name)
	}
}

// expected is the deployment and load to predict: those of a plan, or those of the flags.
func (f *simulateFlags) expected(cmd *cobra.Command, env *Env, against string, args []string, r *check.Request) error {
	if against != "" {
		if f.File() != "" || len(args) > 1 {
			return usagef("--against excludes MODEL and --deployment")
		}
		var err error
		r.Expected, err = planned(env, against)
		return err
	}
	world := env.world()
	runs, err := check.Runs(world, args[0])
	if err != nil {
		return asked(err)
	}
	model := args[1:]
	if run := &runs[0]; f.File() == "" && len(model) == 0 && run.Model != "" {
		model = []string{run.Model}
	}
	r.Expected, err = f.typed(cmd, env, model)
	return err
}

// planned is the deployment and load of a plan's best contender.
func planned(env *Env, file string) (out simulate.Request, err error) {
	data, err := env.ReadFile(file, bound.Record)
	if err != nil {
		return out, usagef("reading --against: %w", err)
	}
	p, err := plan.Read(data)
	if err == nil {
		out, err = p.Expected()
	}
	if err != nil {
		return out, usagef("--against %s: %v", file, err)
	}
	return out, nil
}
