package cli

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/face/commandline"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// simulateFlags are the flags of "plimsoll simulate".
type simulateFlags struct {
	simulate.Request

	serves     deployment.Pool // both, or decode
	prefill    deployment.Pool
	json       bool
	perRequest string
	timeline   string
	input      string // --length-distribution
	output     string // --output-distribution
	set        *pflag.FlagSet
	noPlots    bool
	file       string   // --deployment
	several    []string // --workload
}

// newSimulateCmd makes "plimsoll simulate".
func newSimulateCmd(env *Env) *cobra.Command {
	f := &simulateFlags{}
	f.Deployment.Engine.Name, f.Deployment.System = simulate.DefaultEngine, simulate.DefaultSystem
	cmd := &cobra.Command{
		Use:               "simulate MODEL",
		Short:             "Simulate a deployment under load, event by event",
		GroupID:           groupPlan,
		Args:              modelArg,
		RunE:              func(cmd *cobra.Command, args []string) error { return runSimulate(cmd, env, f, args) },
		ValidArgsFunction: completeModel,
	}
	f.set = cmd.Flags()
	f.define(f.set)
	return cmd
}

// workloads reads mixed workloads.
func (f *simulateFlags) workloads() error {
	if f.several == nil {
		return nil
	}
	if flag := firstGiven(f.set, "input-length", "output-length", "prefix-length", "length-ratio-low", "length-distribution", "output-distribution", "trace"); flag != "" {
		return usagef("--workload excludes --%s", flag)
	}
	all, err := workloadsOf(f.several)
	if err == nil {
		f.Workloads = all
	}
	return err
}

// define adds the flags, in the sections help shows.
func (f *simulateFlags) define(fs *pflag.FlagSet) {
	section(fs, deploymentSection, f.defineDeployment)
	section(fs, "Requests", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.Concurrency, "concurrency", 0, "requests in flight (closed loop)")
		fs.Float64Var(&f.Rate, "rate", 0, "requests per second (open loop)")
		arrivalFlags(fs, &f.Process, &f.Variation, "--rate", "gamma arrivals")
		fs.StringVar(&f.Trace, "trace", "", "replay the requests of a trace `file`")
		nargs.Var(fs, (*string)(&f.Protocol), "protocol", nargs.OneOf(simulate.Protocols()...),
			"steady: sustained load, measured after the warm-up; benchmark: --num-prompts requests, all of them measured"+
				" (default steady, or benchmark if --num-prompts is given)")
		fs.IntVar(&f.Requests, "num-prompts", 0,
			"benchmark: total number of requests (default 10 × concurrency, or 1000); steady: maximum to simulate (default 50000)")
		f.Input, f.Output = simulate.DefaultInput, simulate.DefaultOutput
		nargs.Var(fs, &f.Input, "input-length", tokens, "prompt length in tokens")
		nargs.Var(fs, &f.Output, "output-length", tokens, "output length in tokens")
		fs.IntVar(&f.Prefix, "prefix-length", 0, "shared prefix of all prompts in tokens, cached from the start")
		fs.StringVar(&f.input, "length-distribution", "", "distribution of prompt lengths: a `file` (YAML bins, CSV or trace), or builtin")
		fs.StringVar(&f.output, "output-distribution", "", "distribution of output lengths: a `file`, or builtin")
		nargs.ListVar(fs, &f.several, "workload", nargs.OneOrMore, nargs.Text,
			"mixed workloads, each `NAME=ISL:OSL[:SHARE]`; a preset (see plimsoll plan), a trace file or session:KEY=VALUE,… can replace ISL:OSL")
		fs.Float64Var(&f.LengthLow, "length-ratio-low", 1, "shortest length as a share of the longest; lengths are uniform in between")
		fs.Uint64Var(&f.Seed, "seed", 1, "random seed")
		nargs.Var(fs, &f.Percentile, "percentile", percentile, "`statistic` the limits apply to, whose sampling error ends a steady run: mean, or a percentile such as p95").DefValue = "mean"
		goodput(fs, &f.Goodput)
		limitVar(fs, &f.Limits.TTFT, "ttft-limit", "TTFT limit in `ms`, for goodput")
		limitVar(fs, &f.Limits.TPOT, "tpot-limit", "TPOT limit in `ms`, for goodput")
	})
	section(fs, "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.json, "json", false, "print JSON")
		outputVar(fs, &f.timeline, aFile, "timeline", "also write one minute of up to eight replicas to a CSV `file`: requests queued, in prefill and in decode")
		outputVar(fs, &f.perRequest, aFile, "per-request", "also write all requests to a CSV `file`")
		fs.BoolVar(&f.noPlots, "no-terminal-plots", false, "do not plot the timeline")
	})
}

