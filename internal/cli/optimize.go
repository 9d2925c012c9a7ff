package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/app"
	"plimsoll/internal/dtype"
	"plimsoll/internal/graph"
	"plimsoll/internal/nargs"
	"plimsoll/internal/report"
	"plimsoll/internal/serving"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// optimizeFlags is what "plimsoll throughput-optimizer" was asked.
type optimizeFlags struct {
	app.OptimizeRequest

	modelID      string
	input        string
	distribution string
	ttft, tpot   float64
	budget       string
	servingCost  float64
	compilation  []string
	embedding    string
	accounting   string
	draft        draftFlags
	profiling    profilingFlags

	memory, json, explain, dump bool
	csv, plot, trace            string
	noPlots                     bool
	logLevel                    string
	verbose, quiet              bool
	warnCombinations            int
}

// newOptimizeCmd makes "plimsoll throughput-optimizer".
func newOptimizeCmd(env *Env) *cobra.Command {
	f := newOptimizeFlags()
	cmd := &cobra.Command{
		Use:     "throughput-optimizer MODEL",
		Aliases: []string{"optimize", "throughput_optimizer"},
		Short:   "The layouts and batches that carry the most load within limits",
		Long: `Throughput-optimizer searches layouts and batch sizes of MODEL for the most throughput inside limits on TTFT and TPOT,
on one kind of device or several. It takes the command line of Ascend's tool of that name.

Modes: prefill and decode on the same devices (the default); apart, with --disagg and the limit of each phase wanted;
or apart and matched, with --enable-optimize-prefill-decode-ratio and the devices of an instance of each.

Search: without --tp-sizes, --ep-sizes or --moe-dp-sizes every power of two is tried for TP. A size flag without values
tries every power of two; a dimension not searched is fixed (TP and EP at all devices, the others at 1).

Accounting: "documented" is the guide's formulas, where throughput = 1000·O·C / (TTFT + TPOT·O) although TPOT already
holds TTFT/O. "steady" is what the vendor's program computes today, 1000·C / TPOT. Nothing else differs.`,
		Example: `  plimsoll throughput-optimizer Qwen/Qwen3-32B --device TEST_DEVICE --num-devices 8 --input-length 3500 \
      --output-length 1500 --compile --tpot-limit 50
  plimsoll throughput-optimizer Qwen/Qwen3-32B --device ATLAS_800_A2_280T_64G ATLAS_800_A3_560T_128G_DIE --num-devices 8 \
      --input-length 3500 --output-length 1500 --compile --tpot-limit 50 --explain
  plimsoll throughput-optimizer Qwen/Qwen3-30B-A3B --num-devices 8 --input-length 3500 --output-length 1500 \
      --tpot-limit 50 --tp-sizes --ep-sizes 1 2 4 8 --json
  plimsoll throughput-optimizer deepseek-ai/DeepSeek-V3.1 --input-length 3500 --output-length 1500 --compile \
      --enable-optimize-prefill-decode-ratio --prefill-devices-per-instance 16 --decode-devices-per-instance 16`,
		GroupID:           groupPlan,
		Args:              f.modelArg,
		RunE:              func(cmd *cobra.Command, args []string) error { return runOptimize(env, cmd, f, args) },
		ValidArgsFunction: completeModel,
	}
	f.define(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("device", completeDevice)
	return cmd
}

// newExplainCmd makes "plimsoll explain", the same search with its reasons.
func newExplainCmd(env *Env) *cobra.Command {
	cmd := newOptimizeCmd(env)
	f := newOptimizeFlags()
	f.explain, f.noPlots = true, true
	cmd.ResetFlags()
	cmd.Use, cmd.Aliases = "explain MODEL", nil
	cmd.Short = "Why the best layout is the best, and what would change it"
	cmd.Long = `Explain runs the search of throughput-optimizer, with the same flags, and says for the best row of each phase where the
time of a step goes, what keeps the batch from growing, how far the next layout is behind, what small changes of hardware
or limits would do, and which "plimsoll step" command evaluates the step alone.`
	cmd.Example = `  plimsoll explain Qwen/Qwen3-32B --device ATLAS_800_A2_280T_64G ATLAS_800_A3_560T_128G_DIE --num-devices 8 \
      --input-length 3500 --output-length 1500 --compile --tpot-limit 50`
	cmd.Args = f.modelArg
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runOptimize(env, cmd, f, args) }
	f.define(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("device", completeDevice)
	return cmd
}

func newOptimizeFlags() *optimizeFlags {
	f := &optimizeFlags{budget: "8192", accounting: string(serving.Documented), logLevel: "error", warnCombinations: 100}
	f.Devices = []string{"TEST_DEVICE"}
	f.NumDevices, f.Jobs, f.ReservedGiB = 1, 8, 10
	f.MXFP4Group = graph.DefaultMXFP4Group
	f.AcceptanceRates = []float64{0.9, 0.6, 0.4, 0.2}
	f.draft.defaults()
	return f
}

// modelArg accepts the model as an argument or as --model-id.
func (f *optimizeFlags) modelArg(cmd *cobra.Command, args []string) error {
	if f.modelID == "" {
		return exactModelArg(cmd, args)
	}
	if len(args) > 0 {
		return usagef("give the model either as an argument or with --model-id, not both")
	}
	return nil
}

// define adds the flags, in the sections of the guide.
func (f *optimizeFlags) define(fs *pflag.FlagSet) {
	section(fs, "Options", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.input, "input-length", "", "prompt `length` in tokens, or a file of lengths")
		fs.StringVar(&f.distribution, "length-distribution", "", "prompt lengths by distribution: alone the built-in one, or a `file` (YAML bins, CSV, trace)")
		nargs.MarkOptional(fs.Lookup("length-distribution"), builtinDistribution)
		fs.IntVar(&f.Output, "output-length", 0, "answer length in tokens")
		nargs.ListVar(fs, &f.AcceptanceRates, "mtp-acceptance-rates", nargs.OneOrMore, nargs.Float, "chance that each speculated token is accepted")
		fs.BoolVar(&f.dump, "dump-original-results", false, "print the raw table of all candidates instead")
	})
	section(fs, "General options", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.modelID, "model-id", "", "the model, instead of the argument")
		nargs.ListVar(fs, &f.Devices, "device", nargs.OneOrMore, nargs.Text, "device profiles; several are compared")
		fs.StringVar(&f.DeviceFile, "device-file", "", "your own device profile, a YAML file")
		fs.IntVar(&f.NumDevices, "num-devices", f.NumDevices, "number of devices of each profile")
		fs.Float64Var(&f.ReservedGiB, "reserved-memory-gb", f.ReservedGiB, "memory of each device kept free, in GiB")
		nargs.Var(fs, &f.logLevel, "log-level", nargs.OneOf("debug", "info", "warning", "error", "critical"), "how much to say on standard error")
		fs.BoolVarP(&f.verbose, "verbose", "v", false, "the same as --log-level debug")
		fs.BoolVarP(&f.quiet, "quiet", "q", false, "the same as --log-level error")
	})
	f.defineModel(fs)
	f.defineService(fs)
	section(fs, "PD ratio options", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.PDRatio, "enable-optimize-prefill-decode-ratio", false, "match prefill and decode instances")
		fs.IntVar(&f.PrefillDevices, "prefill-devices-per-instance", 0, "devices of a prefill instance")
		fs.IntVar(&f.DecodeDevices, "decode-devices-per-instance", 0, "devices of a decode instance")
	})
	section(fs, "Multimodal options", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.ImageBatch, "image-batch-size", 0, "images per request (default 1)")
		fs.IntVar(&f.ImageHeight, "image-height", 0, "pixels of an image")
		fs.IntVar(&f.ImageWidth, "image-width", 0, "pixels of an image")
	})
	section(fs, "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.json, "json", false, "print JSON, all candidates included")
		fs.BoolVar(&f.memory, "memory", false, "show memory columns")
		fs.BoolVar(&f.explain, "explain", f.explain, "say why the best row is the best")
		fs.StringVar(&f.csv, "csv", "", "also write all candidates to a CSV `file`")
		fs.StringVar(&f.plot, "plot", "", "also draw the sweep to a `file`, .png or .svg")
		fs.BoolVar(&f.noPlots, "no-terminal-plots", f.noPlots, "leave out the plots of a single device")
		fs.StringVar(&f.trace, "chrome-trace", "", "write the step behind each row as a trace `file` that Perfetto opens")
	})
}

