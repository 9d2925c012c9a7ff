package cli

import (
	"cmp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/app"
	"plimsoll/internal/document"
	"plimsoll/internal/report"
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
			r := app.CheckResultRequest{File: args[0]}
			if err := f.expected(cmd, env, against, args, &r); err != nil {
				return err
			}
			world, line := env.world(), env.progress(false)
			world.Progress = line.show
			res, err := world.CheckResult(cmd.Context(), r)
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
	f.define(f.set)
	for _, name := range []string{"per-request", "no-terminal-plots", "ttft-limit", "tpot-limit"} {
		_ = f.set.MarkHidden(name)
	}
	for name, unset := range map[string]string{"input-length": "0", "output-length": "0", "engine": "", "device": ""} {
		if o := f.set.Lookup(name); o != nil {
			o.DefValue = unset
		}
	}
	f.Input, f.Output = 0, 0
	section(f.set, deploymentSection, func(fs *pflag.FlagSet) {
		fs.StringVar(&against, "against", "", "compare with the first contender of a plan, a `file` that plimsoll plan wrote")
	})
	return cmd
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
func (f *simulateFlags) expected(cmd *cobra.Command, env *Env, against string, args []string, r *app.CheckResultRequest) error {
	if against != "" {
		if f.file != "" || len(args) > 1 {
			return usagef("--against excludes MODEL and --deployment")
		}
		data, err := env.ReadFile(against)
		if err != nil {
			return usagef("reading --against: %w", err)
		}
		p, err := document.ReadPlan(data)
		if err != nil {
			return usagef("--against %s: %v", against, err)
		}
		if r.Expected, err = p.Expected(); err != nil {
			return usagef("--against %s: %v", against, err)
		}
		return nil
	}
	world := env.world()
	runs, err := world.Runs(args[0])
	if err != nil {
		return asked(err)
	}
	model := args[1:]
	if run := &runs[0]; f.file == "" {
		if len(model) == 0 && run.Model != "" {
			model = []string{run.Model}
		}
		f.Deployment.Engine.Name, f.Deployment.System = cmp.Or(f.Deployment.Engine.Name, run.Engine, app.DefaultEngine), cmp.Or(f.Deployment.System, app.DefaultSystem)
	}
	if err := f.complete(cmd, env, model); err != nil {
		return err
	}
	r.Expected = f.SimulateRequest
	return nil
}
