package cli

import (
	"errors"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/app"
	"plimsoll/internal/calibrate"
	"plimsoll/internal/document"
	"plimsoll/internal/nargs"
	"plimsoll/internal/report"
)

// accuracyLong is the help of "plimsoll accuracy".
const accuracyLong = `Accuracy reads a CSV of measured deployments, simulates each, and prints the errors of what was measured by mode, engine,
concurrency, system and model, and the share of measurements inside the 80 % intervals (coverage).

The columns are those of AIConfigurator's silicon samples. Required are backend, model_path, system, isl, osl, tp_size and at
least one measurement: silicon_ttft_ms, silicon_tpot_ms (ttft_stat and tpot_stat say "mean", the default, or "median"),
tput_per_gpu (input and output tokens per second and device), ttft_est_ms (an estimate, reported apart) and
joules_per_output_token. A row may have any of them.

Settings are columns too: kv_cache_dtype, token_budget, memory_fraction, max_num_seqs, cuda_graph_max_bs, recv_interval,
batch_wait_iters, batch_wait_ratio; for disaggregated rows decode_token_budget, decode_memory_fraction and
prefill_max_num_seqs, in which case token_budget and memory_fraction are those of prefill; and any other setting by the
engine's own name (max_num_batched_tokens, mem_fraction_static). spec_method and spec_tokens say that tokens are drafted,
acceptance which share of them is kept. Columns without a meaning and settings that an engine does not have are listed.

Missing values are replaced by the engine's defaults, or by those of common benchmarks and published recipes, and the result
lists them. The spread of lengths (length_ratio_low), kv_cache_dtype and token_budget matter most: without them the intervals
are wider. Rows with a text in the column quality are known to be bad; clean rows are those without. Rows marked only "mtp",
which draft tokens, are reported apart.

--doctor checks the rows instead of predicting them. It finds suspicious rows by physics and by comparing related rows: cold
starts, cached prompts, undeclared speculative decoding and batch limits, several workers counted as one, duplicates, noise.`

