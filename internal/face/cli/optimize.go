package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
)

// optimizeFlags are the flags of "plimsoll throughput-optimizer".
type optimizeFlags struct {
	*optimize.Form
	optimize.Request // once the flags are read

	set     *pflag.FlagSet
	model   string
	modelID string
	noModel error // if none was given
	// prefillTokens is the budget by its older name, under which prompts were not split.
	prefillTokens int
	strategy      string
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
	})
}

// newExplainCmd makes "plimsoll explain", the same search with its reasons.
func newExplainCmd(env *Env) *cobra.Command {
	f := newOptimizeFlags()
	f.Form.Explain()
	f.noPlots = true
	return optimizeCmd(env, f, &cobra.Command{
		Use:   "explain MODEL",
		Short: "Explain why the best layout is best, and what would change it",
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
	return &optimizeFlags{Form: optimize.NewForm(), logLevel: "error", warnCombinations: 100}
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
	if f.dump || f.csv == "-" { // tables for programs
		talk.note("%s", r.Caution)
	}
	switch {
	case f.csv == "-": // printed with the files
	case f.json:
		err = env.JSON(r)
	case f.dump:
		report.OptimizeDump(env.Stdout, r)
	default:
		env.print(func(w io.Writer) {
			report.Optimize(w, r, report.OptimizeView{Color: env.Color(env.Stdout), Memory: f.memory, Width: env.Width(), Plots: !f.noPlots})
		})
	}
	return errors.Join(err, f.files(env, r))
}
