package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/compat/nvidia"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
)

// estimateFlags are those of "plimsoll cli estimate".
type estimateFlags struct {
	defaultFlags
	outputFlags

	asked   nvidia.EstimateFlags
	detail  []string
	tables  prices.Tables
	overlay string
}

// newEstimateCmd makes "plimsoll cli estimate".
func newEstimateCmd(env *Env) *cobra.Command {
	f := &estimateFlags{}
	cmd := &cobra.Command{
		Use:   "estimate",
		Short: "Predict one given deployment",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd, env) },
	}
	f.define(cmd.Flags())
	return cmd
}

// define adds the flags.
func (f *estimateFlags) define(fs *pflag.FlagSet) {
	a := &f.asked
	section(fs, "Deployment", func(fs *pflag.FlagSet) {
		nargs.Var(fs, &a.Mode, "estimate-mode", nargs.OneOf(nvidia.EstimateModes()...), "agg, disagg, static, static_ctx or static_gen (default agg)")
		f.modelFlags(fs)
		nargs.Var(fs, &f.Backend, "backend", nargs.OneOf("trtllm", "vllm", "sglang"), "engine: trtllm, vllm or sglang (default trtllm)")
		f.versionFlag(fs)
		workerFlags(fs, &a.Workers, "", "", "")
		fs.IntVar(&a.ContextTokens, "ctx-tokens", 0, "maximum `tokens` per step (default the engine's)")
	})
	section(fs, "Disaggregated deployment", func(fs *pflag.FlagSet) {
		workerFlags(fs, &a.Prefill, "prefill-", "p-", "prefill: ")
		workerFlags(fs, &a.Decode, "decode-", "d-", "decode: ")
	})
	section(fs, "Workload and limits", func(fs *pflag.FlagSet) {
		f.lengthFlags(fs, 1024, 1024)
		fs.IntVar(&a.Concurrency, "concurrency", 0, "requests in flight (default the sum of the batch limits)")
		f.limitFlags(fs)
		f.draftFlags(fs)
		f.precisionFlags(fs)
		f.engineFlags(fs)
		f.settingFlags(fs)
	})
	section(fs, "Output", func(fs *pflag.FlagSet) {
		nargs.Var(fs, &f.detail, "detail", details, "sections to print, separated by commas: summary, memory, time, source, or all (default summary)")
		f.outputFlags.define(fs)
		calibration(fs, &f.overlay, "80 % intervals")
		perfData(fs, &f.tables)
	})
	silentFlags(fs)
	sourceFlags(fs)
	ignoredFlags(fs, "stride", "fmha-quant-mode", "comm-quant-mode", "top-n", "save-dir", "deployment-target")
}

// workerFlags adds the sizes of the workers of a role; short is the prefix of
// AIConfigurator's short spellings.
func workerFlags(fs *pflag.FlagSet, w *nvidia.WorkerFlags, prefix, short, about string) {
	add := func(to *int, name, other, text string) {
		fs.IntVar(to, prefix+name, 0, about+text+"; same as --"+short+other)
	}
	add(&w.TP, "tp-size", "tp", "tensor parallelism (default 1)")
	add(&w.PP, "pp-size", "pp", "pipeline parallelism (default 1)")
	add(&w.DP, "dp-size", "dp", "data parallelism of attention (default 1)")
	add(&w.MoETP, "moe-tp-size", "etp", "tensor parallelism of experts (default devices / --"+prefix+"ep-size)")
	add(&w.EP, "ep-size", "ep", "expert parallelism (default 1)")
	if prefix == "" {
		add(&w.Batch, "batch-size", "bs", "batch limit of a data-parallel rank (default 128)")
		fs.IntVar(&w.Count, "workers", 0, "number of workers (default 1)")
		return
	}
	add(&w.Batch, "batch-size", "bs", "batch limit of a data-parallel rank, required")
	add(&w.Count, "workers", "workers", "workers, required")
}

// details reads the parts of --detail.
func details(words string) ([]string, error) {
	one := nargs.OneOf("summary", "memory", "time", "source", "energy", "all")
	var out []string
	for word := range strings.SplitSeq(words, ",") {
		part, err := one(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}

// has reports whether --detail names a section.
func (f *estimateFlags) has(part string) bool {
	return slices.Contains(f.detail, part) || part != "energy" && slices.Contains(f.detail, "all")
}

// run predicts and prints.
func (f *estimateFlags) run(cmd *cobra.Command, env *Env) error {
	fs := cmd.Flags()
	if err := f.complete(cmd, env); err != nil {
		return err
	}
	if err := zeros(fs, f.asked.Counts()...); err != nil {
		return err
	}
	f.asked.Flags = f.Flags
	request, notes, err := f.asked.Request()
	if err != nil {
		return usage(err)
	}
	view := report.EstimateView{Memory: f.has("memory"), Time: f.has("time"), Source: f.has("source")}
	request.Steps = view.Time || view.Source
	request.Calibration, request.PerfData = f.overlay, f.tables
	if f.has("energy") {
		notes = append(notes, "energy is not modelled")
	}
	f.notes(env, slices.Concat(notes, ignored(fs))...)
	r, err := estimate.Run(cmd.Context(), env.world(), request)
	if err != nil {
		return asked(err)
	}
	if !f.quiet {
		tableNotes(env.Note, r.Tables)
	}
	return show(env, f.json, r, func(w io.Writer, r *estimate.Response) { report.Estimate(w, r, view) })
}
