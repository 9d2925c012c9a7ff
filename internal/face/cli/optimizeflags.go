package cli

import (
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

// define adds the flags, in the sections of the guide.
func (f *optimizeFlags) define(fs *pflag.FlagSet) {
	t := f.Table()
	asks(fs, t, "Options")
	section(fs, "Options", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.dump, "dump-original-results", false, "print the raw table of the whole sweep instead, over all batches that were sampled")
	})
	section(fs, "General options", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.modelID, "model-id", "", "the model, instead of the argument")
	})
	asks(fs, t, "General options")
	section(fs, "General options", func(fs *pflag.FlagSet) {
		nargs.Var(fs, &f.logLevel, "log-level", nargs.OneOf("debug", "info", "warning", "error", "critical"), "log level on standard error: debug, info, warning, error or critical")
		fs.BoolVarP(&f.verbose, "verbose", "v", false, "same as --log-level debug")
		fs.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	})
	asks(fs, t, "Model & quantization options")
	section(fs, "Model & quantization options", func(fs *pflag.FlagSet) {
		fs.Bool("compile-allow-graph-break", false, "accepted for compatibility, without effect")
		fs.IntVar(&f.warnCombinations, "max-search-combinations", f.warnCombinations, "print a note above this many combinations; 0 disables it")
	})
	asks(fs, t, "Draft model options")
	f.draft.define(fs)
	f.profiling.define(fs)
	asks(fs, t, "Service options")
	section(fs, "Service options", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.prefillTokens, "max-prefill-tokens", 0, "older name of --max-batched-tokens, without chunked prefill: at least one prompt")
		fs.Lookup("max-prefill-tokens").Hidden = true
		nargs.Var(fs, &f.strategy, "concurrency-search-strategy", nargs.OneOf("exponential", "linear_exponential"), "accepted for compatibility (exponential or linear_exponential): the search is exact")
	})
	asks(fs, t)
	section(fs, "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.json, "json", false, "print JSON, with all candidates")
		fs.BoolVar(&f.memory, "memory", false, "show memory columns")
		outputVar(fs, &f.csv, aFile, "csv", "also write all candidates to a CSV `file`; - prints them instead of the tables")
		outputVar(fs, &f.plot, aFile, "plot", "also plot the sweep to a `file`, .png or .svg")
		fs.BoolVar(&f.noPlots, "no-terminal-plots", f.noPlots, "do not plot the sweep of a single device in the terminal")
		outputVar(fs, &f.trace, aFile, "chrome-trace", "write the step of each row as a Perfetto trace; the layout is added to the `file` name")
	})
}
