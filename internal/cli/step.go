package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/app"
	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/graph"
	"plimsoll/internal/model"
	"plimsoll/internal/nargs"
	"plimsoll/internal/report"
)

// stepFlags is what "plimsoll step" was asked.
type stepFlags struct {
	app.StepRequest

	modelling modellingFlags
	embedding string
	json      bool
	trace     string
}

// newStepCmd makes "plimsoll step".
func newStepCmd(env *Env) *cobra.Command {
	f := &stepFlags{}
	f.Device = "TEST_DEVICE"
	f.Queries, f.MXFP4Group = 1, graph.DefaultMXFP4Group
	cmd := &cobra.Command{
		Use:   "step MODEL",
		Short: "Time and memory of one forward pass",
		Long: `Step evaluates one forward pass of MODEL: every operator with its time and what bounds it, the sum, and the memory
each device needs.

MODEL is an id of the catalog (plimsoll models), a directory with a config.json, or an id in the Hugging Face cache.
--num-queries counts over all data-parallel ranks; --context-length is what is already cached, so a sequence is as long
as context and query together. A decode query is one token plus the speculated ones unless --query-length says otherwise.

On Ascend devices the default policy repeats the assumptions of Ascend's own model (TensorCast) so that numbers can be
compared; the result says where one of them made a visible difference. --policy physical makes none of them.

--perf-data prices operators by measured kernels where a directory of them covers their shape; the answer says for how
much of the step that is.

--engine adds a line with the time an engine takes for the step: the kernels as its calibration has them, the gaps between
them, launches where no captured graph is replayed, and the host's work that the device waits for, as "plimsoll simulate"
counts them. Of the engine's settings those of graphs, host times, drafted tokens and the format of the KV cache matter; what
it schedules and how it divides the memory do not.`,
		Example: `  plimsoll step Qwen/Qwen3-32B --device ATLAS_800_A3_752T_128G_DIE --num-devices 8 --tp-size 8 \
      --num-queries 32 --context-length 4096 --decode --compile
  plimsoll step deepseek-ai/DeepSeek-V3.1 --device ATLAS_800_A3_752T_128G_DIE --num-devices 16 --ep-size 16 \
      --num-queries 16 --query-length 4096 --compile --json
  plimsoll step Qwen/Qwen3-32B --device h200_sxm --query-length 2048 --chrome-trace step.json
  plimsoll step Qwen/Qwen3-32B --device h200_sxm --decode --num-queries 64 --context-length 4096 --engine vllm
  plimsoll step Qwen/Qwen3-32B --device h200_sxm --decode --context-length 4096 --perf-data systems/data`,
		GroupID: groupPlan,
		Args:    exactModelArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Model = args[0]
			if f.DeviceFile != "" && !cmd.Flags().Changed("device") {
				f.Device = ""
			}
			if err := f.modelling.complete(cmd.Flags(), &f.Modelling); err != nil {
				return err
			}
			return runStep(env, f)
		},
		ValidArgsFunction: completeModel,
	}
	f.define(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("device", completeDevice)
	return cmd
}