// deploymentSection holds the flags that describe the deployment.
const deploymentSection = "Deployment"

// defineDeployment adds the flags that describe the deployment.
func (f *simulateFlags) defineDeployment(fs *pflag.FlagSet) {
	d := &f.Deployment
	fs.StringVar(&f.file, "deployment", "", "JSON `file` of a deployment, as in a row of \"plimsoll cli --json\"; replaces MODEL and the flags below")
	asFamily(fs, &d.AsFamily)
	fs.StringVar(&d.System, "device", d.System, "device profile (plimsoll devices lists them); same as --system")
	fs.StringVar(&f.DeviceFile, "device-file", "", "your own device profile, a YAML `file`")
	engineFlags(fs, &d.Engine, "serving engine")
	enginePreset(fs, &d.Engine.Preset)
	fs.StringVar(&f.Calibration, "calibration", "", "calibration `file` (plimsoll calibrate) instead of the shipped one")
	perfData(fs, &f.PerfData)
	layoutFlags(fs, &f.serves.Layout, "devices per replica (default TP·DP·PP)", "attention data parallelism within a replica (default 1)")
	fs.IntVar(&f.serves.Replicas, "replicas", 1, "number of replicas")
	cacheFlags(fs, &d.Routing, &d.Host)
	fs.IntVar(&f.prefill.Replicas, "prefill-replicas", 0, "number of prefill replicas; remaining replicas decode only")
	fs.IntVar(&f.prefill.Layout.TP, "prefill-tp-size", 0, "tensor parallelism of a prefill replica (default --tp-size)")
	fs.IntVar(&f.prefill.Layout.DP, "prefill-dp-size", 0, "attention data parallelism of a prefill replica (default --dp-size)")
	fs.IntVar(&f.prefill.Layout.EP, "prefill-ep-size", 0, "expert parallelism of a prefill replica (default --ep-size)")
	nargs.ListVar(fs, &f.prefill.Settings, "prefill-set", nargs.OneOrMore, nargs.Text, "engine settings of prefill replicas, in addition to --set, each as `KEY=VALUE`")
	formatFlags(fs, &d.Formats)
	fs.IntVar(&f.serves.MTP, "num-mtp-tokens", 0, "draft tokens per step")
	nargs.Var(fs, &f.serves.Drafter, "drafter", drafter, "drafting `method`: mtp, eagle3 or ngram (default mtp)")
	nargs.ListVar(fs, &f.serves.AcceptanceRates, "mtp-acceptance-rates", nargs.OneOrMore, nargs.Float, "acceptance rate of each draft token (default by model; 0.9 0.6 0.4 0.2 on Ascend)")
}

// drafter reads the name of a method to draft tokens.
func drafter(word string) (draft.Method, error) {
	by, err := nargs.OneOf(draft.Methods()...)(word)
	if by == draft.MTP {
		by = "" // the default
	}
	return by, err
}

// arrivalFlags adds how requests of a rate come.
func arrivalFlags(fs *pflag.FlagSet, p *traffic.Process, variation *float64, load, whose string) {
	nargs.Var(fs, p, "arrival", arrival, "arrival process for "+load+": poisson, gamma or constant")
	fs.Float64Var(variation, "arrival-variation", 0, "coefficient of variation of "+whose+"; 1 is Poisson, higher is burstier")
}

// arrival reads the name of an arrival process.
func arrival(word string) (traffic.Process, error) {
	processes := []traffic.Process{traffic.Poisson, traffic.Gamma, traffic.Constant}
	words := make([]string, len(processes))
	for i, p := range processes {
		words[i] = p.String()
	}
	word, err := nargs.OneOf(words...)(word)
	return processes[max(0, slices.Index(words, word))], err
}

