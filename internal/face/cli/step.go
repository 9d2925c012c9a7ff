package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/face/commandline"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// stepFlags are the flags of "plimsoll step".
type stepFlags struct {
	step.Request

	modelling modellingFlags
	vendor    textGenerateFlags
	json      bool
	trace     string
}

// newStepCmd makes "plimsoll step".
func newStepCmd(env *Env) *cobra.Command {
	f := &stepFlags{}
	f.Deployment.System = step.DefaultDevice
	f.Deployment.Pools = []deployment.Pool{{}}
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
	d := &f.Deployment
	l := &d.Pools[0].Layout
	section(fs, "Model", func(fs *pflag.FlagSet) { asFamily(fs, &d.AsFamily) })
	section(fs, "Hardware", func(fs *pflag.FlagSet) {
		fs.StringVar(&d.System, "device", d.System, "device profile (plimsoll devices lists them)")
		fs.StringVar(&f.DeviceFile, "device-file", "", "your own device profile, a YAML file")
		perfData(fs, &f.PerfData)
		fs.Float64Var(&f.ReservedGiB, "reserved-memory-gb", 0, "memory reserved on each device, in GiB")
	})
	section(fs, "Engine", func(fs *pflag.FlagSet) {
		engineFlags(fs, &d.Engine, "also predict the step time under the engine `NAME`, with host work")
		enginePreset(fs, &d.Engine.Preset)
	})
	section(fs, "Layout", func(fs *pflag.FlagSet) {
		layoutFlags(fs, l, "number of devices (default 1)", "data parallelism (default devices / (TP·PP))")
		fs.IntVar(&l.MoEDP, "moe-dp-size", 1, "MoE data parallelism: copies of the experts")
		fs.IntVar(&l.DCP, "dcp-size", 1, "decode context parallelism inside a TP group")
		f.modelling.defineSharding(fs, &d.Modelling)
	})
	section(fs, "Batch", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.Queries, "num-queries", 1, "number of requests over all data-parallel ranks")
		fs.IntVar(&f.QueryLength, "query-length", 0, "new tokens per request (decode: 1 + MTP tokens)")
		fs.IntVar(&f.ContextLength, "context-length", 0, "tokens per request cached before the step")
		fs.BoolVar(&f.Decode, "decode", false, "a decode step: logits for every new token")
		fs.IntVar(&d.Pools[0].MTP, "num-mtp-tokens", 0, "draft tokens per step (MTP)")
		fs.Float64Var(&f.PrefixHitRate, "prefix-cache-hit-rate", 0, "share of a prompt found in the prefix cache")
		fs.IntVar(&f.ImageBatch, "image-batch-size", 0, "images per request (default 1)")
		fs.IntVar(&f.ImageHeight, "image-height", 0, "height of an image in pixels")
		fs.IntVar(&f.ImageWidth, "image-width", 0, "width of an image in pixels")
	})
	section(fs, "Number formats", func(fs *pflag.FlagSet) {
		formatFlags(fs, &d.Formats)
		expertFormatFlags(fs, &d.Formats)
	})
	section(fs, "Modelling", func(fs *pflag.FlagSet) {
		f.modelling.define(fs, &d.Modelling)
		fs.IntVar(&f.Layers, "num-hidden-layers-override", 0, "evaluate only the first `layers` of the model")
	})
	section(fs, "Output", func(fs *pflag.FlagSet) {
		calibration(fs, &f.Calibration, "80 % intervals, and with --engine the engine's times,")
		fs.BoolVar(&f.json, "json", false, "print JSON")
		outputVar(fs, &f.trace, aFile, "chrome-trace", "write the step as a Perfetto trace")
	})
	f.vendor.define(fs)
}

// calibration defines the flag that replaces the shipped calibration.
func calibration(fs *pflag.FlagSet, dst *string, what string) {
	fs.StringVar(dst, "calibration", "", what+" from a calibration `file` (plimsoll calibrate) instead of the shipped one")
}

// complete turns flags and arguments into a request.
func (f *stepFlags) complete(cmd *cobra.Command, args []string) error {
	d := &f.Deployment
	if f.DeviceFile != "" && !cmd.Flags().Changed("device") {
		d.System = ""
	}
	var errs [2]error
	if args, errs[0] = f.vendor.arguments(args); errs[0] == nil {
		d.Model, errs[0] = theModel(cmd, args)
	}
	switch e := &d.Engine; {
	case e.Name == "" && e.Version != "":
		errs[1] = usagef("--engine-version needs --engine")
	case e.Name == "" && e.Settings != nil:
		errs[1] = usagef("--set needs --engine")
	}
	f.Multistream = f.modelling.multistream()
	l := &d.Pools[0].Layout
	tp, dp := max(1, l.TP), l.DP
	if each := tp * max(1, l.PP); dp == 0 && each > 0 {
		dp = max(1, l.Devices) / each
	}
	return errors.Join(errors.Join(errs[:]...), f.vendor.check(cmd, tp, dp),
		f.modelling.complete(cmd.Flags(), &d.Modelling), zeros(cmd.Flags(), "num_queries", "mxfp4_group_size"))
}

// runStep evaluates and prints.
func runStep(cmd *cobra.Command, env *Env, f *stepFlags, args []string) error {
	world := env.world()
	if err := f.complete(cmd, args); err != nil {
		return together(err, step.Check(world, f.Request))
	}
	r, err := step.Run(cmd.Context(), world, f.Request)
	if err != nil {
		return asked(err)
	}
	tableNotes(env.Note, r.Tables)
	if f.json {
		r.Command = commandline.Step(&r.Request)
		err = env.JSON(r)
	} else {
		env.print(func(w io.Writer) { report.Step(w, r) })
	}
	if f.trace != "" {
		err = errors.Join(err, env.create("chrome-trace", f.trace, func(w io.Writer) error { return report.Trace(w, &r.Result) }))
	}
	return err
}

// asFamily defines the flag of commands that take a model.
func asFamily(fs *pflag.FlagSet, dst *string) {
	fs.StringVar(dst, "as-family", "", "read the model's config.json as this `family`, regardless of its architecture; generic reads any decoder")
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
