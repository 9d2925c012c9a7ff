package cli

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/app"
	"plimsoll/internal/dtype"
	"plimsoll/internal/nargs"
	"plimsoll/internal/report"
	"plimsoll/internal/sim"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// simulateFlags is what "plimsoll simulate" was asked.
type simulateFlags struct {
	app.SimulateRequest

	ttft, tpot float64
	json       bool
	perRequest string
	input      string // --length-distribution
	output     string // --output-distribution
	set        *pflag.FlagSet
	noPlots    bool
}

// acceptanceRates are the vendor's defaults of drafted tokens kept.
func acceptanceRates() []float64 { return []float64{0.9, 0.6, 0.4, 0.2} }

// newSimulateCmd makes "plimsoll simulate".
func newSimulateCmd(env *Env) *cobra.Command {
	f := &simulateFlags{}
	f.Engine, f.Device, f.Replicas, f.LengthLow, f.Seed = "vllm", "h200_sxm", 1, 1, 1
	f.AcceptanceRates = acceptanceRates()
	cmd := &cobra.Command{
		Use:   "simulate MODEL",
		Short: "Run requests through an engine, event by event",
		Long: `Simulate serves requests with MODEL under an engine's own scheduling rules: queues, token budgets, KV blocks,
preemption, what the host costs. It prints the distribution of TTFT, TPOT and latency, throughput, goodput under limits,
and how full the engine and its cache were.

Requests come in a closed loop (--concurrency), at a rate (--rate) or from a trace (--trace: Azure or BurstGPT CSV,
Mooncake JSONL, or a CSV of arrival, input and output). Engine settings are those "plimsoll engines NAME" prints; --set
replaces any. With --prefill-replicas prompts are computed apart, and the client sees the first token when a replica that
generates has the cache and takes the request; --prefill-set replaces settings of the former alone.`,
		Example: `  plimsoll simulate Qwen/Qwen3-32B --system h200_sxm --engine vllm --tp-size 4 --concurrency 64 \
      --input-length 1024 --output-length 1024
  plimsoll simulate meta-llama/Llama-3.1-70B --system b200_sxm --engine trtllm --tp-size 4 --rate 5 \
      --input-length 2048 --output-length 256 --ttft-limit 1000 --tpot-limit 30 --json
  plimsoll simulate deepseek-ai/DeepSeek-V3 --system h200_sxm --engine sglang --dp-size 8 --ep-size 8 \
      --prefill-replicas 1 --prefill-tp-size 8 --prefill-dp-size 1 --prefill-set token_budget=32768 --rate 4`,
		GroupID: groupPlan,
		Args:    exactModelArg,
		RunE: func(_ *cobra.Command, args []string) error {
			f.Model = args[0]
			return runSimulate(env, f)
		},
		ValidArgsFunction: completeModel,
	}
	f.set = cmd.Flags()
	f.define(f.set)
	_ = cmd.RegisterFlagCompletionFunc("device", completeDevice)
	return cmd
}

// distributions reads the lengths that are not the same for all requests.
func (f *simulateFlags) distributions(env *Env) (err error) {
	for _, d := range []struct {
		length, flag, file string
		to                 **workload.Distribution
	}{
		{"input-length", "length-distribution", f.input, &f.InputLengths},
		{"output-length", "output-distribution", f.output, &f.OutputLengths},
	} {
		if !f.set.Changed(d.flag) {
			continue
		}
		if f.set.Changed(d.length) || f.Trace != "" {
			return usagef("--%s excludes --%s and --trace", d.flag, d.length)
		}
		if *d.to, err = readDistribution(env, d.flag, d.file); err != nil {
			return err
		}
	}
	return nil
}

