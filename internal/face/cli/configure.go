package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/ask"
	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/compat/nvidia"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// newConfigureCmd makes "plimsoll cli", the command line of AIConfigurator.
func newConfigureCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cli COMMAND",
		Short:   "AIConfigurator's commands: compare aggregated and disaggregated serving",
		GroupID: groupPlan,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withHint(usagef("%s: no command given", cmd.CommandPath()), "\"%s --help\" lists them", cmd.CommandPath())
		},
	}
	cmd.AddCommand(
		newDefaultCmd(env), newExperimentsCmd(env), newGenerateCmd(env), newEstimateCmd(env), newRecommendCmd(env), newSupportCmd(env),
	)
	return cmd
}

// outputFlags are those of all commands of "plimsoll cli".
type outputFlags struct {
	json, quiet, noColor bool
}

// define adds the flags that help shows.
func (f *outputFlags) define(fs *pflag.FlagSet) {
	fs.BoolVar(&f.json, "json", false, "print JSON")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	fs.BoolVar(&f.noColor, "no-color", false, "print without colours")
}

// notes prints notes, unless --quiet is set.
func (f *outputFlags) notes(env *Env, notes ...string) {
	for _, n := range notes {
		env.noteUnless(f.quiet, "%s", n)
	}
}

// silentFlags adds the tool's logging flags, which have no effect here.
func silentFlags(fs *pflag.FlagSet) {
	fs.Bool("debug", false, "accepted for compatibility, without effect")
	fs.String("log-level", "", "accepted for compatibility, without effect")
	fs.Lookup("debug").Hidden, fs.Lookup("log-level").Hidden = true, true
}

// ignoredKey is the annotation of flags that are accepted without effect.
const ignoredKey = "plimsoll_ignored"

// ignoredFlags adds flags of the tool that have no effect here.
func ignoredFlags(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		fs.String(name, "", "accepted for compatibility, without effect")
		f := fs.Lookup(name)
		f.Hidden, f.Annotations = true, map[string][]string{ignoredKey: nil}
	}
}

// ignored are notes on flags that were given and have no effect.
func ignored(fs *pflag.FlagSet) []string {
	names := given(fs, func(f *pflag.Flag) bool { _, ok := f.Annotations[ignoredKey]; return ok })
	if names == nil {
		return nil
	}
	return []string{"no effect here: --" + strings.Join(names, ", --")}
}

// configureFlags are those of all commands that compare experiments.
type configureFlags struct {
	configure.Request
	outputFlags

	save       saveFlags
	noPlots    bool
	generation nvidia.Generation // of the tool, as flags are spelled
}

// define adds the flags.
func (f *configureFlags) define(into *pflag.FlagSet) {
	section(into, "Output", func(fs *pflag.FlagSet) {
		f.tableFlags(fs, &f.Top, &f.Jobs, &f.Sources)
		fs.BoolVar(&f.noPlots, "no-terminal-plots", false, "do not draw the Pareto frontier")
	})
	f.save.define(into)
	silentFlags(into)
}

// run searches and prints. It fails where an experiment does.
func (f *configureFlags) run(cmd *cobra.Command, env *Env) error {
	if err := rows(cmd.Flags(), f.Top); err != nil {
		return err
	}
	if err := f.save.site.Check(); err != nil {
		return usage(err)
	}
	if err := f.save.aim(env, f.Experiments, ""); err != nil {
		return err
	}
	r, err := watched(cmd.Context(), env, f.quiet, configure.Run, f.Request)
	if err != nil {
		return err
	}
	view := report.OptimizeView{Color: env.Color(env.Stdout) && !f.noColor, Width: env.Width(), Plots: !f.noPlots, NoPower: f.generation == nvidia.Old}
	err = show(env, f.json, r, func(w io.Writer, r *configure.Response) { report.Configure(w, r, view) })
	if f.save.dir != "" {
		err = errors.Join(err, f.save.save(cmd.Context(), env, r, func(text string) { f.notes(env, text) }))
	}
	return errors.Join(err, failures(r.Results))
}

// tableFlags are those of tables of deployments.
func (f *outputFlags) tableFlags(fs *pflag.FlagSet, top, jobs *int, s *session.Sources) {
	fs.IntVar(top, "top-n", 5, "rows of each table")
	f.define(fs)
	calibration(fs, &s.Calibration, "80 % intervals")
	perfData(fs, &s.PerfData)
	fs.IntVar(jobs, "jobs", 0, "maximum parallel simulations (default 8)")
}

// rows checks --top-n.
func rows(fs *pflag.FlagSet, top int) error {
	if isZero(fs, "top-n") || top < 0 {
		return usagef("--top-n must be positive, got %d", top)
	}
	return nil
}

// failures are the errors of the experiments that failed.
func failures(results []experiment.Result) error {
	var errs []error
	for i := range results {
		if x := &results[i]; x.Failure != "" {
			errs = append(errs, fmt.Errorf("experiment %s: %s", x.Experiment.Name, x.Failure))
		}
	}
	return errors.Join(errs...)
}

