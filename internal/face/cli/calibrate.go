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
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	opscalibrate "github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// calibrateFlags are the flags of "plimsoll calibrate".
type calibrateFlags struct {
	opscalibrate.Request

	systems       []string
	results       simulateFlags
	set           *pflag.FlagSet
	model         string
	against       string
	out, writeRow string
	json          bool
}

// newCalibrateFlags are flags that nothing was typed for.
func newCalibrateFlags() *calibrateFlags {
	return &calibrateFlags{results: simulateFlags{Form: simulate.NewOpenForm()}}
}

// newCalibrateCmd makes "plimsoll calibrate".
func newCalibrateCmd(env *Env) *cobra.Command {
	f := newCalibrateFlags()
	cmd := &cobra.Command{
		Use:     "calibrate [FILE.csv ...]",
		Short:   "Fit predictions to measured deployments",
		GroupID: groupTrust,
		Args:    f.args,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.define(cmd.Flags())
	return cmd
}

// define adds the flags: those of a fit, and those of simulate, which supply fields missing in results.
func (f *calibrateFlags) define(fs *pflag.FlagSet) {
	outputVar(fs, &f.out, aFile, "out", "write the fit to a `file`")
	nargs.ListVar(fs, &f.Results.Folders, "from-results", nargs.OneOrMore, nargs.Text, "fit the benchmark results in these `folders`; flags below supply missing fields")
	outputVar(fs, &f.writeRow, aFile, "write-rows", "also write the results of --from-results as rows to a CSV `file`")
	fs.StringVar(&f.Calibration, "calibration", "", "start from a calibration `file` instead of the shipped one")
	fs.IntVar(&f.Folds, "folds", 0, "number of folds for cross-validation")
	fs.IntVar(&f.Iterations, "iterations", opscalibrate.DefaultIterations, "iterations of the fit")
	fs.IntVarP(&f.Workers, "jobs", "j", runtime.NumCPU(), "parallel workers")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	f.defineResults(fs)
}

// defineResults adds the flags that describe the deployment of results.
func (f *calibrateFlags) defineResults(fs *pflag.FlagSet) {
	nargs.ListVar(fs, &f.systems, "device", nargs.OneOrMore, nargs.Text, "the `system` of results; same as --system")
	section(fs, simulate.DeploymentSection, func(fs *pflag.FlagSet) {
		fs.StringVar(&f.model, "model", "", "model, instead of that in the results")
		fs.StringVar(&f.against, "against", "", "the results are of the best deployment of a plan `file`")
	})
	f.set = fs
	f.results.defineOpen(fs)
}

// args accepts files of rows, or none if results are fitted.
func (f *calibrateFlags) args(cmd *cobra.Command, args []string) error {
	if f.Results.Folders != nil {
		return nil
	}
	if len(f.systems) > 0 {
		return usagef("--system %s needs --from-results", strings.Join(f.systems, " "))
	}
	if described := f.described(func(string) bool { return true }); len(described) > 0 || f.writeRow != "" {
		return usagef("--%s needs --from-results", append(described, "write-rows")[0])
	}
	return arguments(1, "FILE")(cmd, args[:min(1, len(args))])
}

// described lists the set flags that describe the deployment of results, among those that count.
func (f *calibrateFlags) described(counts func(name string) bool) []string {
	return given(f.set, func(o *pflag.Flag) bool { return len(o.Annotations[sectionKey]) == 1 && counts(o.Name) })
}

// run fits and prints.
func (f *calibrateFlags) run(cmd *cobra.Command, env *Env, args []string) error {
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
	if len(f.systems) > 1 {
		return usagef("--from-results needs one --system, got %s", strings.Join(f.systems, " "))
	}
	named := f.described(func(name string) bool { return name == "model" || name == "device" })
	if len(f.systems) > 0 {
		named = append(named, "device")
		s.On(f.systems[0])
	}
	args := []string{f.model}
	switch r := &f.Results; {
	case f.against != "":
		if len(named) > 0 || s.File() != "" {
			return usagef("--against excludes --%s", append(named, "deployment")[0])
		}
		var err error
		r.Expected, err = planned(env, f.against)
		r.Whole = true
		return err
	case s.File() != "":
		if len(named) > 0 {
			return usagef("--deployment excludes --%s", named[0])
		}
		r.Whole = true
		args = nil
	default:
		r.Whole = len(f.described(func(name string) bool {
			o := f.set.Lookup(name)
			completes := []string{"model", "device-file", "engine", "engine-version", "as-family"}
			return o.Annotations[sectionKey][0] == simulate.DeploymentSection && !slices.Contains(completes, name)
		})) > 0
	}
	var err error
	f.Results.Expected, err = s.typed(cmd, env, args)
	return err
}

// rows writes the results as rows, and notes those that the columns cannot describe.
func (f *calibrateFlags) rows(env *Env, found *opscalibrate.FoundResults) error {
	rows, without := found.Rows()
	for _, u := range without {
		env.Note(u.File + " is not written as a row: " + oneLine(u.Err))
	}
	return env.create("write-rows", f.writeRow, func(w io.Writer) error { return measured.WriteRows(w, rows) })
}

// saveFit writes a fit to a file, if --out names one.
func saveFit(env *Env, name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	return env.create("out", name, write)
}
