package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/face/commandline"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// modellingFlags select how a step is modelled.
type modellingFlags struct {
	compile, eager bool
	compilation    []string
	pricing        string
	embedding      string
}

// define adds the flags to a section.
func (f *modellingFlags) define(fs *pflag.FlagSet, to *deployment.Modelling) {
	fs.BoolVar(&f.compile, "compile", false, "fuse operators as a graph compiler does (default except on Ascend devices and with --pricing roofline)")
	fs.BoolVar(&f.eager, "no-compile", false, "do not fuse operators (default on Ascend devices and with --pricing roofline)")
	nargs.ListVar(fs, &f.compilation, "compilation-config", nargs.ZeroOrMore, nargs.OneOf(compilationTokens()...),
		"further compiler passes: "+join(compilationTokens()))
	nargs.Var(fs, &to.Policy, "policy", nargs.OneOf("tensorcast", "physical"),
		"modelling assumptions: tensorcast, those of Ascend's model (default on Ascend), or physical")
	nargs.Var(fs, &f.pricing, "pricing", nargs.OneOf("auto", string(prices.Roofline), string(prices.Calibrated), string(prices.Surfaces)),
		"cost model of operators: roofline, from the peaks of the profile; calibrated, fitted to measured kernels; surfaces, those fits corrected by measured kernels (default roofline with --policy tensorcast, otherwise the most accurate available)")
}

// defineSharding adds the flags for sharding embeddings and shared experts.
func (f *modellingFlags) defineSharding(fs *pflag.FlagSet, to *deployment.Modelling) {
	nargs.Var(fs, &f.embedding, "word-embedding-tp", nargs.OneOf("col", "row"), "shard the word embedding over TP: col or row")
	fs.BoolVar(&to.SharedExpertTP, "enable-shared-expert-tp", false, "shard the shared experts over TP (needs EP)")
}

// compilationTokens are what --compilation-config accepts.
func compilationTokens() []string {
	return []string{commandline.Multistream, commandline.SequenceParallel, commandline.MatMulAllReduce, commandline.DispatchCombine}
}

// complete turns the flags into a request.
func (f *modellingFlags) complete(fs *pflag.FlagSet, to *deployment.Modelling) error {
	if f.pricing != "auto" {
		to.Pricing = prices.Pricing(f.pricing)
	}
	to.SequenceParallel = slices.Contains(f.compilation, commandline.SequenceParallel)
	to.MatMulAllReduce = slices.Contains(f.compilation, commandline.MatMulAllReduce)
	to.DispatchCombine = slices.Contains(f.compilation, commandline.DispatchCombine)
	to.EmbeddingTP = embeddingTP(f.embedding)
	fused := func(yes bool) {
		if to.Fusion = deployment.Eager; yes {
			to.Fusion = deployment.Compiled
		}
	}
	switch given := fs.Changed; {
	case given("compile") && given("no-compile"):
		return usagef("--compile and --no-compile exclude each other")
	case given("compile"):
		fused(f.compile)
	case given("no-compile"):
		fused(!f.eager)
	}
	return nil
}

// multistream reports whether communication has a stream of its own.
func (f *modellingFlags) multistream() bool {
	return slices.Contains(f.compilation, commandline.Multistream)
}

// embeddingTP reads --word-embedding-tp.
func embeddingTP(word string) graph.EmbeddingTP {
	switch word {
	case "col":
		return graph.EmbeddingCols
	case "row":
		return graph.EmbeddingRows
	}
	return graph.EmbeddingCopied
}

// layoutFlags adds the sizes of one replica's layout that most commands take.
func layoutFlags(fs *pflag.FlagSet, l *parallel.Layout, devices, dp string) {
	fs.IntVar(&l.Devices, "num-devices", 0, devices)
	fs.IntVar(&l.TP, "tp-size", 1, "tensor parallelism of attention and dense layers")
	fs.IntVar(&l.DP, "dp-size", 0, dp)
	fs.IntVar(&l.PP, "pp-size", 1, "pipeline parallelism")
	fs.IntVar(&l.EP, "ep-size", 1, "expert parallelism")
	fs.IntVar(&l.MoETP, "moe-tp-size", 0, "tensor parallelism of each expert (default devices / (EP·MoE-DP·PP))")
}

// formatFlags adds the quantization of linear layers and of the KV cache.
func formatFlags(fs *pflag.FlagSet, f *deployment.Formats) {
	nargs.Var(fs, &f.Linear, "quantize-linear-action", nargs.OneOf(dtype.LinearActions()...),
		"quantization of linear layers: "+join(dtype.LinearActions())+" (default W8A8_DYNAMIC on Ascend, elsewhere AUTO, the checkpoint's own)")
	nargs.Var(fs, &f.Attention, "quantize-attention-action", nargs.OneOf(dtype.AttentionActions()...),
		"quantization of the KV cache: "+join(dtype.AttentionActions())+" (default DISABLED on Ascend, elsewhere AUTO)")
}

// expertFormatFlags adds the quantization that only some commands take.
func expertFormatFlags(fs *pflag.FlagSet, f *deployment.Formats) {
	nargs.Var(fs, &f.NonExpert, "quantize-non-expert-linear-action", nargs.OneOf(dtype.LinearActions()...), "quantization of attention, dense and shared-expert layers (default that of the other linear layers)")
	fs.IntVar(&f.MXFP4Group, "mxfp4-group-size", graph.DefaultMXFP4Group, "elements that share an MXFP4 scale")
}

// engineFlags adds the engine, its version and its settings.
func engineFlags(fs *pflag.FlagSet, e *deployment.Engine, usage string) {
	fs.StringVar(&e.Name, "engine", e.Name, usage+" (plimsoll engines lists them)")
	fs.StringVar(&e.Version, "engine-version", "", "engine `version` (default the newest)")
	nargs.ListVar(fs, &e.Settings, "set", nargs.OneOrMore, nargs.Text, "engine settings, each as `KEY=VALUE`")
}

// perfData defines the flags for measured kernels.
func perfData(fs *pflag.FlagSet, r *prices.Tables) {
	fs.StringVar(&r.Dir, "perf-data", "", "take operator times from a `directory` of measured kernel tables, in AIConfigurator's layout")
	fs.StringVar(&r.Engine, "perf-engine", "", "use only the tables of `ENGINE[@VERSION]` (default the fastest kernel of all engines in their newest versions)")
}

// tableNotes prints the warnings about kernel tables.
func tableNotes(note func(string), u *prices.Use) {
	if u == nil {
		return
	}
	for _, n := range u.Notes() {
		note(n)
	}
}

// goodput adds the flag for the share of requests that meet all limits at once.
func goodput(fs *pflag.FlagSet, to *float64) {
	fs.Float64Var(to, "goodput", 0, "`share` of requests that must be within all limits at once, such as 0.95; replaces --percentile")
}

// percentile reads the statistic that limits apply to: mean, which is 0, or a percentile. One without its p that is below 1 is
// refused: 0.95 is likely to mean p95.
func percentile(word string) (float64, error) {
	if word == "mean" {
		return 0, nil
	}
	digits, named := strings.CutPrefix(word, "p")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(x > 0 && x < 100) || !named && x < 1 {
		return 0, errors.New("want mean, or a percentile above p0 and below p100 such as p95")
	}
	return x, nil
}
