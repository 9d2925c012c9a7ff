package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops"
)

// recommendFlags are those of "plimsoll cli recommend".
type recommendFlags struct {
	ops.RecommendRequest
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
		Long: `Recommend finds the fewest GPUs that carry a load within limits on TTFT and TPOT: requests per second, or requests in flight.
For units of workers of every size it takes as many copies as the load needs by what one carries, simulates them at the load
(requests per second come at random), and adds copies where the limits are missed. Rows are ranked by GPUs, then by tokens
per second and GPU.`,
		Example: `  plimsoll cli recommend --model-path Qwen/Qwen3-32B-FP8 --system h200_sxm --target-request-rate 20 --isl 3000 --osl 512 \
      --ttft 1000 --tpot 20
  plimsoll cli recommend --model QWEN3_235B --system h200_sxm --target_concurrency 500 --backend auto
  plimsoll cli recommend --model-path openai/gpt-oss-120b --system b200_sxm --target-request-rate 50 --percentile p95 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, env) },
	}
	f.defineAll(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("device", completeDevice)
	_ = cmd.RegisterFlagCompletionFunc("decode-system", completeDevice)
	return cmd
}

// defineAll adds the flags.
func (f *recommendFlags) defineAll(fs *pflag.FlagSet) {
	section(fs, "Problem", func(fs *pflag.FlagSet) {
		f.modelFlags(fs)
		f.targetFlags(fs)
		f.backendFlags(fs)
		nargs.Var(fs, &f.ServingMode, "serving-mode", nargs.OneOf("auto", "agg", "disagg"), "agg, disagg, or auto for both (default auto)")
		f.wideFlag(fs)
	})
	section(fs, "Workload and limits", func(fs *pflag.FlagSet) {
		f.lengthFlags(fs, 4000, 1000)
		f.limitFlags(fs)
		f.confidenceFlags(fs)
		f.draftFlags(fs)
		f.engineFlags(fs)
		f.settingFlags(fs)
	})
	section(fs, "Output", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.Top, "top-n", 5, "rows of each table")
		f.outputFlags.define(fs)
		calibration(fs, &f.Calibration, "80 % intervals")
		perfData(fs, &f.PerfData)
		fs.IntVar(&f.Jobs, "jobs", 0, "simulations at a time (default 8)")
	})
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
	if isZero(fs, "top-n") || f.Top < 0 {
		return usagef("--top-n must be positive, got %d", f.Top)
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
	f.notes(env, append([]string{plan.Effective}, plan.Notes...))
	f.Experiments = plan.Experiments
	world, line := env.world(), env.progress(f.quiet)
	world.Progress = line.show
	r, err := ops.On(world).Recommend(cmd.Context(), f.RecommendRequest)
	line.done()
	if err != nil {
		return asked(err)
	}
	if f.json {
		err = env.JSON(document.NewRecommend(r))
	} else {
		report.Recommend(env.Stdout, r, report.OptimizeView{Color: env.Color(env.Stdout) && !f.noColor, Width: env.Width()})
	}
	if f.save.dir != "" {
		f.save.site.ModelPath = f.served()
		say := func(text string) { f.notes(env, []string{text}) }
		err = errors.Join(err, f.save.saveNeeds(env, world, r, say))
	}
	for i := range r.Results {
		if x := &r.Results[i]; x.Failure != "" {
			err = errors.Join(err, fmt.Errorf("experiment %s: %s", x.Experiment.Name, x.Failure))
		}
	}
	return err
}
