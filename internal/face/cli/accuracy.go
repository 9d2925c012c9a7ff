package cli

import (
	"errors"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	opsaccuracy "github.com/plimsoll-project/plimsoll/internal/ops/accuracy"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// accuracyLong is the help of "plimsoll accuracy".
const accuracyLong = `Accuracy simulates the measured deployments of a CSV file and prints prediction errors by mode, engine, concurrency, system
and model, and the share of measurements inside the 80 % intervals (coverage).

The columns are those of AIConfigurator's silicon samples. Required are backend, model_path, system, isl, osl, tp_size and at
least one measurement: silicon_ttft_ms, silicon_tpot_ms (ttft_stat and tpot_stat are "mean", the default, or "median"),
tput_per_gpu (input and output tokens per second and device), ttft_est_ms (an estimate, reported separately) and
joules_per_output_token.

Settings are columns too: kv_cache_dtype, token_budget, memory_fraction, max_num_seqs, cuda_graph_max_bs, recv_interval,
batch_wait_iters, batch_wait_ratio; for disaggregated rows decode_token_budget, decode_memory_fraction and
prefill_max_num_seqs, in which case token_budget and memory_fraction are those of prefill; and any other setting by the
engine's own name (max_num_batched_tokens, mem_fraction_static). spec_method and spec_tokens describe speculative
decoding, acceptance the share of accepted draft tokens. Unknown columns and settings that an engine lacks are listed.

Missing values default to the engine's defaults, or to those of common benchmarks and published recipes; the result lists them.
The spread of lengths (length_ratio_low), kv_cache_dtype and token_budget matter most: without them the intervals are wider. A
text in the column quality marks a bad row; rows without one are clean. Rows marked only "mtp" (speculative decoding) are
reported separately.

--doctor checks the rows instead of predicting them. It finds suspicious rows by physics and by comparing related rows: cold
starts, cached prompts, undeclared speculative decoding and batch limits, several workers counted as one, duplicates, noise.`

// newAccuracyCmd makes "plimsoll accuracy".
func newAccuracyCmd(env *Env) *cobra.Command {
	var r opsaccuracy.Request
	var asJSON, doctor, regret bool
	var perRow string
	cmd := &cobra.Command{
		Use:   "accuracy FILE.csv",
		Short: "Compare predictions with measured deployments",
		Long:  accuracyLong,
		Example: `  plimsoll accuracy measured.csv
  plimsoll accuracy measured.csv --json
  plimsoll accuracy measured.csv --doctor
  plimsoll accuracy measured.csv --calibration mine.yaml --per-row rows.csv`,
		GroupID: groupTrust,
		Args:    arguments(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.File = args[0]
			if doctor {
				return examine(cmd, env, r.File, asJSON)
			}
			r.Energy = asJSON || perRow != ""
			res, err := watched(env, false, func(w *session.Session) (*opsaccuracy.Response, error) { return opsaccuracy.Run(cmd.Context(), w, r) })
			if err != nil {
				return err
			}
			tableNotes(env.Note, res.Tables)
			switch {
			case asJSON:
				err = env.JSON(document.NewAccuracy(res, regret))
			case regret:
				report.Regret(env.Stdout, res)
			default:
				report.Accuracy(env.Stdout, res)
			}
			if perRow != "" {
				err = errors.Join(err, env.CreateAtomic(perRow, func(w io.Writer) error { return report.AccuracyCSV(w, res) }))
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&r.Calibration, "calibration", "", "calibration `file` (plimsoll calibrate) instead of the shipped one")
	fs.BoolVar(&r.Uncalibrated, "untuned", false, "predict without calibration")
	perfData(fs, &r.PerfData)
	fs.IntVarP(&r.Workers, "jobs", "j", runtime.NumCPU(), "parallel workers")
	fs.StringVar(&perRow, "per-row", "", "also write every row with its prediction to a CSV `file`")
	fs.BoolVar(&doctor, "doctor", false, "check the rows instead: list suspicious ones and why")
	fs.BoolVar(&regret, "regret", false, "print the throughput lost by choosing layouts by prediction, among rows that differ only in layout")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// examine prints the suspicious rows of a file of measurements.
func examine(cmd *cobra.Command, env *Env, file string, asJSON bool) error {
	res, err := opsaccuracy.Examine(cmd.Context(), env.world(), file)
	if err != nil {
		return asked(err)
	}
	if asJSON {
		return env.JSON(document.NewExamine(res))
	}
	report.Examine(env.Stdout, res)
	return nil
}