// newAccuracyCmd makes "plimsoll accuracy".
func newAccuracyCmd(env *Env) *cobra.Command {
	var r app.AccuracyRequest
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
		Args:    exactFileArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.File = args[0]
			if doctor {
				return examine(cmd, env, r.File, asJSON)
			}
			res, err := accuracy(cmd, env, r)
			if err != nil {
				return asked(err)
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
	fs.StringVar(&r.Calibration, "calibration", "", "use a calibration `file` written by plimsoll calibrate instead of the shipped one")
	fs.BoolVar(&r.Uncalibrated, "untuned", false, "predict without calibration")
	perfData(fs, &r.PerfData)
	fs.IntVarP(&r.Workers, "jobs", "j", runtime.NumCPU(), "workers")
	fs.StringVar(&perRow, "per-row", "", "also write every row with its prediction to a CSV `file`")
	fs.BoolVar(&doctor, "doctor", false, "check the rows instead: list suspicious ones and why")
	fs.BoolVar(&regret, "regret", false, "show the throughput lost by choosing layouts by prediction, among rows that differ only in layout")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// accuracy predicts the rows of a file, with its progress.
func accuracy(cmd *cobra.Command, env *Env, r app.AccuracyRequest) (*app.AccuracyResponse, error) {
	world, line := env.world(), env.progress(false)
	defer line.done()
	world.Progress = line.show
	return world.Accuracy(cmd.Context(), r)
}

// examine prints the suspicious rows of a file of measurements.
func examine(cmd *cobra.Command, env *Env, file string, asJSON bool) error {
	res, err := env.world().Examine(cmd.Context(), file)
	if err != nil {
		return asked(err)
	}
	if asJSON {
		return env.JSON(document.NewExamine(res))
	}
	report.Examine(env.Stdout, res)
	return nil
}

// calibrateLong is the help of "plimsoll calibrate".
const calibrateLong = `Calibrate fits multipliers of operator and host times to measured deployments and writes them to a file, which other
commands read with --calibration. Rows of several files are fitted together; those without a TTFT count by their TPOT.

It starts from a calibration, by default the shipped one, and fits the difference of each cell of the rows (a model on a
system under an engine); 20 to 50 rows of a cell are enough. The strength of regularization is the one that predicts
held-out configurations best, so rows that do not help change nothing.

--from-scratch fits all levels again: all predictions, each engine, each engine on a device generation, within each of these
the number formats, kinds of attention and classes of models, and disaggregated deployments; but no cells. It also fits a
more strongly regularized set for cells without rows. The shipped calibration was made this way.

--extend fits the groups that the calibration lacks, such as those of an engine on a device generation without rows, on top of
it; predictions about anything else do not change. AMD's devices were added to the shipped calibration this way.

--folds cross-validates: each row is also predicted by a fit that holds out its configuration and, with --from-scratch, by
fits that hold out its cell, without and with half of the cell's rows. The errors of these predictions are written too:
every command takes its 80 % intervals from them. Without --from-scratch only the intervals of the rows' cells change.

With --perf-data and no FILE it fits the constants of the operator forms instead, by device generation, to tables of measured
kernels: for each shape the fastest kernel, by robust least squares on the logarithm of time. It prints the errors of the
shipped and the fitted constants, and writes the constants in the format of internal/cost/calibrated/coefficients.yaml. --selection
names a file that says which forms to take from the fit and gives the constants of the others, as
internal/cost/calibrated/selection.yaml does for the shipped constants.

With --power it fits what devices draw instead: watts while they wait and while they work, joules per byte and per operation, by
device generation, and a factor for each cell, to the rows with joules_per_output_token and tput_per_gpu. It prints the errors of
the fit, with configurations held out and with cells held out, and writes the constants in the format of
internal/power/coefficients.yaml.`

// newCalibrateCmd makes "plimsoll calibrate".
func newCalibrateCmd(env *Env) *cobra.Command {
	var r app.CalibrateRequest
	var kernels app.KernelsRequest
	var out string
	var watts bool
	cmd := &cobra.Command{
		Use:   "calibrate [FILE.csv ...]",
		Short: "Fit predictions to measured deployments, or operator forms to measured kernels",
		Long:  calibrateLong,
		Example: `  plimsoll calibrate measured.csv --out mine.yaml
  plimsoll calibrate measured.csv --folds 5
  plimsoll calibrate measured.csv --from-scratch --leave-out model engine
  plimsoll calibrate measured.csv --extend --folds 5 --sample 6 --out mine.yaml
  plimsoll calibrate --perf-data systems/data --out coefficients.yaml
  plimsoll calibrate --power measured.csv --out coefficients.yaml`,
		GroupID: groupTrust,
		Args:    calibrateArgs(&kernels, &watts),
		RunE: func(cmd *cobra.Command, args []string) error {
			if kernels.PerfData.Dir != "" {
				return calibrateKernels(cmd, env, kernels, out)
			}
			if watts {
				return calibratePower(cmd, env, app.PowerRequest{Files: args, Calibration: r.Calibration, Workers: r.Workers}, out)
			}
			r.File, r.More = args[0], args[1:]
			world := env.world()
			if env.IsTerminal(env.Stderr) {
				world.Progress = func(p app.Progress) { env.Note(p.Task) }
			}
			res, err := world.Calibrate(cmd.Context(), r)
			if err != nil {
				return asked(err)
			}
			report.Calibration(env.Stdout, res)
			if out == "" {
				return nil
			}
			return env.CreateAtomic(out, res.Overlay.Write)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&out, "out", "", "write the fit to a `file`")
	fs.StringVar(&r.Calibration, "calibration", "", "start from a calibration `file` instead of the shipped one")
	fs.BoolVar(&r.FromScratch, "from-scratch", false, "start from nothing: fit every level but cells")
	fs.IntVar(&r.Validation.Folds, "folds", 0, "number of folds for cross-validation")
	nargs.ListVar(fs, &r.Validation.LeaveOut, "leave-out", nargs.OneOrMore, nargs.OneOf(calibrate.Kinds()...),
		"also predict every row by fits that hold out its `KIND`: "+strings.Join(calibrate.Kinds(), ", "))
	fs.IntVar(&r.Iterations, "iterations", app.DefaultIterations, "iterations of the fit")
	fs.IntVar(&r.Sample, "sample", 0, "`rows` of each configuration to use, spread over its loads (default all)")
	fs.BoolVar(&r.Extend, "extend", false, "fit the groups that the calibration lacks (an engine on a device generation without rows) on top of it; all else stays")
	fs.BoolVar(&watts, "power", false, "fit what devices draw to the rows with joules_per_output_token")
	perfData(fs, &kernels.PerfData)
	fs.Lookup("perf-data").Usage = "fit operators to the measured kernel tables in a `directory`, in AIConfigurator's layout"
	nargs.ListVar(fs, &kernels.Systems, "system", nargs.OneOrMore, nargs.Text, "fit the kernels of these `systems` (default all in --perf-data); same as --system")
	fs.StringVar(&kernels.Selection, "selection", "", "use only those forms of the fit to kernels that a YAML `file` selects")
	fs.IntVarP(&r.Workers, "jobs", "j", runtime.NumCPU(), "workers")
	cmd.MarkFlagsMutuallyExclusive("calibration", "from-scratch")
	return cmd
}

// calibrateArgs accepts a file of rows, or none if operators are fitted to kernels.
func calibrateArgs(kernels *app.KernelsRequest, watts *bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch kernel := kernels.PerfData.Dir != ""; {
		case kernel && *watts:
			return usagef("%s: --power fits to FILE and excludes --perf-data", cmd.CommandPath())
		case kernel && len(args) > 0:
			return usagef("%s: --perf-data fits operators to kernels and needs no FILE, got %q", cmd.CommandPath(), args[0])
		case kernel:
			return noneGiven(cmd, "--perf-data fits operators to kernels", "calibration", "from-scratch", "folds", "leave-out", "iterations")
		case kernels.PerfData.Engine != "":
			return usagef("--perf-engine %s needs --perf-data", kernels.PerfData.Engine)
		case kernels.Selection != "":
			return usagef("--selection %s needs --perf-data", kernels.Selection)
		case len(kernels.Systems) > 0:
			return usagef("--system %s needs --perf-data", strings.Join(kernels.Systems, " "))
		}
		if *watts {
			const fits = "--power fits what devices draw"
			if err := noneGiven(cmd, fits, "from-scratch", "folds", "leave-out", "iterations", "sample", "extend"); err != nil {
				return err
			}
		}
		if len(args) > 1 {
			return nil
		}
		return exactFileArg(cmd, args)
	}
}

// noneGiven rejects flags that another fit does not read.
func noneGiven(cmd *cobra.Command, fit string, flags ...string) error {
	var given []string
	for _, f := range flags {
		if cmd.Flags().Changed(f) {
			given = append(given, "--"+f)
		}
	}
	if len(given) == 0 {
		return nil
	}
	return usagef("%s and excludes %s", fit, strings.Join(given, " and "))
}

// calibrateKernels fits operators to kernels.
func calibrateKernels(cmd *cobra.Command, env *Env, r app.KernelsRequest, out string) error {
	res, err := env.world().CalibrateKernels(cmd.Context(), r)
	if err != nil {
		return asked(err)
	}
	tableNotes(env.Note, res.Tables)
	for _, s := range res.Unknown {
		env.Note(s + " is not a device profile: its kernels are not fitted")
	}
	report.Kernels(env.Stdout, res)
	if out == "" {
		return nil
	}
	return env.CreateAtomic(out, res.Write)
}

// calibratePower fits what devices draw.
func calibratePower(cmd *cobra.Command, env *Env, r app.PowerRequest, out string) error {
	res, err := env.world().CalibratePower(cmd.Context(), r)
	if err != nil {
		return asked(err)
	}
	report.Power(env.Stdout, res)
	if out == "" {
		return nil
	}
	return env.CreateAtomic(out, res.Write)
}

// exactFileArg accepts one positional argument, a file.
func exactFileArg(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 1:
		return nil
	case 0:
		return withHint(usagef("%s: no FILE given", cmd.CommandPath()), "usage: %s", cmd.UseLine())
	}
	return usagef("%s: unexpected argument %q after FILE %q", cmd.CommandPath(), args[1], args[0])
}