// define adds the flags, in the sections help shows.
func (f *simulateFlags) define(fs *pflag.FlagSet) {
	section(fs, "Deployment", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.Device, "device", f.Device, "device profile; --system is the same")
		fs.StringVar(&f.DeviceFile, "device-file", "", "your own device profile, a YAML `file`")
		fs.StringVar(&f.Engine, "engine", f.Engine, "serving engine (plimsoll engines lists them)")
		fs.StringVar(&f.EngineVersion, "engine-version", "", "the engine's `version`; the newest by default")
		nargs.ListVar(fs, &f.Set, "set", nargs.OneOrMore, nargs.Text, "engine settings, each as `KEY=VALUE`")
		fs.StringVar(&f.Calibration, "calibration", "", "a `file` written by plimsoll calibrate")
		perfData(fs, &f.PerfData)
		fs.IntVar(&f.Layout.Devices, "num-devices", 0, "devices of a replica (default TP·DP·PP)")
		fs.IntVar(&f.Layout.TP, "tp-size", 1, "tensor parallelism")
		fs.IntVar(&f.Layout.DP, "dp-size", 1, "attention data parallelism inside a replica")
		fs.IntVar(&f.Layout.PP, "pp-size", 1, "pipeline parallelism")
		fs.IntVar(&f.Layout.EP, "ep-size", 1, "expert parallelism")
		fs.IntVar(&f.Layout.MoETP, "moe-tp-size", 0, "tensor parallelism of each expert")
		fs.IntVar(&f.Replicas, "replicas", f.Replicas, "copies of the deployment")
		fs.BoolVar(&f.LeastLoaded, "least-loaded", false, "route to the least loaded replica instead of in turn")
		fs.IntVar(&f.PrefillReplicas, "prefill-replicas", 0, "replicas that compute prompts only; the others then only generate")
		fs.IntVar(&f.Prefill.TP, "prefill-tp-size", 0, "tensor parallelism of a prefill replica (default --tp-size)")
		fs.IntVar(&f.Prefill.DP, "prefill-dp-size", 0, "attention data parallelism of a prefill replica (default --dp-size)")
		fs.IntVar(&f.Prefill.EP, "prefill-ep-size", 0, "expert parallelism of a prefill replica (default --ep-size)")
		nargs.ListVar(fs, &f.PrefillSet, "prefill-set", nargs.OneOrMore, nargs.Text, "engine settings of prefill replicas beyond --set, each as `KEY=VALUE`")
		action(fs, &f.LinearAction, "quantize-linear-action", dtype.LinearActions(), "quantization of linear layers (default the checkpoint's own)")
		action(fs, &f.AttentionAction, "quantize-attention-action", dtype.AttentionActions(), "quantization of the KV cache (default the checkpoint's own)")
		fs.IntVar(&f.MTP, "num-mtp-tokens", 0, "tokens the model's own modules draft in a step")
		nargs.ListVar(fs, &f.AcceptanceRates, "mtp-acceptance-rates", nargs.OneOrMore, nargs.Float, "chance that each drafted token is kept")
	})
	section(fs, "Requests", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.Concurrency, "concurrency", 0, "requests in flight: a closed loop")
		fs.Float64Var(&f.Rate, "rate", 0, "requests per second")
		nargs.Var(fs, &f.Process, "arrival", arrival, "how requests of a --rate come: poisson, gamma or constant")
		fs.Float64Var(&f.Variation, "arrival-variation", 0, "gamma: standard deviation of the gaps over their mean; 1 is poisson, more is burstier")
		fs.StringVar(&f.Trace, "trace", "", "requests from a trace `file`")
		fs.IntVar(&f.Requests, "num-prompts", 0, "requests in all (default ten per request in flight, or 1000)")
		fs.IntVar(&f.Input, "input-length", 1024, "prompt length in tokens")
		fs.IntVar(&f.Output, "output-length", 256, "answer length in tokens")
		fs.StringVar(&f.input, "length-distribution", "", "prompt lengths by distribution: a `file` (YAML bins, CSV, trace), or builtin")
		fs.StringVar(&f.output, "output-distribution", "", "answer lengths by distribution, likewise a `file`, or builtin")
		fs.Float64Var(&f.LengthLow, "length-ratio-low", f.LengthLow, "lengths are uniform from this share of the length to all of it")
		fs.Uint64Var(&f.Seed, "seed", f.Seed, "of the random draws")
		nargs.Var(fs, &f.ttft, "ttft-limit", positiveOrInf, "most TTFT in `ms`, for goodput")
		nargs.Var(fs, &f.tpot, "tpot-limit", positiveOrInf, "most TPOT in `ms`, for goodput")
	})
	section(fs, "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.json, "json", false, "print JSON")
		fs.StringVar(&f.perRequest, "per-request", "", "also write every request to a CSV `file`")
		fs.BoolVar(&f.noPlots, "no-terminal-plots", false, "leave out the timeline")
	})
}

// arrival reads the name of an arrival process.
func arrival(word string) (sim.Process, error) {
	processes := []sim.Process{sim.Poisson, sim.Gamma, sim.Constant}
	words := make([]string, len(processes))
	for i, p := range processes {
		words[i] = p.String()
	}
	word, err := nargs.OneOf(words...)(word)
	return processes[max(0, slices.Index(words, word))], err
}

// runSimulate simulates and prints.
func runSimulate(env *Env, f *simulateFlags) error {
	f.TTFTLimit, f.TPOTLimit = units.Seconds(f.ttft/1e3), units.Seconds(f.tpot/1e3)
	f.Records = f.perRequest != ""
	if f.Layout.Devices == 0 {
		f.Layout.Devices = f.Layout.TP * f.Layout.DP * f.Layout.PP
	}
	if err := f.distributions(env); err != nil {
		return err
	}
	p := &f.Prefill
	if f.PrefillReplicas == 0 && (p.TP != 0 || p.DP != 0 || p.EP != 0 || f.PrefillSet != nil) {
		return usagef("--prefill-tp-size, --prefill-dp-size, --prefill-ep-size and --prefill-set need --prefill-replicas")
	}
	p.TP, p.DP, p.EP = cmp.Or(p.TP, f.Layout.TP), cmp.Or(p.DP, f.Layout.DP), cmp.Or(p.EP, f.Layout.EP)
	p.PP = f.Layout.PP
	p.Devices = p.TP * p.DP * p.PP
	r, err := env.world().Simulate(context.Background(), &f.SimulateRequest)
	if err != nil {
		return asked(err)
	}
	tableNotes(env.Note, r.Tables)
	if f.perRequest != "" {
		if err := env.CreateAtomic(f.perRequest, func(w io.Writer) error { return sim.WriteCSV(w, r.Result.Records) }); err != nil {
			return err
		}
	}
	if f.json {
		return env.JSON(report.NewSimulateJSON(r))
	}
	report.Simulate(env.Stdout, r, report.OptimizeView{Color: env.Color(env.Stdout), Width: env.Width(), Plots: !f.noPlots})
	return nil
}
