package cli

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/draw/chart"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
)

// plotFormat is the format of a file by its extension.
func plotFormat(file string) string {
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
}

// checkFiles reports invalid output files before the search.
func (f *optimizeFlags) checkFiles() error {
	return errors.Join(
		usageIf(f.plot != "" && !slices.Contains(chart.Formats(), plotFormat(f.plot)), "invalid value %q for --plot: want a file that ends in .png or .svg", f.plot),
		usageIf(f.csv == "-" && (f.json || f.dump), "--csv -, --json and --dump-original-results exclude each other"),
		usageIf(f.trace == "-", "invalid value %q for --chrome-trace: want a file name, since each row writes its own file", f.trace),
	)
}

// files writes the output files, as many as possible.
func (f *optimizeFlags) files(env *Env, r *optimize.Response) error {
	var errs []error
	write := func(flag, name string, write func(io.Writer) error) {
		errs = append(errs, env.create(flag, name, write))
	}
	if f.csv != "" {
		write("csv", f.csv, func(w io.Writer) error { return report.OptimizeCSV(w, r) })
	}
	if f.plot != "" {
		write("plot", f.plot, func(w io.Writer) error { return report.PlotFile(w, plotFormat(f.plot), r) })
	}
	if f.trace == "" {
		return errors.Join(errs...)
	}
	for i := range r.Traces {
		t := &r.Traces[i]
		ext := filepath.Ext(f.trace)
		name := strings.TrimSuffix(f.trace, ext) + "_" + t.Name + ext
		write("chrome-trace", name, func(w io.Writer) error { return report.Trace(w, &t.Result) })
		if errs[len(errs)-1] != nil {
			break // the others go to the same folder
		}
	}
	return errors.Join(errs...)
}
