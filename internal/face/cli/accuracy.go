package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	opsaccuracy "github.com/plimsoll-project/plimsoll/internal/ops/accuracy"
)

// accuracyFlags are those of "plimsoll accuracy".
type accuracyFlags struct {
	opsaccuracy.Request

	about                  *calibrateFlags // what results do not say
	asJSON, doctor, regret bool
	perRow                 string
}

// newAccuracyCmd makes "plimsoll accuracy".
func newAccuracyCmd(env *Env) *cobra.Command {
	f := &accuracyFlags{about: newCalibrateFlags()}
	cmd := &cobra.Command{
		Use:     "accuracy FILE",
		Short:   "Compare predictions with measured deployments",
		GroupID: groupTrust,
		Args:    arguments(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.File = args[0]
			if f.doctor {
				return examine(cmd, env, f.File, f.asJSON)
			}
			return f.run(cmd, env)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.Calibration, "calibration", "", "calibration `file` (plimsoll calibrate) instead of the shipped one")
	fs.BoolVar(&f.Uncalibrated, "untuned", false, "predict without calibration")
	perfData(fs, &f.PerfData)
	fs.IntVarP(&f.Workers, "jobs", "j", runtime.NumCPU(), "parallel workers")
	outputVar(fs, &f.perRow, aFile, "per-row", "also write every row with its prediction to a CSV `file`")
	fs.BoolVar(&f.doctor, "doctor", false, "check the rows instead: list suspicious ones and why")
	fs.BoolVar(&f.regret, "regret", false, "print the throughput lost by choosing layouts by prediction, among rows that differ only in layout")
	fs.BoolVar(&f.asJSON, "json", false, "print JSON")
	f.about.defineResults(fs)
	return cmd
}

// complete takes what results do not say, or refuses it beside a file of rows.
func (f *accuracyFlags) complete(cmd *cobra.Command, env *Env) error {
	if !isResult(env, f.File) {
		if described := f.about.described(func(string) bool { return true }); len(described) > 0 {
			return usagef("--%s describes the deployment of results, and %s is a file of rows", described[0], f.File)
		}
		return nil
	}
	if err := f.about.deployed(cmd, env); err != nil {
		return err
	}
	f.Results = f.about.Results
	f.Results.Folders = []string{f.File}
	return nil
}

// run predicts and prints.
func (f *accuracyFlags) run(cmd *cobra.Command, env *Env) error {
	if err := f.complete(cmd, env); err != nil {
		return err
	}
	f.Energy = f.asJSON || f.perRow != ""
	res, err := watched(cmd.Context(), env, false, opsaccuracy.Run, f.Request)
	if err != nil {
		return err
	}
	tableNotes(env.Note, res.Tables)
	for _, u := range res.Results.Unused {
		env.Note(u.File + " is not used: " + oneLine(u.Err))
	}
	switch {
	case f.asJSON:
		err = env.JSON(document.NewAccuracy(res, f.regret))
	case f.regret:
		env.print(func(w io.Writer) { report.Regret(w, res) })
	default:
		env.print(func(w io.Writer) { report.Accuracy(w, res) })
	}
	if f.perRow != "" {
		err = errors.Join(err, env.create("per-row", f.perRow, func(w io.Writer) error { return report.AccuracyCSV(w, res) }))
	}
	return err
}

// isResult reports whether a file is the result of a load generator, or a folder of them, and no file of rows.
func isResult(env *Env, name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".jsonl":
		return true
	}
	info, err := os.Stat(env.path(name))
	return err == nil && info.IsDir()
}

// examine prints the suspicious rows of a file of measurements.
func examine(cmd *cobra.Command, env *Env, file string, asJSON bool) error {
	res, err := opsaccuracy.Examine(cmd.Context(), env.world(), file)
	if err != nil {
		return asked(err)
	}
	return answer(env, asJSON, res, document.NewExamine, report.Examine)
}