// defineModel adds the model and quantization options.
func (f *optimizeFlags) defineModel(fs *pflag.FlagSet) {
	section(fs, "Model & quantization options", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.Compile, "compile", false, "fuse operators as a graph compiler does")
		fs.Bool("compile-allow-graph-break", false, "accepted for compatibility; has no effect")
		nargs.ListVar(fs, &f.compilation, "compilation-config", nargs.ZeroOrMore, nargs.OneOf(compilationTokens()...), "further passes: "+join(compilationTokens()))
		nargs.ListVar(fs, &f.Space.MTP, "num-mtp-tokens", nargs.OneOrMore, nargs.Int, "extra tokens predicted in a step; several values are searched")
		action(fs, &f.LinearAction, "quantize-linear-action", dtype.LinearActions(), "quantization of linear layers (default W8A8_DYNAMIC on Ascend, AUTO elsewhere)")
		action(fs, &f.NonExpertAction, "quantize-non-expert-linear-action", dtype.LinearActions(), "other quantization for attention, dense and shared-expert layers")
		action(fs, &f.AttentionAction, "quantize-attention-action", dtype.AttentionActions(), "quantization of the KV cache (default DISABLED on Ascend, AUTO elsewhere)")
		fs.IntVar(&f.MXFP4Group, "mxfp4-group-size", f.MXFP4Group, "elements that share an MXFP4 scale")
		sizes := func(dst *[]int, name, what string) {
			nargs.ListVar(fs, dst, name, nargs.ZeroOrMore, nargs.Int, what)
		}
		sizes(&f.Space.TP, "tp-sizes", "search TP; without values every power of two")
		sizes(&f.Space.EP, "ep-sizes", "search EP")
		sizes(&f.Space.MoEDP, "moe-dp-sizes", "search MoE-DP")
		sizes(&f.Space.PP, "pp-sizes", "search PP")
		sizes(&f.Space.DCP, "dcp-sizes", "search decode context parallelism")
		nargs.Var(fs, &f.embedding, "word-embedding-tp", nargs.OneOf("col", "row"), "cut the word embedding over TP: col or row")
		fs.BoolVar(&f.SharedExpertTP, "enable-shared-expert-tp", false, "cut the shared experts over TP (needs EP)")
		fs.IntVar(&f.warnCombinations, "max-search-combinations", f.warnCombinations, "warn above this many combinations; 0 never")
		nargs.Var(fs, &f.Policy, "policy", nargs.OneOf("tensorcast", "physical"), "tensorcast repeats Ascend's model (default there), physical does not")
	})
	f.draft.define(fs)
	f.profiling.define(fs)
}