// newDefaultCmd makes "plimsoll cli default".
func newDefaultCmd(env *Env) *cobra.Command {
	f, d := &configureFlags{}, &defaultFlags{}
	cmd := &cobra.Command{
		Use:   "default",
		Short: "Compare aggregated and disaggregated serving of a model",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fs := cmd.Flags(); fs.Changed("target-request-rate") || fs.Changed("target-concurrency") {
				if !fs.Changed("total-gpus") {
					return recommendInstead(cmd, env, f, d)
				}
				f.notes(env, "the target has no effect with --total-gpus; omit --total-gpus to find the fewest GPUs")
			}
			plan, err := d.plan(cmd, env)
			if err != nil {
				return err
			}
			f.notes(env, append([]string{plan.Effective}, plan.Notes...)...)
			f.Experiments, f.generation, f.save.site.ModelPath = plan.Experiments, plan.Generation, d.served()
			return f.run(cmd, env)
		},
	}
	fs := cmd.Flags()
	d.define(fs)
	section(fs, "Problem", d.targetFlags)
	f.define(fs)
	return cmd
}

// defaultFlags are those of "plimsoll cli default".
type defaultFlags struct {
	nvidia.Flags

	rate        float64
	inFlight    int
	path, nextn string
	accepted    float64
}

// define adds the flags.
func (d *defaultFlags) define(fs *pflag.FlagSet) {
	section(fs, "Problem", func(fs *pflag.FlagSet) {
		d.modelFlags(fs)
		fs.IntVar(&d.TotalGPUs, "total-gpus", 0, "GPUs in the cluster")
		d.backendFlags(fs)
	})
	section(fs, "Workload and limits", d.workloadFlags)
	sourceFlags(fs)
	fs.Bool("strict-sla", false, "accepted for compatibility: limits always apply")
	fs.Lookup("strict-sla").Hidden = true
}

// sourceFlags adds the tool's flags about the data that predictions come from.
func sourceFlags(fs *pflag.FlagSet) {
	ignoredFlags(fs, "database-mode", "transfer-policy", "engine-step-backend", "forward-model", "systems-paths")
}

// modelFlags are the model and the systems.
func (d *defaultFlags) modelFlags(fs *pflag.FlagSet) {
	fs.StringVar(&d.Model, "model", "", "the model: a name like QWEN3_32B, a Hugging Face id, or a directory with config.json")
	fs.StringVar(&d.path, "model-path", "", "same as --model; together with --model, the served path, which does not affect predictions")
	fs.StringVar(&d.System, "device", "", "system, or that of prefill workers if --decode-system differs; same as --system")
	fs.StringVar(&d.DecodeSystem, "decode-system", "", "system of decode workers (default --system)")
}

// targetFlags are the load to size for.
func (d *defaultFlags) targetFlags(fs *pflag.FlagSet) {
	fs.Float64Var(&d.rate, "target-request-rate", 0, "requests per second to carry")
	fs.IntVar(&d.inFlight, "target-concurrency", 0, "requests in flight to carry")
}

// workloadFlags are the requests, the limits and the engine settings of a search.
func (d *defaultFlags) workloadFlags(fs *pflag.FlagSet) {
	d.lengthFlags(fs, 4000, 1000)
	d.limitFlags(fs)
	d.confidenceFlags(fs)
	d.draftFlags(fs)
	d.engineFlags(fs)
	d.settingFlags(fs)
}

// backendFlags are the engines and modes of a search.
func (d *defaultFlags) backendFlags(fs *pflag.FlagSet) {
	nargs.Var(fs, &d.Backend, "backend", nargs.OneOf("trtllm", "vllm", "sglang", "auto"), "engine: trtllm, vllm, sglang, or auto for all of them (default trtllm)")
	d.versionFlag(fs)
	nargs.Var(fs, &d.ServingMode, "serving-mode", nargs.OneOf("auto", "agg", "disagg"), "agg, disagg, or auto for both (default auto)")
	fs.BoolVar(&d.EnableWideEP, "enable-wideep", false, "also distribute experts over several nodes")
}

func (d *defaultFlags) versionFlag(fs *pflag.FlagSet) {
	fs.StringVar(&d.BackendVersion, "backend-version", "", "engine version (default the newest)")
}

// lengthFlags are those of requests, with the defaults that help names.
func (d *defaultFlags) lengthFlags(fs *pflag.FlagSet, input, output int) {
	fs.IntVar(&d.Input, "isl", 0, fmt.Sprintf("input `tokens` (default %d)", input))
	fs.IntVar(&d.Output, "osl", 0, fmt.Sprintf("output `tokens` (default %d)", output))
	fs.IntVar(&d.Prefix, "prefix", 0, "input `tokens` found in the prefix cache")
}

