package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
)

// recommendFlags are those of "plimsoll cli recommend".
type recommendFlags struct {
	recommend.Request
	defaultFlags
	outputFlags
	save saveFlags
}

// newRecommendCmd makes "plimsoll cli recommend".
func newRecommendCmd(env *Env) *cobra.Command {
	f := &recommendFlags{}
	cmd := &cobra.Command{
		Use:   "recommend",
		Short: "Find the fewest GPUs for a request rate or a concurrency",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd, env) },
	}
	f.defineAll(cmd.Flags())
	return cmd
}

// defineAll adds the flags.
func (f *recommendFlags) defineAll(fs *pflag.FlagSet) {
	section(fs, "Problem", func(fs *pflag.FlagSet) {
		f.modelFlags(fs)
		f.targetFlags(fs)
		f.backendFlags(fs)
	})
	section(fs, "Workload and limits", f.workloadFlags)
	section(fs, "Output", func(fs *pflag.FlagSet) { f.tableFlags(fs, &f.Top, &f.Jobs, &f.Sources) })
	f.save.define(fs)
	silentFlags(fs)
	sourceFlags(fs)
}

// recommendInstead answers "plimsoll cli default" with a target and no number of GPUs.
func recommendInstead(cmd *cobra.Command, env *Env, f *configureFlags, d *defaultFlags) error {
	r := &recommendFlags{defaultFlags: *d, outputFlags: f.outputFlags, save: f.save}
	r.Sources, r.Top, r.Jobs = f.Sources, f.Top, f.Jobs
	return r.run(cmd, env)
}

// run searches and prints. It fails where an experiment does.
func (f *recommendFlags) run(cmd *cobra.Command, env *Env) error {
	fs := cmd.Flags()
	if err := rows(fs, f.Top); err != nil {
		return err
	}
	var missing error
	rate, inFlight := fs.Changed("target-request-rate"), fs.Changed("target-concurrency")
	switch {
	case rate == inFlight:
		missing = usagef("give one of --target-request-rate and --target-concurrency")
	case rate && !(f.rate > 0):
		missing = usagef("--target-request-rate must be positive and finite, got %g", f.rate)
	case inFlight && f.inFlight < 1:
		missing = usagef("--target-concurrency must be at least 1, got %d", f.inFlight)
	}
	f.Rate, f.Concurrency = f.rate, f.inFlight
	missing = errors.Join(missing, f.complete(cmd, env))
	plan, err := f.PlanUnits()
	if err := errors.Join(missing, usage(err), usage(f.save.site.Check())); err != nil {
		return err
	}
	load := fmt.Sprintf("_rate%g", f.Rate)
	if f.Concurrency > 0 {
		load = fmt.Sprintf("_concurrency%d", f.Concurrency)
	}
	if err := f.save.aim(env, plan.Experiments, load); err != nil {
		return err
	}
	f.notes(env, append([]string{plan.Effective}, plan.Notes...)...)
	f.Experiments = plan.Experiments
	r, err := watched(cmd.Context(), env, f.quiet, recommend.Run, f.Request)
	if err != nil {
		return err
	}
	view := report.OptimizeView{Color: env.Color(env.Stdout) && !f.noColor, Width: env.Width()}
	err = show(env, f.json, r, func(w io.Writer, r *recommend.Response) { report.Recommend(w, r, view) })
	if f.save.dir != "" {
		f.save.site.ModelPath = f.served()
		err = errors.Join(err, f.save.saveNeeds(cmd.Context(), env, r, func(text string) { f.notes(env, text) }))
	}
	return errors.Join(err, failures(r.Results))
}
