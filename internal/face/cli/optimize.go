package cli

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
)

// optimizeFlags are the flags of "plimsoll throughput-optimizer".
type optimizeFlags struct {
	optimize.Request

	set          *pflag.FlagSet
	modelID      string
	noModel      error // if none was given
	input        string
	distribution string
	ttft, tpot   float64
	latency      float64
	budget       string
	// prefillTokens is the budget by its older name, under which prompts were not split.
	prefillTokens int
	servingCost   float64
	reserved      float64
	modelling     modellingFlags
	strategy      string
	accounting    string
	evaluate      string
	draft         draftFlags
	profiling     profilingFlags

	memory, json, dump bool
	csv, plot, trace   string
	noPlots            bool
	logLevel           string
	verbose, quiet     bool
	warnCombinations   int
}

// newOptimizeCmd makes "plimsoll throughput-optimizer".
func newOptimizeCmd(env *Env) *cobra.Command {
	return optimizeCmd(env, newOptimizeFlags(), &cobra.Command{
		Use:     "throughput-optimizer MODEL",
		Aliases: []string{"optimize", "throughput_optimizer"},
		Short:   "Find the layouts and batch sizes with the highest throughput within limits",
		Long: `Throughput-optimizer searches the layouts and batch sizes of MODEL for the highest throughput within limits on TTFT and
TPOT, on one or more devices. It accepts the command line of Ascend's tool of the same name.

Modes: aggregated (default) runs prefill and decode on the same devices. Disaggregated (--disagg) searches each phase alone:
prefill within --ttft-limit, decode within --tpot-limit. Ratio (--enable-optimize-prefill-decode-ratio) matches instances of
both phases, given the devices of one instance of each.

Evaluation: on GPUs, whose operator times are fitted to measured kernels, candidates are simulated under --engine in a closed
loop, and a row must meet the limits with a probability of at least --confidence. "plimsoll simulate" gives the same figures
for the same deployment. The guide's formulas evaluate candidates on other devices, with --evaluate formulas, and for features
that only they support (disaggregated phases, images, draft models, prefix hits).

Search: simulations try the layouts that engines run, including replicas of smaller layouts, unless a size is given. Formulas
follow the guide: without --tp-sizes, --ep-sizes and --moe-dp-sizes they try every power of two for TP. A size flag without
values tries every power of two; other sizes are fixed (TP and EP at the number of devices, the rest at 1).

Accounting: "documented" uses the guide's formula, throughput = 1000·O·C / (TTFT + TPOT·O), although TPOT already includes
TTFT/O. "steady" uses the formula of the vendor's current program, 1000·C / TPOT. Nothing else differs.`,
		Example: `  plimsoll throughput-optimizer Qwen/Qwen3-32B --device h200_sxm --num-devices 8 --input-length 3500 \
      --output-length 1500 --tpot-limit 50
  plimsoll throughput-optimizer Qwen/Qwen3-32B --device TEST_DEVICE --num-devices 8 --input-length 3500 \
      --output-length 1500 --compile --tpot-limit 50
  plimsoll throughput-optimizer Qwen/Qwen3-32B --device ATLAS_800_A2_280T_64G ATLAS_800_A3_560T_128G_DIE --num-devices 8 \
      --input-length 3500 --output-length 1500 --compile --tpot-limit 50 --explain
  plimsoll throughput-optimizer Qwen/Qwen3-30B-A3B --num-devices 8 --input-length 3500 --output-length 1500 \
      --tpot-limit 50 --tp-sizes --ep-sizes 1 2 4 8 --json
  plimsoll throughput-optimizer deepseek-ai/DeepSeek-V3.1 --input-length 3500 --output-length 1500 --compile \
      --enable-optimize-prefill-decode-ratio --prefill-devices-per-instance 16 --decode-devices-per-instance 16`,
	})
}

// newExplainCmd makes "plimsoll explain", the same search with its reasons.
func newExplainCmd(env *Env) *cobra.Command {
	f := newOptimizeFlags()
	f.Explain, f.noPlots = true, true
	return optimizeCmd(env, f, &cobra.Command{
		Use:   "explain MODEL",
		Short: "Explain why the best layout is best, and what would change it",
		Long: `Explain runs the search of throughput-optimizer with the same flags and explains the best row of each phase: where the time
of a step goes, what limits the batch, how far behind the next best layout is, how small changes of the hardware or the limits
affect throughput, and which "plimsoll step" command shows the step.`,
		Example: `  plimsoll explain Qwen/Qwen3-32B --device ATLAS_800_A2_280T_64G ATLAS_800_A3_560T_128G_DIE --num-devices 8 \
      --input-length 3500 --output-length 1500 --compile --tpot-limit 50`,
	})
}

// optimizeCmd gives a command the flags and the run of a search.
func optimizeCmd(env *Env, f *optimizeFlags, cmd *cobra.Command) *cobra.Command {
	f.define(cmd.Flags())
	f.set = cmd.Flags()
	cmd.GroupID = groupPlan
	cmd.Args = func(cmd *cobra.Command, args []string) error { return f.modelArg(env, cmd, args) }
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runOptimize(cmd, env, f) }
	cmd.ValidArgsFunction = completeModel
	return cmd
}

func newOptimizeFlags() *optimizeFlags {
	f := &optimizeFlags{logLevel: "error", warnCombinations: 100}
	f.Devices = []string{step.DefaultDevice}
	f.NumDevices, f.Jobs = 1, 8
	f.draft.defaults()
	return f
}

// runOptimize searches and prints.
func runOptimize(cmd *cobra.Command, env *Env, f *optimizeFlags) error {
	world := env.world()
	if err := f.complete(env); err != nil {
		_, wrong := optimize.Check(world, f.Request)
		return together(err, wrong)
	}
	talk := newTalk(env, f)
	talk.warnSize(f)
	world.Progress = talk.progress.show
	r, err := optimize.Run(cmd.Context(), world, f.Request)
	talk.done()
	if err != nil {
		return asked(err)
	}
	talk.ignored(f, r)
	tableNotes(func(n string) { talk.note("%s", n) }, r.Tables)
	talk.results(r)
	switch {
	case f.csv == "-": // printed with the files
	case f.json:
		doc := document.NewOptimize(r, stepCommand)
		doc.Command = optimizeCommand(&r.Request, f.lengthsFile())
		err = env.JSON(doc)
	case f.dump:
		report.OptimizeDump(env.Stdout, r)
	default:
		report.Optimize(env.Stdout, r, report.OptimizeView{
			Color: env.Color(env.Stdout), Memory: f.memory, Width: env.Width(), Plots: !f.noPlots, Command: stepCommand,
		})
	}
	return errors.Join(err, f.files(env, r))
}