// defineService adds the service options.
func (f *optimizeFlags) defineService(fs *pflag.FlagSet) {
	section(fs, "Service options", func(fs *pflag.FlagSet) {
		nargs.Var(fs, &f.ttft, "ttft-limit", positiveOrInf, "most TTFT in `ms`; none without it")
		nargs.Var(fs, &f.tpot, "tpot-limit", positiveOrInf, "most TPOT in `ms`; none without it")
		fs.StringVar(&f.budget, "max-batched-tokens", f.budget, "`tokens` of one step and DP rank, or auto (4, 2 or 1 prompts)")
		fs.Float64Var(&f.PrefixHitRate, "prefix-cache-hit-rate", 0, "share of a prompt found in the prefix cache, at least 0 and below 1")
		nargs.ListVar(fs, &f.BatchRange, "batch-range", nargs.OneOrMore, nargs.Int, "batch sizes per DP rank: max, or min max")
		fs.Float64Var(&f.servingCost, "serving-cost", 0, "`ms` added to each disaggregated phase")
		fs.BoolVar(&f.Disagg, "disagg", false, "prefill (--ttft-limit) and decode (--tpot-limit) apart")
		nargs.Var(fs, &f.accounting, "accounting", nargs.OneOf(string(serving.Documented), string(serving.Steady)), "the formulas: documented or steady")
		fs.IntVarP(&f.Jobs, "jobs", "j", f.Jobs, "workers")
		fs.String("concurrency-search-strategy", "", "accepted for compatibility; the search is exact")
	})
}

// builtinDistribution is what --length-distribution means alone.
const builtinDistribution = "builtin"

// positiveOrInf parses a positive number of milliseconds; inf is no limit.
func positiveOrInf(word string) (float64, error) {
	x, err := strconv.ParseFloat(word, 64)
	switch {
	case err != nil || math.IsNaN(x):
		return 0, errors.New("want a positive number of milliseconds, or inf")
	case x <= 0:
		return 0, errors.New("must be positive")
	case math.IsInf(x, 1):
		return 0, nil
	}
	return x, nil
}

