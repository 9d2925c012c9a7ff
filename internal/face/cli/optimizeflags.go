package cli

import (
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// define adds the flags, in the sections of the guide.
func (f *optimizeFlags) define(fs *pflag.FlagSet) {
	section(fs, "Options", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.input, "input-length", "", "prompt `length` in tokens, or a file of lengths")
		fs.StringVar(&f.distribution, "length-distribution", "", "distribution of prompt lengths: a `file` (YAML bins, CSV or trace); without a value the built-in one")
		nargs.MarkOptional(fs.Lookup("length-distribution"), builtinDistribution)
		fs.IntVar(&f.Output, "output-length", 0, "output length in tokens")
		nargs.ListVar(fs, &f.AcceptanceRates, "mtp-acceptance-rates", nargs.OneOrMore, nargs.Float, "acceptance rate of each draft token (default by model; 0.9 0.6 0.4 0.2 on Ascend)")
		fs.BoolVar(&f.dump, "dump-original-results", false, "print the raw table of the whole sweep instead, over all batches that were sampled")
	})
	section(fs, "General options", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.modelID, "model-id", "", "the model, instead of the argument")
		nargs.ListVar(fs, &f.Devices, "device", nargs.OneOrMore, nargs.Text, "device profiles (plimsoll devices lists them); several are compared")
		fs.StringVar(&f.DeviceFile, "device-file", "", "your own device profile, a YAML `file`")
		perfData(fs, &f.PerfData)
		fs.IntVar(&f.NumDevices, "num-devices", f.NumDevices, "devices per profile")
		fs.Float64Var(&f.reserved, "reserved-memory-gb", 0, "memory reserved on each device, in GiB (default 10 on Ascend, otherwise the engine's)")
		nargs.Var(fs, &f.logLevel, "log-level", nargs.OneOf("debug", "info", "warning", "error", "critical"), "log level on standard error: debug, info, warning, error or critical")
		fs.BoolVarP(&f.verbose, "verbose", "v", false, "same as --log-level debug")
		fs.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	})
	f.defineModel(fs)
	f.defineService(fs)
	section(fs, "Evaluation", func(fs *pflag.FlagSet) {
		nargs.Var(fs, (*string)(&f.Evaluate), "evaluate", nargs.OneOf(string(optimize.ByFormulas), string(optimize.BySimulation)), "simulation of whole deployments under an engine (default on GPUs), or the guide's formulas (default otherwise)")
		engineFlags(fs, &f.Engine, "serving engine for simulation (default "+simulate.DefaultEngine+")")
		fs.Float64Var(&f.LengthLow, "length-ratio-low", 1, "shortest simulated length as a share of the longest; lengths are uniform in between")
		fs.Float64Var(&f.Confidence, "confidence", search.DefaultConfidence, "minimum probability of meeting the limits, for simulated rows")
	})
	section(fs, "PD ratio options", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.PDRatio, "enable-optimize-prefill-decode-ratio", false, "match prefill and decode instances")
		fs.IntVar(&f.PrefillDevices, "prefill-devices-per-instance", 0, "devices per prefill instance")
		fs.IntVar(&f.DecodeDevices, "decode-devices-per-instance", 0, "devices per decode instance")
	})
	section(fs, "Multimodal options", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.ImageBatch, "image-batch-size", 0, "images per request (default 1)")
		fs.IntVar(&f.ImageHeight, "image-height", 0, "height of an image in pixels")
		fs.IntVar(&f.ImageWidth, "image-width", 0, "width of an image in pixels")
	})
	section(fs, "Output", func(fs *pflag.FlagSet) {
		calibration(fs, &f.Calibration, "80 % intervals")
		fs.BoolVar(&f.json, "json", false, "print JSON, with all candidates")
		fs.Float64Var(&f.Price, "price", 0, "price of a device per hour, in `USD` (default the profile's list price)")
		fs.BoolVar(&f.memory, "memory", false, "show memory columns")
		fs.BoolVar(&f.Explain, "explain", f.Explain, "explain the best row")
		outputVar(fs, &f.csv, aFile, "csv", "also write all candidates to a CSV `file`; - prints them instead of the tables")
		outputVar(fs, &f.plot, aFile, "plot", "also plot the sweep to a `file`, .png or .svg")
		fs.BoolVar(&f.noPlots, "no-terminal-plots", f.noPlots, "do not plot the sweep of a single device in the terminal")
		outputVar(fs, &f.trace, aFile, "chrome-trace", "write the step of each row as a Perfetto trace; the layout is added to the `file` name")
	})
}

