package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// simulateFlags are the flags of "plimsoll simulate".
type simulateFlags struct {
	*simulate.Form

	json       bool
	perRequest string
	timeline   string
	noPlots    bool
}

// newSimulateCmd makes "plimsoll simulate".
func newSimulateCmd(env *Env) *cobra.Command {
	f := &simulateFlags{Form: simulate.NewForm()}
	cmd := &cobra.Command{
		Use:               "simulate MODEL",
		Short:             "Simulate a deployment under load, event by event",
		GroupID:           groupPlan,
		Args:              modelArg,
		RunE:              func(cmd *cobra.Command, args []string) error { return runSimulate(cmd, env, f, args) },
		ValidArgsFunction: completeModel,
	}
	f.define(cmd.Flags())
	return cmd
}

// define adds the flags, in the sections help shows.
func (f *simulateFlags) define(fs *pflag.FlagSet) {
	asks(fs, f.Table())
	section(fs, "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.json, "json", false, "print JSON")
		outputVar(fs, &f.timeline, aFile, "timeline", "also write one minute of up to eight replicas to a CSV `file`: requests queued, in prefill and in decode")
		outputVar(fs, &f.perRequest, aFile, "per-request", "also write all requests to a CSV `file`")
		fs.BoolVar(&f.noPlots, "no-terminal-plots", false, "do not plot the timeline")
	})
}

// typed is the request that flags and arguments make, with the content of the files that they name.
func (f *simulateFlags) typed(cmd *cobra.Command, env *Env, args []string) (simulate.Request, error) {
	f.Model(args)
	r, wrong := f.Ask()
	errs := []error{usage(wrong)}
	if r.File != "" && wrong == nil {
		errs = append(errs, env.readDeployment(&r))
	} else if r.File == "" {
		_, err := theModel(cmd, args)
		errs = append(errs, err)
	}
	r.Timeline, r.Records = f.timeline != "", f.perRequest != ""
	return r, errors.Join(append(errs, env.readLengths("length-distribution", &r.InputLengths), env.readLengths("output-distribution", &r.OutputLengths))...)
}

// readDeployment reads a deployment that another command printed.
func (e *Env) readDeployment(r *simulate.Request) error {
	data, err := e.ReadFile(r.File, bound.Record)
	if err != nil {
		return usagef("reading --deployment: %w", err)
	}
	var errs []error
	for _, err := range field.Each(field.Decode(data, &r.Deployment)) {
		errs = append(errs, usagef("reading --deployment %s: %w", r.File, err))
	}
	return errors.Join(errs...)
}

// readLengths reads the distribution that a flag names, if it does: the built-in one, or that in a file.
func (e *Env) readLengths(flag string, d **workload.Distribution) error {
	if *d == nil {
		return nil
	}
	file := (*d).File
	if file == workload.BuiltinFile {
		*d = workload.Builtin()
		return nil
	}
	in, err := e.Open(file)
	if err != nil {
		*d = workload.Builtin() // stands for it while the rest is checked
		return usagef("reading --%s: %w", flag, err)
	}
	defer func() { _ = in.Close() }()
	got, err := workload.ReadDistribution(in, file)
	if err != nil {
		*d = workload.Builtin() // likewise
		return usage(err)
	}
	got.File, *d = file, got
	return nil
}

// runSimulate simulates and prints.
func runSimulate(cmd *cobra.Command, env *Env, f *simulateFlags, args []string) error {
	q, err := f.typed(cmd, env, args)
	if err != nil {
		return together(err, simulate.Check(env.world(), q))
	}
	r, err := watched(cmd.Context(), env, false, simulate.Run, q)
	if err != nil {
		return err
	}
	tableNotes(env.Note, r.Tables)
	if f.json {
		err = env.JSON(r)
	} else {
		env.print(func(w io.Writer) {
			report.Simulate(w, r, report.OptimizeView{Color: env.Color(env.Stdout), Width: env.Width(), Plots: !f.noPlots})
		})
	}
	if f.timeline != "" {
		err = errors.Join(err, env.create("timeline", f.timeline, r.Result.Timeline.WriteCSV))
	}
	if f.perRequest != "" {
		err = errors.Join(err, env.create("per-request", f.perRequest, func(w io.Writer) error { return statistics.WriteCSV(w, r.Result.Records) }))
	}
	return err
}
