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

// newAccuracyCmd makes "plimsoll accuracy".
func newAccuracyCmd(env *Env) *cobra.Command {
	var r opsaccuracy.Request
	var about calibrateFlags // what results do not say
	var asJSON, doctor, regret, outside, page bool
	var perRow, other string
	cmd := &cobra.Command{
		Use:     "accuracy FILE",
		Short:   "Compare predictions with measured deployments",
		GroupID: groupTrust,
		Args:    arguments(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.File = args[0]
			if doctor {
				return examine(cmd, env, r.File, asJSON)
			}
			if isResult(env, r.File) {
				if page {
					return usagef("--page needs a file of rows, got %s", r.File)
				}
				if err := about.deployed(cmd, env); err != nil {
					return err
				}
				r.Results = about.Results
				r.Results.Folders = args
			} else if described := about.described(func(string) bool { return true }); len(described) > 0 {
				return usagef("--%s describes the deployment of results, and %s is a file of rows", described[0], r.File)
			}
			name, file, ok := strings.Cut(other, "=")
			if other != "" && (!ok || name == "" || file == "" || !page) {
				return usagef("--beside must be NAME=FILE, with --page, got %q", other)
			}
			r.Energy, r.Compare, r.Beside = asJSON || perRow != "", page, file
			res, err := watched(cmd.Context(), env, false, opsaccuracy.Run, r)
			if err != nil {
				return err
			}
			tableNotes(env.Note, res.Tables)
			for _, u := range res.Results.Unused {
				env.Note(u.File + " is not used: " + oneLine(u.Err))
			}
			switch {
			case page:
				report.AccuracyPage(env.Stdout, res, filepath.Base(r.File), name)
			case asJSON:
				err = env.JSON(document.NewAccuracy(res, regret))
			case regret:
				env.print(func(w io.Writer) { report.Regret(w, res) })
			case outside:
				env.print(func(w io.Writer) { report.Outside(w, res) })
			default:
				env.print(func(w io.Writer) { report.Accuracy(w, res) })
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
	fs.BoolVar(&outside, "outside", false, "print how far rows of sources outside the calibration err beyond its intervals, leaving out one source at a time")
	fs.BoolVar(&page, "page", false, "print tables in Markdown for a page: by device, engine and model, with and without the fit")
	fs.StringVar(&other, "beside", "", "on the page, another program's predictions as `NAME=FILE`, a CSV file with id, ttft_ms and tpot_ms")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	about.defineResults(fs)
	return cmd
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
