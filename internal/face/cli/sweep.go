package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/sweep"
)

// sweepFlags are those of "plimsoll sweep".
type sweepFlags struct {
	out, shard     string
	jobs           int
	dryRun, list   bool
	example        bool
	restart, quiet bool
	emit           string
	job            sweep.Job
}

// newSweepCmd makes "plimsoll sweep".
func newSweepCmd(env *Env) *cobra.Command {
	f := &sweepFlags{}
	cmd := &cobra.Command{
		Use:     "sweep GRID.yaml",
		Short:   "Plan or predict every combination of models, systems, engines, requests, limits and prices",
		GroupID: groupPlan,
		Args:    arguments(0, "GRID.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.example {
				_, err := io.WriteString(env.Stdout, sweep.Example)
				return err
			}
			if len(args) == 0 {
				return withHint(usagef("plimsoll sweep: no GRID.yaml given"), "\"plimsoll sweep --example\" prints one to start from")
			}
			return f.run(cmd, env, args[0])
		},
	}
	f.define(cmd.Flags())
	cmd.AddCommand(newSweepMergeCmd(env))
	return cmd
}

// define adds the flags, in the sections help shows.
func (f *sweepFlags) define(fs *pflag.FlagSet) {
	section(fs, "Run", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.out, "out", "", "table to write: a `file` that ends in .csv, .jsonl or .parquet (default that of the grid, .csv)")
		fs.IntVar(&f.jobs, "jobs", 0, "cells to run at once (default the number of cores); rows do not depend on it")
		fs.StringVar(&f.shard, "shard", "", "run a part of the cells: `I/N` with I from 0 to N-1; auto/N takes I from the task of a Slurm array or the pod of an Indexed Job, auto also N from Slurm")
		fs.BoolVar(&f.restart, "restart", false, "discard the rows of an earlier run instead of resuming it")
		fs.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	})
	section(fs, "Look first", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.example, "example", false, "print an example grid")
		fs.BoolVar(&f.dryRun, "dry-run", false, "check the grid and count its cells")
		fs.BoolVar(&f.list, "list", false, "print the requests of all cells as JSON, one on a line")
	})
	section(fs, "Several machines", func(fs *pflag.FlagSet) {
		nargs.Var(fs, &f.emit, "emit", nargs.OneOf("slurm", "kubernetes"), "print the job array of slurm, or the Indexed Job of kubernetes, that runs the shards")
		fs.IntVar(&f.job.Shards, "shards", 8, "number of shards of --emit")
		fs.IntVar(&f.job.CPUs, "cpus", 1, "cores of a task of --emit")
		fs.StringVar(&f.job.Image, "k8s-image", "plimsoll:latest", "container image with the program, for --emit kubernetes")
		fs.StringVar(&f.job.Claim, "claim", "plimsoll-sweep", "volume `claim` that all pods write to, for --emit kubernetes")
		fs.StringVar(&f.job.Namespace, "namespace", "", "Kubernetes namespace")
	})
}

// run runs the sweep, or shows it.
func (f *sweepFlags) run(cmd *cobra.Command, env *Env, file string) error {
	if f.out == "" {
		f.out = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".csv"
	}
	if err := f.check(); err != nil {
		return err
	}
	data, err := env.ReadFile(file, bound.Grid)
	if err != nil {
		return usagef("%v", err)
	}
	grid, err := sweep.Read(data, file)
	if err != nil {
		return usage(err)
	}
	s, err := sweep.Check(env.world(), grid)
	if err != nil {
		return asked(err)
	}
	switch {
	case f.emit != "":
		return f.emitJob(env, file, data)
	case f.list:
		return s.List(env.Stdout)
	}
	p, err := f.part(env)
	if err != nil {
		return err
	}
	t := &sweepTable{env: env, sweep: s, shard: p, out: f.out, heading: s.Heading(env.programVersion(), p)}
	if f.dryRun {
		env.print(func(w io.Writer) { fmt.Fprintln(w, units.Counted(s.Cells, "cell")+": "+s.Grid.Shape()) })
		if p.Of > 1 {
			fmt.Fprintf(env.Stdout, "shard %d of %d: %s, to %s\n", p.Index, p.Of, units.Counted(len(slices.Collect(s.In(p))), "cell"), t.part(p.Index))
		}
		return nil
	}
	return t.run(cmd.Context(), f)
}

// check reports what is wrong with the flags.
func (f *sweepFlags) check() error {
	_, err := sweep.FormatOf(f.out)
	errs := []error{
		usageIf(err != nil && f.out != "-", "--out must end in .csv, .jsonl or .parquet, got %q", f.out),
		usageIf(f.out == "-", "--out must be a file, so that an interrupted sweep can resume"),
	}
	for _, n := range []struct {
		flag        string
		value, most int
		least       int
	}{{"jobs", f.jobs, 4096, 0}, {"shards", f.job.Shards, 100_000, 1}, {"cpus", f.job.CPUs, 4096, 1}} {
		errs = append(errs, usageIf(n.value < n.least || n.value > n.most, "--%s must be between %d and %d, got %d", n.flag, n.least, n.most, n.value))
	}
	return errors.Join(errs...)
}