// complete turns flags into a request.
func (f *optimizeFlags) complete(env *Env, args []string) error {
	f.Model = f.modelID
	if len(args) > 0 {
		f.Model = args[0]
	}
	f.TTFTLimit, f.TPOTLimit = units.Seconds(f.ttft/1e3), units.Seconds(f.tpot/1e3)
	f.ServingCost = units.Seconds(f.servingCost / 1e3)
	f.Accounting = serving.Accounting(f.accounting)
	f.SequenceParallel = slices.Contains(f.compilation, "enable_sequence_parallel")
	f.MatMulAllReduce = slices.Contains(f.compilation, "enable_matmul_allreduce")
	f.DispatchCombine = slices.Contains(f.compilation, "enable_dispatch_ffn_combine")
	f.EmbeddingTP = embeddingTP(f.embedding)
	if err := f.profiling.check(); err != nil {
		return err
	}
	draft, err := f.draft.draft()
	if err != nil {
		return err
	}
	f.Draft = draft
	if f.Budget, err = budget(f.budget); err != nil {
		return err
	}
	return f.lengths(env)
}

// budget parses --max-batched-tokens; auto is 0.
func budget(word string) (int, error) {
	if strings.EqualFold(word, "auto") {
		return 0, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 {
		return 0, usagef("invalid value %q for --max-batched-tokens: want a positive whole number, or auto", word)
	}
	return n, nil
}

// lengths reads --input-length and --length-distribution. A length may also be
// a file, as in newer versions of the vendor's tool.
func (f *optimizeFlags) lengths(env *Env) error {
	file := ""
	if f.input != "" {
		n, err := strconv.Atoi(f.input)
		switch {
		case err == nil && n > 0:
			f.Input = n
		case err == nil:
			return usagef("invalid value %q for --input-length: must be positive", f.input)
		case errors.Is(err, strconv.ErrRange):
			return usagef("invalid value %q for --input-length: out of range", f.input)
		default:
			file = f.input
		}
	}
	switch {
	case f.distribution == builtinDistribution:
		f.Distribution = workload.Builtin()
	case f.distribution != "":
		file = f.distribution
	}
	if file == "" {
		return nil
	}
	data, err := env.ReadFile(file)
	if err != nil {
		if f.input == file {
			return usagef("invalid value %q for --input-length: want a positive whole number or a file of lengths", file)
		}
		return usagef("reading --length-distribution: %w", err)
	}
	d, err := workload.ReadDistribution(data, file)
	if err != nil {
		return usage(err)
	}
	f.Distribution = d
	return nil
}

// runOptimize searches and prints.
func runOptimize(env *Env, cmd *cobra.Command, f *optimizeFlags, args []string) error {
	if f.DeviceFile != "" && !cmd.Flags().Changed("device") {
		f.Devices = nil
	}
	if err := f.complete(env, args); err != nil {
		return err
	}
	talk := newTalk(env, f)
	talk.warnSize(f)
	f.Progress = talk.progress
	r, err := env.world().Optimize(&f.OptimizeRequest)
	talk.done()
	if err != nil {
		return asked(err)
	}
	talk.results(r)
	if err := f.files(env, r); err != nil {
		return err
	}
	var explanations []app.Explanation
	if f.explain {
		explanations = r.Explain()
	}
	switch {
	case f.json:
		return env.JSON(report.NewOptimizeJSON(r, explanations))
	case f.dump:
		report.OptimizeDump(env.Stdout, r)
	default:
		report.Optimize(env.Stdout, r, report.OptimizeView{
			Color: env.Color(env.Stdout), Memory: f.memory, Width: env.Width(), Plots: !f.noPlots,
		})
		if f.explain {
			report.Explain(env.Stdout, r, explanations)
		}
	}
	return nil
}

// files writes what was asked for beside the answer.
func (f *optimizeFlags) files(env *Env, r *app.OptimizeResponse) error {
	if f.csv != "" {
		if err := env.CreateAtomic(f.csv, func(w io.Writer) error { return report.OptimizeCSV(w, r) }); err != nil {
			return err
		}
	}
	if f.plot != "" {
		format := strings.TrimPrefix(strings.ToLower(filepath.Ext(f.plot)), ".")
		if format != "png" && format != "svg" {
			return usagef("invalid value %q for --plot: want a file that ends in .png or .svg", f.plot)
		}
		if err := env.CreateAtomic(f.plot, func(w io.Writer) error { return report.PlotFile(w, format, r) }); err != nil {
			return err
		}
	}
	if f.trace == "" {
		return nil
	}
	for _, t := range r.Traces() {
		ext := filepath.Ext(f.trace)
		name := strings.TrimSuffix(f.trace, ext) + "_" + t.Name + ext
		if err := env.CreateAtomic(name, func(w io.Writer) error { return report.Trace(w, t.Result) }); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}