func (d *defaultFlags) limitFlags(fs *pflag.FlagSet) {
	nargs.Var(fs, &d.TTFT, "ttft", ask.Ms.Read, "limit on TTFT in `ms`")
	nargs.Var(fs, &d.TPOT, "tpot", ask.Ms.Read, "limit on TPOT in `ms`")
	nargs.Var(fs, &d.RequestLatency, "request-latency", ask.Ms.Read, "limit on request latency in `ms`")
}

// confidenceFlags are the statistic and the probability that limits apply to.
func (d *defaultFlags) confidenceFlags(fs *pflag.FlagSet) {
	nargs.Var(fs, &d.Percentile, "percentile", session.Percentile().Read, "`statistic` the limits apply to: mean, or a percentile such as p95 or p99.9 (default mean)")
	fs.Float64Var(&d.Confidence, "confidence", 0, "minimum probability of meeting the limits (default 0.5)")
}

func (d *defaultFlags) draftFlags(fs *pflag.FlagSet) {
	fs.StringVar(&d.nextn, "nextn", "", "draft tokens per step (MTP), or auto")
	fs.Float64Var(&d.accepted, "nextn-accepted", 0, "mean number of accepted draft tokens per step")
}

// precisionFlags are number formats in the tool's terms.
func (d *defaultFlags) precisionFlags(fs *pflag.FlagSet) {
	const text = "format of %s: float16, fp8, fp8_block, nvfp4 … (default by model and system)"
	fs.StringVar(&d.Modes.GEMM, "gemm-quant-mode", "", fmt.Sprintf(text, "linear layers"))
	fs.StringVar(&d.Modes.MoE, "moe-quant-mode", "", fmt.Sprintf(text, "routed experts"))
	fs.StringVar(&d.Modes.KVCache, "kvcache-quant-mode", "", "format of the KV cache: float16, fp8 or int8 (default by model and system)")
}

func (d *defaultFlags) settingFlags(fs *pflag.FlagSet) {
	nargs.ListVar(fs, &d.Settings, "set", nargs.OneOrMore, nargs.Text, "engine settings, each as `KEY=VALUE`")
}

// engineFlags are engine settings that the tool has flags for.
func (d *defaultFlags) engineFlags(fs *pflag.FlagSet) {
	fs.Float64Var(&d.FreeGPUMemoryFraction, "free-gpu-memory-fraction", 0, "share of GPU memory the engine may use (default the engine's)")
	fs.IntVar(&d.MaxSeqLen, "max-seq-len", 0, "maximum sequence length in `tokens` (default the model's)")
	fs.BoolVar(&d.EnableChunkedPrefill, "enable-chunked-prefill", false, "split prompts into chunks, if the engine does not by default")
}

// complete turns the flags into the tool's request.
func (d *defaultFlags) complete(cmd *cobra.Command, env *Env) error {
	d.Underscores = underscored(env.Args)
	if d.Model == "" {
		d.Model = d.path
	}
	switch n, err := strconv.Atoi(d.nextn); {
	case d.nextn == "":
	case d.nextn == "auto":
		d.NextN = new(nvidia.AutoNextN)
	case err != nil:
		return usagef("--nextn must be a whole number or auto, got %q", d.nextn)
	default:
		d.NextN = &n
	}
	if cmd.Flags().Changed("nextn-accepted") {
		d.NextNAccepted = &d.accepted
	}
	return nil
}

// plan is the tool's request as experiments.
func (d *defaultFlags) plan(cmd *cobra.Command, env *Env) (*nvidia.Plan, error) {
	if err := d.complete(cmd, env); err != nil {
		return nil, err
	}
	plan, err := d.Plan()
	return plan, usage(err)
}

// served is the path of the weights, where it was given beside the model.
func (d *defaultFlags) served() string {
	if d.path == d.Model {
		return ""
	}
	return d.path
}

// underscored reports whether a flag is spelled as the older generation did.
func underscored(args []string) bool {
	for _, a := range args {
		name, _, _ := strings.Cut(a, "=")
		if strings.HasPrefix(name, "--") && strings.Contains(name, "_") {
			return true
		}
	}
	return false
}

// newExperimentsCmd makes "plimsoll cli exp".
func newExperimentsCmd(env *Env) *cobra.Command {
	f := &configureFlags{}
	var file string
	cmd := &cobra.Command{
		Use:   "exp",
		Short: "Run the experiments of a YAML file",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usagef("--yaml-path is required")
			}
			data, err := env.ReadFile(file, bound.Experiments)
			if err != nil {
				return usagef("reading --yaml-path: %w", err)
			}
			var notes []string
			if f.Experiments, notes, err = nvidia.Read(data, file); err != nil {
				return usage(err)
			}
			f.notes(env, notes...)
			return f.run(cmd, env)
		},
	}
	cmd.Flags().StringVar(&file, "yaml-path", "", "YAML `file` of experiments; - is standard input")
	f.define(cmd.Flags())
	return cmd
}
