package cli

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	opscalibrate "github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// calibrateLong is the help of "plimsoll calibrate".
const calibrateLong = `Calibrate fits multipliers of operator and host times to measured deployments and writes them to a file, which other
commands read with --calibration. Rows of several files are fitted together; rows without a TTFT contribute their TPOT.

It starts from a calibration, by default the shipped one, and fits the difference of each cell of the rows (a model on a
system under an engine); 20 to 50 rows per cell are enough. It selects the regularization that predicts held-out configurations
best, so rows that do not improve predictions change nothing.

--from-scratch fits all levels except cells: each vendor, each engine on its devices, each device generation, each engine on it,
within that the number formats, kinds of attention and classes of models, and disaggregated deployments. It also fits a more
strongly regularized set of the wide levels for models without rows. The shipped calibration was made this way.

--extend adds the groups that the calibration lacks, such as an engine on a device generation without rows; other predictions do
not change.

--from-results reads benchmark results instead of rows, or in addition: all files in a folder and below in the formats of plimsoll
check. Load, lengths and times are those of the results. The deployment comes from the flags of simulate, from a plan (--against),
from --deployment, or from the files that started the engine: scripts, Compose files, manifests and settings as plimsoll lint reads
them, in the folder of a result or the nearest above. Unusable results are listed with the reason. --folds then defaults to the
largest number the results allow, up to 5.

--folds cross-validates: each row is also predicted by a fit that holds out its configuration and, with --from-scratch, by
fits that hold out its cell, without and with half of the cell's rows. The errors are written too: all commands take their 80 %
intervals from them. Without --from-scratch only the intervals of the rows' cells change.

With --perf-data and no FILE it fits the constants of the operator forms instead, by device generation, to tables of measured
kernels: the fastest kernel of each shape, by robust least squares on the logarithm of time. It prints the errors of the shipped
and the fitted constants, and writes the constants in the format of internal/cost/calibrated/coefficients.yaml. --selection names a
file that lists the forms to take from the fit and the constants of the others, as internal/cost/calibrated/selection.yaml does for
the shipped constants.

--surfaces fits the deviation of kernels from the shipped forms instead: by system, operator, number format and engine, a smoothed
ratio on the fewest points that give the others within 3 %. It prints the errors on every tenth shape, held out of the fit, and
writes the surfaces of all shapes in the format of internal/cost/table/surfaces.bin.

With --power it fits device power instead: watts when idle and when busy, joules per byte and per operation, by device generation,
and a factor for each kind of kernel, to the rows with joules_per_output_token and tput_per_gpu. It prints the errors of the fit,
with configurations held out and with cells held out, and writes the constants in the format of
internal/cost/power/coefficients.yaml.`

// calibrateFlags are the flags of "plimsoll calibrate".
type calibrateFlags struct {
	opscalibrate.Request

	kernels       opscalibrate.KernelsRequest
	results       simulateFlags
	model         string
	against       string
	out, writeRow string
	surfaces      string
	power         bool
	json          bool
}

