package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/measure"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// measureFlags are those of "plimsoll measure".
type measureFlags struct {
	planFlags

	request measure.Request
	client  string
	write   string
	from    string
	fit     string
	kernels bool
}

// newMeasureCmd makes "plimsoll measure".
func newMeasureCmd(env *Env) *cobra.Command {
	f := &measureFlags{planFlags: planFlags{Form: plan.NewForm()}}
	cmd := &cobra.Command{
		Use:               "measure [MODEL]",
		Short:             "Propose the few runs on your machine that help a decision most, and read their results",
		GroupID:           groupTrust,
		Args:              modelArg,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
		ValidArgsFunction: completeModel,
	}
	f.define(cmd.Flags())
	return cmd
}

// define adds the flags: the question of a plan, and what is measured.
func (f *measureFlags) define(fs *pflag.FlagSet) {
	section(fs, "Measurement", func(fs *pflag.FlagSet) {
		fs.Float64Var(&f.request.Minutes, "minutes", measure.DefaultMinutes, "total `time` of all runs, including server start-up")
		nargs.Var(fs, &f.client, "client", nargs.OneOf(nargs.Texts(measure.Clients())...), "load generator: vllm (vllm bench serve), sglang (sglang.bench_serving), trtllm (trtllm-bench) or aiperf (default that of each engine)")
		fs.StringVar(&f.request.ModelPath, "model-path", "", "`path` of the checkpoint on your machine, if it is not the model's name")
		outputVar(fs, &f.write, aFolder, "write", "write the scripts that start the servers and make the runs to this `directory`")
		fs.StringVar(&f.from, "from", "", "read the results in a `directory` of --write, refit and decide again; with --kernels the JSON `file` of the script")
		outputVar(fs, &f.fit, aFile, "out", "with --from: write the calibration to a `file` (default calibration.yaml in the directory); with --kernels a device profile with the measured efficiencies, for --device-file")
		fs.BoolVar(&f.kernels, "kernels", false, "measure kernels instead, without a serving engine: matrix products, attention, copies and all-reduce in PyTorch")
	})
	asks(fs, f.Table(), "Hardware", "Workload", "Limits", "Deployments to compare")
	section(fs, "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.force, "force", false, "replace the files in the directory of --write")
		fs.BoolVar(&f.json, "json", false, "print JSON")
		fs.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	})
	asks(fs, f.Table())
	for _, name := range []string{"no-changes", "daily", "arrival", "arrival-variation", "cold-start", "spare", "utilization", "price", "energy-price"} {
		_ = fs.MarkHidden(name)
	}
}

// run proposes runs, or reads their results.
func (f *measureFlags) run(cmd *cobra.Command, env *Env, args []string) error {
	switch {
	case f.kernels:
		return f.runKernels(cmd, env, args)
	case f.from != "":
		return f.read(cmd, env, args)
	case f.fit != "":
		return usagef("--out needs --from")
	}
	if err := f.complete(env, args); err != nil {
		return err
	}
	if flags := f.lacking(); flags != nil {
		return withHint(usagef("missing: %s", join(flags)), "\"plimsoll measure --help\" has examples")
	}
	if err := notZero(cmd.Flags(), "minutes", "positive"); err != nil {
		return err
	}
	f.request.Plan, f.request.Client = f.Request, measure.Client(f.client)
	r, err := watched(cmd.Context(), env, f.quiet, measure.Propose, f.request)
	if err != nil {
		return err
	}
	if f.write != "" {
		err = f.files(cmd.Context(), env, r)
	}
	return errors.Join(err, show(env, f.json, r, report.Measure))
}

// files writes the files of the runs.
func (f *measureFlags) files(ctx context.Context, env *Env, r *measure.Response) error {
	files, err := r.Files(ctx, env.world())
	if err != nil {
		return asked(err)
	}
	if err := env.place("write", f.write, files, f.force); err != nil {
		return err
	}
	env.noteUnless(f.quiet, "wrote %d files to %s: run %s there, then plimsoll measure --from %s", len(files), f.write, measure.ScriptFile, f.write)
	return nil
}

// read compares results with what was predicted, and writes the calibration.
func (f *measureFlags) read(cmd *cobra.Command, env *Env, args []string) error {
	if len(args) > 0 {
		return usagef("--from %s already names the model: omit MODEL, got %q", f.from, args[0])
	}
	if err := onlyGiven(cmd, "--from reads the question from its directory and", "from", "out", "json", "quiet"); err != nil {
		return err
	}
	to := cmp.Or(f.fit, filepath.Join(f.from, "calibration.yaml"))
	r, err := watched(cmd.Context(), env, f.quiet, measure.Read, f.from)
	if err != nil {
		return err
	}
	if r.Overlay != nil {
		if err = saveFit(env, to, r.Overlay.Write); err == nil {
			env.noteUnless(f.quiet, "wrote the calibration to %s: other commands take it with --calibration", to)
		}
	}
	return errors.Join(err, show(env, f.json, r, report.Measured))
}

// onlyGiven rejects flags beside those that a mode reads.
func onlyGiven(cmd *cobra.Command, what string, flags ...string) error {
	if others := given(cmd.Flags(), func(o *pflag.Flag) bool { return !slices.Contains(flags, o.Name) }); len(others) > 0 {
		return usagef("%s excludes --%s", what, others[0])
	}
	return nil
}

// runKernels writes the script that measures kernels, or reads its result.
func (f *measureFlags) runKernels(cmd *cobra.Command, env *Env, args []string) error {
	if len(args) > 0 {
		return usagef("--kernels measures the device and needs no MODEL, got %q", args[0])
	}
	if err := onlyGiven(cmd, "--kernels", "kernels", "from", "write", "out", "system", "device-file", "force", "json", "quiet"); err != nil {
		return err
	}
	switch {
	case (f.from == "") == (f.write == ""):
		return usagef("--kernels needs one of --write DIRECTORY, for the script, and --from FILE, its result")
	case f.write != "":
		if err := env.place("write", f.write, measure.KernelFiles(), f.force); err != nil {
			return err
		}
		env.Note(fmt.Sprintf("wrote %s: run it with python3 on the machine, then plimsoll measure --kernels --from %s --system NAME",
			filepath.Join(f.write, "kernels.py"), filepath.Join(f.write, "kernels.json")))
		return nil
	}
	q, err := f.Ask()
	switch {
	case err != nil:
		return usage(err)
	case len(q.Systems) > 1:
		return usagef("--kernels compares one --system, got %s", join(q.Systems))
	}
	r := measure.KernelsRequest{File: f.from, DeviceFile: q.DeviceFile}
	if len(q.Systems) == 1 {
		r.System = q.Systems[0]
	}
	res, err := watched(cmd.Context(), env, f.quiet, measure.Kernels, r)
	if err != nil {
		return err
	}
	return errors.Join(saveFit(env, f.fit, res.Write), show(env, f.json, res, report.MeasuredKernels))
}