// pools are the pools that the flags describe.
func (f *simulateFlags) pools() ([]deployment.Pool, error) {
	s, p := f.serves, f.prefill
	s.Layout.DP = cmp.Or(s.Layout.DP, 1)
	if l := &s.Layout; l.Devices > 1 && l.TP == 1 && l.DP == 1 && l.PP == 1 {
		return nil, withHint(usagef("--num-devices %d does not define a layout", l.Devices),
			"--tp-size %d makes one replica on all of them, --replicas %d makes replicas of one device", l.Devices, l.Devices)
	}
	if p.Replicas < 0 {
		return nil, usagef("--prefill-replicas must be at least 0, got %d", p.Replicas)
	}
	if p.Replicas == 0 {
		if l := &p.Layout; l.TP != 0 || l.DP != 0 || l.EP != 0 || p.Settings != nil {
			return nil, usagef("--prefill-tp-size, --prefill-dp-size, --prefill-ep-size and --prefill-set need --prefill-replicas")
		}
		s.Role = deployment.Both
		return []deployment.Pool{s}, nil
	}
	s.Role, p.Role = deployment.Decode, deployment.Prefill
	p.MTP, p.Drafter, p.AcceptanceRates = s.MTP, s.Drafter, s.AcceptanceRates
	p.Layout.TP, p.Layout.DP, p.Layout.EP = cmp.Or(p.Layout.TP, s.Layout.TP), cmp.Or(p.Layout.DP, s.Layout.DP), cmp.Or(p.Layout.EP, s.Layout.EP)
	p.Layout.PP = s.Layout.PP
	return []deployment.Pool{p, s}, nil
}

// readDeployment reads a deployment that another command printed. Other flags that describe one are errors.
func (f *simulateFlags) readDeployment(env *Env, args []string) error {
	if len(args) > 0 {
		return usagef("--deployment excludes MODEL, got %q", args[0])
	}
	also := given(f.set, func(o *pflag.Flag) bool {
		return o.Name != "deployment" && o.Name != "calibration" && slices.Equal(o.Annotations[sectionKey], []string{deploymentSection})
	})
	if len(also) > 0 {
		return usagef("--deployment excludes --%s", strings.Join(also, ", --"))
	}
	data, err := env.ReadFile(f.file, bound.Record)
	if err != nil {
		return usagef("reading --deployment: %w", err)
	}
	f.Deployment = deployment.Deployment{}
	var errs []error
	for _, err := range field.Each(field.Decode(data, &f.Deployment)) {
		errs = append(errs, usagef("reading --deployment %s: %w", f.file, err))
	}
	return errors.Join(errs...)
}

// complete turns flags and arguments into a request.
func (f *simulateFlags) complete(cmd *cobra.Command, env *Env, args []string) error {
	f.Timeline, f.Records = f.timeline != "", f.perRequest != ""
	if f.DeviceFile != "" && !f.set.Changed("device") {
		f.Deployment.System = ""
	}
	if err := hostFlags(f.set, &f.Deployment.Host); err != nil {
		return err
	}
	var errs [2]error
	if f.file != "" {
		errs[0] = f.readDeployment(env, args)
	} else {
		f.Deployment.Model, errs[0] = theModel(cmd, args)
		f.Deployment.Pools, errs[1] = f.pools()
	}
	return errors.Join(errors.Join(errs[:]...), notZero(f.set, "seed", "positive"),
		zeros(f.set, "input_length", "output_length", "replicas"), notZero(f.set, "length-ratio-low", upToOne),
		lengthFile{"length-distribution", "input-length", f.input}.read(env, f.set, f.Trace, &f.InputLengths),
		lengthFile{"output-distribution", "output-length", f.output}.read(env, f.set, f.Trace, &f.OutputLengths), f.workloads())
}

// runSimulate simulates and prints.
func runSimulate(cmd *cobra.Command, env *Env, f *simulateFlags, args []string) error {
	if err := f.complete(cmd, env, args); err != nil {
		return together(err, simulate.Check(env.world(), f.Request))
	}
	r, err := watched(cmd.Context(), env, false, simulate.Run, f.Request)
	if err != nil {
		return err
	}
	tableNotes(env.Note, r.Tables)
	if f.json {
		r.Command = commandline.Simulate(&r.Request, f.input, f.output, f.file)
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
