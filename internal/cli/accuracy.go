package cli

import (
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

// newAccuracyCmd makes "plimsoll accuracy".
func newAccuracyCmd(env *Env) *cobra.Command {
	var r app.AccuracyRequest
	var asJSON, doctor, regret bool
	var perRow string
	cmd := &cobra.Command{
		Use:   "accuracy FILE.csv",
		Short: "How far predictions lie from measured deployments",
		Long: `Accuracy reads measured deployments, simulates each, and sums up the errors of TTFT and TPOT by engine, concurrency,
system, model and mode, and how many measurements lie in the 80 % intervals. Columns are those of AIConfigurator's silicon
samples: backend, model_path, system, isl, osl, tp_size, silicon_ttft_ms and silicon_tpot_ms at least; concurrency,
num_prompts, token_budget, memory_fraction and others where known. What is not told takes the engine's defaults, or those of
benchmarks and published recipes, and the answer says so; lengths (length_ratio_low), kv_cache_dtype and token_budget matter
most, and widen the intervals. A column "quality" marks rows that are not what they say; they are counted apart.

With --doctor it looks for such rows instead, by physics and by the rows beside them: cold starts, cached prompts, hidden
speculation and limits, several workers counted as one, duplicates, noise.`,
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
			world, line := env.world(), env.progress(false)
			world.Progress = line.show
			res, err := world.Accuracy(cmd.Context(), r)
			line.done()
			if err != nil {
				return asked(err)
			}
			tableNotes(env.Note, res.Tables)
			if perRow != "" {
				if err := env.CreateAtomic(perRow, func(w io.Writer) error { return report.AccuracyCSV(w, res) }); err != nil {
					return err
				}
			}
			if asJSON {
				return env.JSON(document.NewAccuracy(res, regret))
			}
			if regret {
				report.Regret(env.Stdout, res)
				return nil
			}
			report.Accuracy(env.Stdout, res)
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&r.Calibration, "calibration", "", "a `file` written by plimsoll calibrate, instead of the shipped fit")
	fs.BoolVar(&r.Uncalibrated, "untuned", false, "without any calibration of engines")
	perfData(fs, &r.PerfData)
	fs.IntVarP(&r.Workers, "jobs", "j", runtime.NumCPU(), "workers")
	fs.StringVar(&perRow, "per-row", "", "also write every row with its prediction to a CSV `file`")
	fs.BoolVar(&doctor, "doctor", false, "predict nothing; say which rows cannot be what they claim, and why")
	fs.BoolVar(&regret, "regret", false, "show what choosing layouts by prediction would have cost, where rows differ only in layout")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// examine prints the doubts about a file of measurements.
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
const calibrateLong = `Calibrate fits multipliers of kernel prices and host times to measured rows and writes them to a file that commands which
predict take with --calibration. It keeps a calibration, the shipped one unless told otherwise, and fits to each cell of
the rows (a model on a system under an engine) what it does differently; 20 to 50 rows are enough to tell. Parameters
are shrunk, as strongly as predicts best the configurations left out in turn: rows that teach nothing change nothing.

With --from-scratch every level is fitted anew: all predictions, each engine, each engine on a generation of devices,
in each of these number formats, kinds of attention and classes of models, and disaggregated deployments; nothing to a
cell. A second, more timid set is for cells no row was of. The shipped calibration was made so.

--folds cross-validates: each row is also predicted by a fit that has not seen its configuration and, from scratch, by one
that has not seen its cell, and by one that has then seen half of the cell as its own rows. The errors of these
predictions, by kind, are written too: every command that predicts takes its error bars from them. On top of a calibration
only the error bars of the rows' own cells change.

With --perf-data and no FILE it fits the constants of the operator forms instead, by generation of devices, to tables of
measured kernels: each shape at its fastest kernel, robust least squares on the logarithm of time. It prints the errors
of the shipped and the fitted constants, and writes them as internal/cost/calibrated/coefficients.yaml holds them. --selection
names a file that says which forms are taken from the fit and what the others are, as internal/cost/calibrated/selection.yaml
does for the shipped constants.`

// newCalibrateCmd makes "plimsoll calibrate".
func newCalibrateCmd(env *Env) *cobra.Command {
	var r app.CalibrateRequest
	var kernels app.KernelsRequest
	var out string
	cmd := &cobra.Command{
		Use:   "calibrate [FILE.csv]",
		Short: "Fit predictions to measured deployments, or operators to kernels",
		Long:  calibrateLong,
		Example: `  plimsoll calibrate measured.csv --out mine.yaml
  plimsoll calibrate measured.csv --folds 5
  plimsoll calibrate measured.csv --from-scratch --leave-out model engine
  plimsoll calibrate --perf-data systems/data --out coefficients.yaml`,
		GroupID: groupTrust,
		Args:    calibrateArgs(&kernels),
		RunE: func(cmd *cobra.Command, args []string) error {
			if kernels.PerfData.Dir != "" {
				return calibrateKernels(cmd, env, kernels, out)
			}
			r.File = args[0]
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
	fs.StringVar(&r.Calibration, "calibration", "", "a `file` of an earlier fit to keep, instead of the shipped one")
	fs.BoolVar(&r.FromScratch, "from-scratch", false, "keep nothing: fit every level but cells")
	fs.IntVar(&r.Validation.Folds, "folds", 0, "cross-validate with so many folds")
	nargs.ListVar(fs, &r.Validation.LeaveOut, "leave-out", nargs.OneOrMore, nargs.OneOf(calibrate.Kinds()...),
		"also predict every row by fits without its `KIND`: "+strings.Join(calibrate.Kinds(), ", "))
	fs.IntVar(&r.Iterations, "iterations", app.DefaultIterations, "steps of the fit")
	perfData(fs, &kernels.PerfData)
	fs.Lookup("perf-data").Usage = "fit operators to the measured kernel tables in a `directory`, in AIConfigurator's layout"
	nargs.ListVar(fs, &kernels.Systems, "system", nargs.OneOrMore, nargs.Text, "the `systems` whose kernels are fitted (default all in --perf-data); --system is the same")
	fs.StringVar(&kernels.Selection, "selection", "", "take from the fit to kernels only what a YAML `file` chooses")
	fs.IntVarP(&r.Workers, "jobs", "j", runtime.NumCPU(), "workers")
	cmd.MarkFlagsMutuallyExclusive("calibration", "from-scratch")
	return cmd
}

// calibrateArgs accepts a file of rows, or none where operators are fitted to kernels.
func calibrateArgs(kernels *app.KernelsRequest) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch kernel := kernels.PerfData.Dir != ""; {
		case kernel && len(args) > 0:
			return usagef("%s: --perf-data fits operators to kernels and takes no FILE, got %q", cmd.CommandPath(), args[0])
		case kernel:
			return noneGiven(cmd, "calibration", "from-scratch", "folds", "leave-out", "iterations")
		case kernels.PerfData.Engine != "":
			return usagef("--perf-engine %s needs --perf-data", kernels.PerfData.Engine)
		case kernels.Selection != "":
			return usagef("--selection %s needs --perf-data", kernels.Selection)
		case len(kernels.Systems) > 0:
			return usagef("--system %s needs --perf-data", strings.Join(kernels.Systems, " "))
		}
		return exactFileArg(cmd, args)
	}
}

// noneGiven refuses flags that a fit of operators to kernels would leave unread.
func noneGiven(cmd *cobra.Command, flags ...string) error {
	var given []string
	for _, f := range flags {
		if cmd.Flags().Changed(f) {
			given = append(given, "--"+f)
		}
	}
	if len(given) == 0 {
		return nil
	}
	return usagef("--perf-data fits operators to kernels and excludes %s", strings.Join(given, " and "))
}

// calibrateKernels fits operators to kernels.
func calibrateKernels(cmd *cobra.Command, env *Env, r app.KernelsRequest, out string) error {
	res, err := env.world().CalibrateKernels(cmd.Context(), r)
	if err != nil {
		return asked(err)
	}
	tableNotes(env.Note, res.Tables)
	for _, s := range res.Unknown {
		env.Note(s + " is no device profile: its kernels are not fitted")
	}
	report.Kernels(env.Stdout, res)
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