// newCalibrateCmd makes "plimsoll calibrate".
func newCalibrateCmd(env *Env) *cobra.Command {
	f := &calibrateFlags{}
	cmd := &cobra.Command{
		Use:   "calibrate [FILE.csv ...]",
		Short: "Fit predictions to measured deployments, or operator forms to measured kernels",
		Long:  calibrateLong,
		Example: `  plimsoll calibrate measured.csv --out mine.yaml
  plimsoll calibrate measured.csv --folds 5
  plimsoll calibrate --from-results results/ --system h200_sxm --engine vllm --tp-size 4 --out mine.yaml
  plimsoll calibrate --from-results results/ --against plan.json --out mine.yaml --write-rows rows.csv
  plimsoll calibrate measured.csv --from-scratch --leave-out model engine
  plimsoll calibrate measured.csv --extend --folds 5 --sample 6 --out mine.yaml
  plimsoll calibrate --perf-data systems/data --out coefficients.yaml
  plimsoll calibrate --perf-data systems/data --surfaces surfaces.bin
  plimsoll calibrate --power measured.csv --out coefficients.yaml`,
		GroupID: groupTrust,
		Args:    f.args,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.define(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("calibration", "from-scratch")
	return cmd
}

// define adds the flags: those of a fit, and those of simulate, which supply fields missing in results.
func (f *calibrateFlags) define(fs *pflag.FlagSet) {
	fs.StringVar(&f.out, "out", "", "write the fit to a `file`")
	nargs.ListVar(fs, &f.Results.Folders, "from-results", nargs.OneOrMore, nargs.Text, "fit the benchmark results in these `folders`; flags below supply missing fields")
	fs.StringVar(&f.writeRow, "write-rows", "", "also write the results of --from-results as rows to a CSV `file`")
	fs.StringVar(&f.Calibration, "calibration", "", "start from a calibration `file` instead of the shipped one")
	fs.BoolVar(&f.FromScratch, "from-scratch", false, "fit all levels except cells, without a base")
	fs.IntVar(&f.Validation.Folds, "folds", 0, "number of folds for cross-validation")
	nargs.ListVar(fs, &f.Validation.LeaveOut, "leave-out", nargs.OneOrMore, nargs.OneOf(calibrate.Kinds()...),
		"also predict each row by fits that hold out its `KIND`: "+strings.Join(calibrate.Kinds(), ", "))
	fs.IntVar(&f.Iterations, "iterations", opscalibrate.DefaultIterations, "iterations of the fit")
	fs.IntVar(&f.Sample, "sample", 0, "`rows` to use per configuration, spread over its loads (default all)")
	fs.BoolVar(&f.Extend, "extend", false, "add the groups that the calibration lacks, such as an engine on a device generation without rows")
	perfData(fs, &f.kernels.PerfData)
	fs.Lookup("perf-data").Usage = "fit operators to a `directory` of measured kernel tables, in AIConfigurator's layout"
	nargs.ListVar(fs, &f.kernels.Systems, "device", nargs.OneOrMore, nargs.Text,
		"fit the kernels of these `systems` (default all in --perf-data), or the system of --from-results; same as --system")
	fs.StringVar(&f.kernels.Selection, "selection", "", "use only the forms of the fit that a YAML `file` selects")
	fs.StringVar(&f.surfaces, "surfaces", "", "fit the deviation of kernels from the shipped operator forms and write it to a `file` like surfaces.bin")
	fs.BoolVar(&f.power, "power", false, "fit device power to the rows with joules_per_output_token")
	fs.IntVarP(&f.Workers, "jobs", "j", runtime.NumCPU(), "parallel workers")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	section(fs, deploymentSection, func(fs *pflag.FlagSet) {
		fs.StringVar(&f.model, "model", "", "model, instead of that in the results")
		fs.StringVar(&f.against, "against", "", "the results are of the best deployment of a plan `file`")
	})
	f.results.set = fs
	f.results.defineUnsaid(fs)
}

// args accepts files of rows, or none if results or operators are fitted.
func (f *calibrateFlags) args(cmd *cobra.Command, args []string) error {
	kernels := &f.kernels
	if kernels.PerfData.Dir != "" {
		return f.kernelArgs(cmd, args)
	}
	switch {
	case kernels.PerfData.Engine != "":
		return usagef("--perf-engine %s needs --perf-data", kernels.PerfData.Engine)
	case kernels.Selection != "":
		return usagef("--selection %s needs --perf-data", kernels.Selection)
	case f.surfaces != "":
		return usagef("--surfaces %s needs --perf-data", f.surfaces)
	case f.power:
		if err := noneGiven(cmd, "--power fits device power and", "from-scratch", "folds", "leave-out", "iterations", "sample", "extend", "from-results", "json"); err != nil {
			return err
		}
	case f.Results.Folders != nil:
		return noneGiven(cmd, "--from-results fits cells and", "from-scratch", "extend")
	case len(kernels.Systems) > 0:
		return usagef("--system %s needs --perf-data or --from-results", strings.Join(kernels.Systems, " "))
	}
	if described := f.described(func(string) bool { return true }); len(described) > 0 || f.writeRow != "" {
		return usagef("--%s needs --from-results", append(described, "write-rows")[0])
	}
	return arguments(1, "FILE")(cmd, args[:min(1, len(args))])
}

// kernelArgs accepts no file where operators are fitted.
func (f *calibrateFlags) kernelArgs(cmd *cobra.Command, args []string) error {
	if f.power {
		return usagef("%s: --power fits to FILE and excludes --perf-data", cmd.CommandPath())
	}
	if len(args) > 0 {
		return usagef("%s: --perf-data fits operators to kernels and needs no FILE, got %q", cmd.CommandPath(), args[0])
	}
	if f.surfaces != "" && (f.out != "" || f.kernels.Selection != "") {
		return usagef("--surfaces are relative to the shipped constants: it excludes --out and --selection")
	}
	return noneGiven(cmd, "--perf-data fits operators to kernels and", "calibration", "from-scratch", "folds", "leave-out", "iterations", "from-results", "json")
}

// described lists the set flags that describe the deployment of results, among those that count.
func (f *calibrateFlags) described(counts func(name string) bool) []string {
	var out []string
	f.results.set.Visit(func(o *pflag.Flag) {
		if len(o.Annotations[sectionKey]) == 1 && counts(o.Name) {
			out = append(out, o.Name)
		}
	})
	return out
}

// run fits and prints.
func (f *calibrateFlags) run(cmd *cobra.Command, env *Env, args []string) error {
	if f.power {
		return calibratePower(cmd, env, opscalibrate.PowerRequest{Files: args, Calibration: f.Calibration, Workers: f.Workers}, f.out)
	}
	if f.surfaces != "" {
		return fitSurfaces(cmd, env, f.kernels, f.surfaces)
	}
	if f.kernels.PerfData.Dir != "" {
		return calibrateKernels(cmd, env, f.kernels, f.out)
	}
	f.Files = args
	if f.Results.Folders != nil {
		if err := f.deployed(cmd, env); err != nil {
			return err
		}
	}
	world := env.world()
	if env.IsTerminal(env.Stderr) {
		world.Progress = func(p session.Progress) { env.Note(p.Task) }
	}
	res, err := opscalibrate.Run(cmd.Context(), world, f.Request)
	if err != nil {
		return asked(err)
	}
	for _, u := range res.Results.Unused {
		env.Note(u.File + " is not used: " + oneLine(u.Err))
	}
	if f.json {
		err = env.JSON(document.NewCalibrate(res, oneLine))
	} else {
		report.Calibration(env.Stdout, res)
	}
	err = errors.Join(err, saveFit(env, f.out, res.Overlay.Write))
	if f.writeRow != "" {
		err = errors.Join(err, f.rows(env, &res.Results))
	}
	return err
}

// oneLine renders an error in one line, with the names of flags.
func oneLine(err error) string { return strings.ReplaceAll(field.Say(err, flagOf), "\n", "; ") }

// deployed is the deployment that the flags describe; results supply the rest.
func (f *calibrateFlags) deployed(cmd *cobra.Command, env *Env) error {
	s := &f.results
	if len(f.kernels.Systems) > 1 {
		return usagef("--from-results needs one --system, got %s", strings.Join(f.kernels.Systems, " "))
	}
	named := f.described(func(name string) bool { return name == "model" || name == "device" })
	if len(f.kernels.Systems) > 0 {
		named = append(named, "device")
		s.Deployment.System = f.kernels.Systems[0]
	}
	s.Calibration = "" // that of the fit
	switch r := &f.Results; {
	case f.against != "":
		if len(named) > 0 || s.file != "" {
			return usagef("--against excludes --%s", append(named, "deployment")[0])
		}
		var err error
		r.Expected, err = planned(env, f.against)
		r.Whole = true
		return err
	case s.file != "":
		if len(named) > 0 {
			return usagef("--deployment excludes --%s", named[0])
		}
		if err := s.complete(cmd, env, nil); err != nil {
			return err
		}
		r.Whole = true
	default:
		if err := s.complete(cmd, env, []string{f.model}); err != nil {
			return err
		}
		r.Whole = len(f.described(func(name string) bool {
			o := s.set.Lookup(name)
			completes := []string{"model", "device-file", "engine", "engine-version", "as-family"}
			return o.Annotations[sectionKey][0] == deploymentSection && !slices.Contains(completes, name)
		})) > 0
	}
	f.Results.Expected = s.Request
	return nil
}

// rows writes the results as rows, and notes those that the columns cannot describe.
func (f *calibrateFlags) rows(env *Env, found *opscalibrate.FoundResults) error {
	rows, without := found.Rows()
	for _, u := range without {
		env.Note(u.File + " is not written as a row: " + oneLine(u.Err))
	}
	return env.CreateAtomic(f.writeRow, func(w io.Writer) error { return measured.WriteRows(w, rows) })
}

// noneGiven rejects flags that a kind of fit does not read.
func noneGiven(cmd *cobra.Command, kind string, flags ...string) error {
	var given []string
	for _, f := range flags {
		if cmd.Flags().Changed(f) {
			given = append(given, "--"+f)
		}
	}
	if len(given) == 0 {
		return nil
	}
	return usagef("%s excludes %s", kind, strings.Join(given, " and "))
}

// calibrateKernels fits operators to kernels.
func calibrateKernels(cmd *cobra.Command, env *Env, r opscalibrate.KernelsRequest, out string) error {
	res, err := opscalibrate.Kernels(cmd.Context(), env.world(), r)
	if err != nil {
		return asked(err)
	}
	kernelNotes(env, res.Tables, res.Unknown)
	report.Kernels(env.Stdout, res)
	return saveFit(env, out, res.Write)
}

// kernelNotes prints the notes on kernel tables and on systems without a profile.
func kernelNotes(env *Env, tables *prices.Use, unknown []string) {
	tableNotes(env.Note, tables)
	for _, s := range unknown {
		env.Note(s + " is not a device profile: its kernels are not fitted")
	}
}

// saveFit writes a fit to a file, if one is named.
func saveFit(env *Env, file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	return env.CreateAtomic(file, write)
}

// fitSurfaces fits surfaces to kernels.
func fitSurfaces(cmd *cobra.Command, env *Env, r opscalibrate.KernelsRequest, out string) error {
	res, err := opscalibrate.Surfaces(cmd.Context(), env.world(), r)
	if err != nil {
		return asked(err)
	}
	kernelNotes(env, res.Tables, res.Unknown)
	report.Surfaces(env.Stdout, res)
	return saveFit(env, out, res.Write)
}

// calibratePower fits device power.
func calibratePower(cmd *cobra.Command, env *Env, r opscalibrate.PowerRequest, out string) error {
	res, err := opscalibrate.Power(cmd.Context(), env.world(), r)
	if err != nil {
		return asked(err)
	}
	report.Power(env.Stdout, res)
	return saveFit(env, out, res.Write)
}
