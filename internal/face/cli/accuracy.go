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

	asJSON, doctor, regret, outside, page bool
	perRow, other                         string
}

// newAccuracyCmd makes "plimsoll accuracy".
func newAccuracyCmd(env *Env) *cobra.Command {
	f := &accuracyFlags{}
	cmd := &cobra.Command{
		Use:     "accuracy FILE.csv",
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
	fs.StringVar(&f.perRow, "per-row", "", "also write every row with its prediction to a CSV `file`")
	fs.BoolVar(&f.doctor, "doctor", false, "check the rows instead: list suspicious ones and why")
	fs.BoolVar(&f.regret, "regret", false, "print the throughput lost by choosing layouts by prediction, among rows that differ only in layout")
	fs.BoolVar(&f.outside, "outside", false, "print how far rows of sources outside the calibration err beyond its intervals, leaving out one source at a time")
	fs.BoolVar(&f.page, "page", false, "print tables in Markdown for a page: by device, engine and model, with and without the fit")
	fs.StringVar(&f.other, "beside", "", "on the page, another program's predictions as `NAME=FILE`, a CSV file with id, ttft_ms and tpot_ms")
	fs.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// run predicts and prints.
func (f *accuracyFlags) run(cmd *cobra.Command, env *Env) error {
	name, file, ok := strings.Cut(f.other, "=")
	if f.other != "" && (!ok || name == "" || file == "" || !f.page) {
		return usagef("--beside must be NAME=FILE, with --page, got %q", f.other)
	}
	f.Energy, f.Compare, f.Beside = f.asJSON || f.perRow != "", f.page, file
	res, err := watched(cmd.Context(), env, false, opsaccuracy.Run, f.Request)
	if err != nil {
		return err
	}
	tableNotes(env.Note, res.Tables)
	switch {
	case f.page:
		report.AccuracyPage(env.Stdout, res, filepath.Base(f.File), name)
	case f.asJSON:
		err = env.JSON(document.NewAccuracy(res, f.regret))
	case f.regret:
		report.Regret(env.Stdout, res)
	case f.outside:
		report.Outside(env.Stdout, res)
	default:
		report.Accuracy(env.Stdout, res)
	}
	if f.perRow != "" {
		err = errors.Join(err, env.CreateAtomic(f.perRow, func(w io.Writer) error { return report.AccuracyCSV(w, res) }))
	}
	return err
}

// examine prints the suspicious rows of a file of measurements.
func examine(cmd *cobra.Command, env *Env, file string, asJSON bool) error {
	res, err := opsaccuracy.Examine(cmd.Context(), env.world(), file)
	if err != nil {
		return asked(err)
	}
	return answer(env, asJSON, res, document.NewExamine, report.Examine)
}
