package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// checkLong is the help of "plimsoll check".
const checkLong = `Check reads the result of a benchmark run and compares it with the prediction of the same deployment: TTFT, TPOT and
throughput, each with its 80 % interval. RESULT is the JSON of vllm bench serve (--save-result), the JSONL of SGLang's bench_serving,
the JSON or CSV of AIPerf and genai-perf, the JSON of trtllm-bench (--report_json), a result of InferenceX, or that of plimsoll
simulate --json.

What was deployed comes from a plan (--against plan.json), from --deployment, or from MODEL and the flags of simulate. Load and
lengths are those of the plan or flags; without any, those of the result.

If the run lies outside the intervals, assumptions that may be wrong are tested one by one: what the result states otherwise
(lengths, load, settings), and what it does not say (CUDA graphs, batch limit, token budget, room for the KV cache and its format,
repeated prompts, warm and cold starts). Each is simulated, and the error that is left tells which explains the run.`

// newCheckCmd makes "plimsoll check".
func newCheckCmd(env *Env) *cobra.Command {
	f := &simulateFlags{}
	var against string
	cmd := &cobra.Command{
		Use:   "check RESULT [MODEL]",
		Short: "Compare a benchmark's result with the prediction, and say what explains a difference",
		Long:  checkLong,
		Example: `  plimsoll check result.json --against plan.json
  plimsoll check result.json Qwen/Qwen3-32B --system h200_sxm --engine vllm --tp-size 4
  plimsoll check result.jsonl --deployment deployment.json --json`,
		GroupID: groupTrust,
		Args:    checkArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := check.Request{File: args[0]}
			if err := f.expected(cmd, env, against, args, &r); err != nil {
				return err
			}
			world, line := env.world(), env.progress(false)
			world.Progress = line.show
			res, err := check.Run(cmd.Context(), world, r)
			line.done()
			if err != nil {
				return asked(err)
			}
			doc := document.NewCheckResult(res)
			if f.json {
				return env.JSON(doc)
			}
			report.CheckResult(env.Stdout, doc)
			return nil
		},
	}
	f.set = cmd.Flags()
	f.defineUnsaid(f.set)
	_ = cmd.RegisterFlagCompletionFunc("engine-preset", completePreset)
	section(f.set, deploymentSection, func(fs *pflag.FlagSet) {
		fs.StringVar(&against, "against", "", "compare with the first contender of a plan, a `file` that plimsoll plan wrote")
	})
	return cmd
}

// defineUnsaid adds the flags of simulate without defaults: what nobody says is that of
// a result.
func (f *simulateFlags) defineUnsaid(fs *pflag.FlagSet) {
	f.define(fs)
	for _, name := range []string{"per-request", "no-terminal-plots", "ttft-limit", "tpot-limit"} {
		_ = fs.MarkHidden(name)
	}
	for _, name := range []string{"input-length", "output-length", "length-ratio-low", "tp-size"} {
		fs.Lookup(name).DefValue = "0" // not shown
	}
	fs.Lookup("tp-size").Usage += " (default that of the result, or 1)"
	f.Input, f.Output, f.LengthLow, f.serves.Layout.TP = 0, 0, 0, 0
}

// checkArgs accepts a result, and a model.
func checkArgs(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return withHint(usagef("%s: no RESULT given", cmd.CommandPath()), "usage: %s", cmd.UseLine())
	case 1, 2:
		return nil
	}
	return usagef("%s: unexpected argument %q after RESULT and MODEL", cmd.CommandPath(), args[2])
}

// expected is what was to be expected of a run: a plan's, or what the flags describe.
func (f *simulateFlags) expected(cmd *cobra.Command, env *Env, against string, args []string, r *check.Request) error {
	if against != "" {
		if f.file != "" || len(args) > 1 {
			return usagef("--against excludes MODEL and --deployment")
		}
		var err error
		r.Expected, err = planned(env, against)
		return err
	}
	world := env.world()
	runs, err := check.Runs(world, args[0])
	if err != nil {
		return asked(err)
	}
	model := args[1:]
	if run := &runs[0]; f.file == "" && len(model) == 0 && run.Model != "" {
		model = []string{run.Model}
	}
	if err := f.complete(cmd, env, model); err != nil {
		return err
	}
	r.Expected = f.Request
	return nil
}

// planned is what a plan expects of its first contender.
func planned(env *Env, file string) (out simulate.Request, err error) {
	data, err := env.ReadFile(file)
	if err != nil {
		return out, usagef("reading --against: %w", err)
	}
	p, err := document.ReadPlan(data)
	if err == nil {
		out, err = p.Expected()
	}
	if err != nil {
		return out, usagef("--against %s: %v", file, err)
	}
	return out, nil
}