// part reads --shard; without one it is everything.
func (f *sweepFlags) part(env *Env) (sweep.Shard, error) {
	if f.shard == "" {
		return sweep.Shard{Of: 1}, nil
	}
	whole := usagef("--shard must be I/N with I from 0 to N-1, auto, or auto/N, got %q", f.shard)
	first, second, given := strings.Cut(f.shard, "/")
	n, err := strconv.Atoi(second)
	if given && (err != nil || n < 1) {
		return sweep.Shard{}, whole
	}
	if first != "auto" {
		i, err := strconv.Atoi(first)
		if err != nil || !given || i < 0 || i >= n {
			return sweep.Shard{}, whole
		}
		return sweep.Shard{Index: i, Of: n}, nil
	}
	return f.task(env, n)
}

// task is the shard of a task of a job array, of n, or of as many as the array has.
func (f *sweepFlags) task(env *Env, n int) (sweep.Shard, error) {
	number := func(name string) (int, bool) {
		x, err := strconv.Atoi(env.Getenv(name))
		return x, err == nil
	}
	i, slurm := number("SLURM_ARRAY_TASK_ID")
	pod, kubernetes := number("JOB_COMPLETION_INDEX")
	switch count, known := number("SLURM_ARRAY_TASK_COUNT"); {
	case !slurm && !kubernetes:
		return sweep.Shard{}, usagef("--shard %s: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set", f.shard)
	case !slurm && n == 0:
		return sweep.Shard{}, usagef("--shard auto: Kubernetes does not say how many pods a Job has; give auto/N")
	case !slurm:
		i = pod
	case n == 0 && !known:
		return sweep.Shard{}, usagef("--shard auto: SLURM_ARRAY_TASK_COUNT is not set; give auto/N")
	case n == 0: // the whole array; one of a few tasks that are sent again must give N
		least, _ := number("SLURM_ARRAY_TASK_MIN")
		i, n = i-least, count
	}
	if i < 0 || i >= n {
		return sweep.Shard{}, usagef("--shard %s: task %d is not between 0 and %d", f.shard, i, n-1)
	}
	return sweep.Shard{Index: i, Of: n}, nil
}

// emitJob prints the job that runs the shards.
func (f *sweepFlags) emitJob(env *Env, file string, text []byte) error {
	j := &f.job
	j.Name, j.Grid, j.Text, j.Out = "plimsoll-sweep", file, text, f.out
	data, err := j.Slurm(), error(nil)
	if f.emit == "kubernetes" {
		data, err = j.Kubernetes()
	}
	if err == nil {
		_, err = env.Stdout.Write(data)
	}
	return err
}

// newSweepMergeCmd makes "plimsoll sweep merge".
func newSweepMergeCmd(env *Env) *cobra.Command {
	var out string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "merge --out TABLE [PART…]",
		Short: "Join the parts of a sweep's shards into its table",
		RunE: func(_ *cobra.Command, args []string) error {
			format, err := sweep.FormatOf(out)
			if err != nil {
				return usagef("--out must end in .csv, .jsonl or .parquet, got %q", out)
			}
			return mergeParts(env, args, out, format, quiet)
		},
	}
	fs := cmd.Flags()
	outputVar(fs, &out, aFile, "out", "table to write: a `file` that ends in .csv, .jsonl or .parquet")
	fs.BoolVarP(&quiet, "quiet", "q", false, "print errors only")
	return cmd
}

// mergeParts joins parts, without names those beside the table.
func mergeParts(env *Env, names []string, out string, format sweep.Format, quiet bool) error {
	if len(names) == 0 {
		var err error
		if names, err = filepath.Glob(env.path(partName(out, "*", "*"))); err != nil || len(names) == 0 {
			return usagef("sweep merge: %s does not exist", partName(out, "I", "N"))
		}
	}
	var parts []*sweep.Part
	for _, name := range names {
		part, file, err := env.openPart(name)
		if err != nil {
			return usagef("%s: %w", name, cause(err))
		}
		defer file.Close() //nolint:errcheck // it is only read
		parts = append(parts, part)
	}
	err := env.create("out", out, func(w io.Writer) error {
		if err := sweep.Merge(parts, w, format); err != nil {
			return fmt.Errorf("sweep merge: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	env.noteUnless(quiet, "wrote %d rows to %s from %d parts", parts[0].Heading.Cells, out, len(parts))
	return nil
}