// defineModel adds the model and quantization options.
func (f *optimizeFlags) defineModel(fs *pflag.FlagSet) {
	section(fs, "Model & quantization options", func(fs *pflag.FlagSet) {
		asFamily(fs, &f.AsFamily)
		f.modelling.define(fs, &f.Modelling)
		fs.Bool("compile-allow-graph-break", false, "accepted for compatibility, without effect")
		nargs.ListVar(fs, &f.Space.MTP, "num-mtp-tokens", nargs.OneOrMore, nargs.Int, "draft tokens per step (MTP); several values are searched")
		formatFlags(fs, &f.Formats)
		expertFormatFlags(fs, &f.Formats)
		sizes := func(dst *[]int, name, what string) {
			nargs.ListVar(fs, dst, name, nargs.ZeroOrMore, nargs.Int, what)
		}
		sizes(&f.Space.TP, "tp-sizes", "TP sizes to search; without values every power of two")
		sizes(&f.Space.EP, "ep-sizes", "EP sizes to search")
		sizes(&f.Space.MoEDP, "moe-dp-sizes", "MoE-DP sizes to search")
		sizes(&f.Space.PP, "pp-sizes", "PP sizes to search")
		sizes(&f.Space.DCP, "dcp-sizes", "decode context parallelism (DCP) sizes to search")
		f.modelling.defineSharding(fs, &f.Modelling)
		fs.IntVar(&f.warnCombinations, "max-search-combinations", f.warnCombinations, "print a note above this many combinations; 0 disables it")
	})
	f.draft.define(fs)
	f.profiling.define(fs)
}

// defineService adds the service options.
func (f *optimizeFlags) defineService(fs *pflag.FlagSet) {
	section(fs, "Service options", func(fs *pflag.FlagSet) {
		limitVar(fs, &f.Limits.TTFT, "ttft-limit", "maximum TTFT in `ms` (default none)")
		limitVar(fs, &f.Limits.Latency, "request-latency", "maximum latency of a whole request in `ms` (default none)")
		limitVar(fs, &f.Limits.TPOT, "tpot-limit", "maximum TPOT in `ms` (default none)")
		fs.StringVar(&f.budget, "max-batched-tokens", f.budget, "maximum `tokens` per step and DP rank, or auto (4, 2 or 1 prompts)")
		fs.IntVar(&f.prefillTokens, "max-prefill-tokens", 0, "older name of --max-batched-tokens, without chunked prefill: at least one prompt")
		fs.Lookup("max-prefill-tokens").Hidden = true
		fs.Float64Var(&f.PrefixHitRate, "prefix-cache-hit-rate", 0, "share of a prompt found in the prefix cache, at least 0 and below 1")
		nargs.ListVar(fs, &f.BatchRange, "batch-range", nargs.OneOrMore, nargs.Int, "batch sizes per DP rank: max, or min max")
		fs.Float64Var(&f.servingCost, "serving-cost", 0, "`ms` added to each disaggregated phase")
		fs.BoolVar(&f.Disagg, "disagg", false, "search prefill (--ttft-limit) and decode (--tpot-limit) separately")
		nargs.Var(fs, (*string)(&f.Accounting), "accounting", nargs.OneOf(string(formulas.Documented), string(formulas.Steady)), "formulas for throughput: documented or steady")
		fs.IntVarP(&f.Jobs, "jobs", "j", f.Jobs, "parallel workers")
		nargs.Var(fs, &f.strategy, "concurrency-search-strategy", nargs.OneOf("exponential", "linear_exponential"), "accepted for compatibility (exponential or linear_exponential): the search is exact")
	})
}