// define adds the flags, in the sections help shows.
func (f *stepFlags) define(fs *pflag.FlagSet) {
	section(fs, "Hardware", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.Device, "device", f.Device, "device profile (plimsoll devices lists them)")
		fs.StringVar(&f.DeviceFile, "device-file", "", "your own device profile, a YAML file")
		perfData(fs, &f.PerfData)
		fs.IntVar(&f.Layout.Devices, "num-devices", 1, "number of devices")
		fs.Float64Var(&f.ReservedGiB, "reserved-memory-gb", 0, "memory of each device kept free, in GiB")
	})
	section(fs, "Engine", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.Engine, "engine", "", "also say what the step takes under an engine, the host's work included, by `NAME` (plimsoll engines lists them)")
		fs.StringVar(&f.EngineVersion, "engine-version", "", "the engine's `version`; the newest by default")
		nargs.ListVar(fs, &f.Set, "set", nargs.OneOrMore, nargs.Text, "engine settings, each as `KEY=VALUE`")
	})
	section(fs, "Layout", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.Layout.TP, "tp-size", 1, "tensor parallelism of attention and dense layers")
		fs.IntVar(&f.Layout.DP, "dp-size", 0, "data parallelism (default devices / (TP·PP))")
		fs.IntVar(&f.Layout.PP, "pp-size", 1, "pipeline parallelism")
		fs.IntVar(&f.Layout.EP, "ep-size", 1, "expert parallelism")
		fs.IntVar(&f.Layout.MoETP, "moe-tp-size", 0, "tensor parallelism of each expert (default devices / (EP·MoE-DP))")
		fs.IntVar(&f.Layout.MoEDP, "moe-dp-size", 1, "copies of the experts")
		fs.IntVar(&f.Layout.DCP, "dcp-size", 1, "decode context parallelism inside a TP group")
		nargs.Var(fs, &f.embedding, "word-embedding-tp", nargs.OneOf("col", "row"), "cut the word embedding over TP: col or row")
		fs.BoolVar(&f.SharedExpertTP, "enable-shared-expert-tp", false, "cut the shared experts over TP (needs EP)")
	})
	section(fs, "Batch", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.Queries, "num-queries", f.Queries, "requests over all data-parallel ranks")
		fs.IntVar(&f.QueryLength, "query-length", 0, "new tokens of each request (decode: 1 + MTP tokens)")
		fs.IntVar(&f.ContextLength, "context-length", 0, "tokens of each request cached before the step")
		fs.BoolVar(&f.Decode, "decode", false, "a decode step: logits for every new token")
		fs.IntVar(&f.MTP, "num-mtp-tokens", 0, "extra tokens predicted in a step")
		fs.Float64Var(&f.PrefixHitRate, "prefix-cache-hit-rate", 0, "share of a prefill's query found in the prefix cache")
		fs.IntVar(&f.ImageHeight, "image-height", 0, "pixels of one image per request")
		fs.IntVar(&f.ImageWidth, "image-width", 0, "pixels of one image per request")
	})
	section(fs, "Number formats", func(fs *pflag.FlagSet) {
		action(fs, &f.LinearAction, "quantize-linear-action", dtype.LinearActions(),
			"quantization of linear layers (default W8A8_DYNAMIC on Ascend, AUTO = the checkpoint's own elsewhere)")
		action(fs, &f.NonExpertAction, "quantize-non-expert-linear-action", dtype.LinearActions(),
			"other quantization for attention, dense and shared-expert layers")
		action(fs, &f.AttentionAction, "quantize-attention-action", dtype.AttentionActions(),
			"quantization of the KV cache and attention (default DISABLED on Ascend, AUTO elsewhere)")
		fs.IntVar(&f.MXFP4Group, "mxfp4-group-size", f.MXFP4Group, "elements that share an MXFP4 scale")
	})
	section(fs, "Modelling", func(fs *pflag.FlagSet) {
		f.modelling.define(fs, &f.Modelling)
	})
	section(fs, "Output", func(fs *pflag.FlagSet) {
		calibration(fs, &f.Calibration, "error bars, and with --engine the engine's times,")
		fs.BoolVar(&f.json, "json", false, "print JSON")
		fs.StringVar(&f.trace, "chrome-trace", "", "write the step as a trace that Perfetto opens")
	})
}

// calibration defines the flag of commands of which a calibration changes no more
// than what is said.
func calibration(fs *pflag.FlagSet, dst *string, what string) {
	fs.StringVar(dst, "calibration", "", what+" from a `file` written by plimsoll calibrate, instead of the shipped one")
}

// compilationTokens are what --compilation-config accepts.
func compilationTokens() []string {
	return []string{
		"enable_multistream", "enable_sequence_parallel", "enable_matmul_allreduce", "enable_dispatch_ffn_combine",
	}
}

// action defines a flag whose value is one of the quantization actions.
func action(fs *pflag.FlagSet, dst *dtype.Action, name string, among []dtype.Action, usage string) {
	oneOf := nargs.OneOf(actionWords(among)...)
	nargs.Var(fs, dst, name, func(word string) (dtype.Action, error) {
		w, err := oneOf(word)
		return dtype.Action(w), err
	}, usage)
}

// actionWords are quantization actions as the user writes them.
func actionWords(actions []dtype.Action) []string {
	words := make([]string, len(actions))
	for i, a := range actions {
		words[i] = string(a)
	}
	return words
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

// runStep evaluates and prints.
func runStep(env *Env, f *stepFlags) error {
	f.Multistream = slices.Contains(f.modelling.compilation, "enable_multistream")
	f.SequenceParallel = slices.Contains(f.modelling.compilation, "enable_sequence_parallel")
	f.MatMulAllReduce = slices.Contains(f.modelling.compilation, "enable_matmul_allreduce")
	f.DispatchCombine = slices.Contains(f.modelling.compilation, "enable_dispatch_ffn_combine")
	f.EmbeddingTP = embeddingTP(f.embedding)
	r, err := env.world().Step(&f.StepRequest)
	if err != nil {
		return asked(err)
	}
	tableNotes(env.Note, r.Tables)
	if f.trace != "" {
		if err := env.CreateAtomic(f.trace, func(w io.Writer) error { return report.Trace(w, r.Result) }); err != nil {
			return err
		}
	}
	if f.json {
		return env.JSON(report.NewStepJSON(r))
	}
	report.Step(env.Stdout, r)
	return nil
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
