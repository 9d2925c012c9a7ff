package cli

import (
	"context"
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
		Use:     "calibrate [FILE.csv ...]",
		Short:   "Fit predictions to measured deployments, or operator forms to measured kernels",
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
	outputVar(fs, &f.out, aFile, "out", "write the fit to a `file`")
	nargs.ListVar(fs, &f.Results.Folders, "from-results", nargs.OneOrMore, nargs.Text, "fit the benchmark results in these `folders`; flags below supply missing fields")
	outputVar(fs, &f.writeRow, aFile, "write-rows", "also write the results of --from-results as rows to a CSV `file`")
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
	outputVar(fs, &f.surfaces, aFile, "surfaces", "fit the deviation of kernels from the shipped operator forms and write it to a `file` like surfaces.bin")
	fs.BoolVar(&f.power, "power", false, "fit device power to the rows with joules_per_output_token")
	fs.IntVarP(&f.Workers, "jobs", "j", runtime.NumCPU(), "parallel workers")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	f.defineDeployed(fs)
}

// defineResults adds the flags that describe the deployment of results.
func (f *calibrateFlags) defineResults(fs *pflag.FlagSet) {
	nargs.ListVar(fs, &f.kernels.Systems, "device", nargs.OneOrMore, nargs.Text, "the `system` of results; same as --system")
	f.defineDeployed(fs)
}

func (f *calibrateFlags) defineDeployed(fs *pflag.FlagSet) {
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
	return given(f.results.set, func(o *pflag.Flag) bool { return len(o.Annotations[sectionKey]) == 1 && counts(o.Name) })
}

// run fits and prints.
func (f *calibrateFlags) run(cmd *cobra.Command, env *Env, args []string) error {
	switch {
	case f.power:
		return fit(cmd, env, opscalibrate.Power, opscalibrate.PowerRequest{Files: args, Calibration: f.Calibration, Workers: f.Workers}, output{"out", f.out}, report.Power)
	case f.surfaces != "":
		return fit(cmd, env, opscalibrate.Surfaces, f.kernels, output{"surfaces", f.surfaces}, func(w io.Writer, r *opscalibrate.SurfacesResponse) {
			kernelNotes(env, r.Tables, r.Unknown)
			report.Surfaces(w, r)
		})
	case f.kernels.PerfData.Dir != "":
		return fit(cmd, env, opscalibrate.Kernels, f.kernels, output{"out", f.out}, func(w io.Writer, r *opscalibrate.KernelsResponse) {
			kernelNotes(env, r.Tables, r.Unknown)
			report.Kernels(w, r)
		})
	}
	f.Files = args
	if f.Results.Folders != nil {
		if err := f.deployed(cmd, env); err != nil {
			return err
		}
	}
	res, err := watched(cmd.Context(), env, false, opscalibrate.Run, f.Request)
	if err != nil {
		return err
	}
	for _, u := range res.Results.Unused {
		env.Note(u.File + " is not used: " + oneLine(u.Err))
	}
	err = answer(env, f.json, res, func(r *opscalibrate.Response) *document.Calibrate { return document.NewCalibrate(r, oneLine) }, report.Calibration)
	err = errors.Join(err, saveFit(env, output{"out", f.out}, res.Overlay.Write))
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
	return env.create("write-rows", f.writeRow, func(w io.Writer) error { return measured.WriteRows(w, rows) })
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

// fit runs a fit, prints its errors and saves it.
func fit[Q any, R interface{ Write(w io.Writer) error }](cmd *cobra.Command, env *Env, run func(context.Context, *session.Session, Q) (R, error), q Q, to output, show func(io.Writer, R)) error {
	r, err := run(cmd.Context(), env.world(), q)
	if err != nil {
		return asked(err)
	}
	show(env.Stdout, r)
	return saveFit(env, to, r.Write)
}

// kernelNotes prints the notes on kernel tables and on systems without a profile.
func kernelNotes(env *Env, tables *prices.Use, unknown []string) {
	tableNotes(env.Note, tables)
	for _, s := range unknown {
		env.Note(s + " is not a device profile: its kernels are not fitted")
	}
}

// saveFit writes a fit to a file, if one is named.
func saveFit(env *Env, to output, write func(io.Writer) error) error {
	if to.name == "" {
		return nil
	}
	return env.create(to.flag, to.name, write)
}
