package cli

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// planFlags are those of "plimsoll plan".
type planFlags struct {
	*plan.Form
	plan.Request // once the flags are read

	out         string
	force       bool
	targets     targetFlag
	json, quiet bool
	explain     bool
	wizard      wizardFlags
}

// define adds the flags, in the sections help shows.
func (f *planFlags) define(fs *pflag.FlagSet) {
	asks(fs, f.Table(), "Hardware", "Workload", "Limits", "Deployments to compare")
	section(fs, "Questions", f.wizard.define)
	section(fs, "Output", func(fs *pflag.FlagSet) {
		outputVar(fs, &f.out, aFolder, "out", "write plan.json, report.html, report.md and the files that run the best deployment to this `directory`")
		fs.BoolVar(&f.force, "force", false, "replace the files of an earlier plan, and write files in which lint finds errors")
		f.targets.define(fs, "all")
		fs.BoolVar(&f.explain, "explain", false, "break down TTFT, TPOT, throughput and memory of the best deployment")
		fs.BoolVar(&f.json, "json", false, "print JSON (the content of plan.json)")
		fs.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
	})
	asks(fs, f.Table())
}

// complete turns the flags into a request.
func (f *planFlags) complete(env *Env, args []string) error {
	r, err := f.Ask()
	if f.Request = r; len(args) > 0 {
		f.Model = args[0]
	}
	errs := []error{usage(err)}
	for i := range f.Workloads {
		x := &f.Workloads[i]
		errs = append(errs, env.readLengths("length-distribution", &x.InputLengths), env.readLengths("output-distribution", &x.OutputLengths))
	}
	return errors.Join(errs...)
}

// lacking lists all missing inputs.
func (f *planFlags) lacking() []string {
	var flags []string
	for _, name := range f.Missing() {
		if name == "model" {
			flags = append(flags, "MODEL")
			continue
		}
		flags = append(flags, flagOf(name))
	}
	return append(flags, f.lengthless()...)
}

// missing reports all missing inputs at once, after names that are not known.
func (f *planFlags) missing(env *Env) error {
	flags := f.lacking()
	if flags == nil {
		return nil
	}
	hint := "\"plimsoll plan --help\" has examples"
	if slices.Contains(flags, "--isl") && slices.Contains(flags, "--osl") {
		hint = "lengths also come from --preset chat, --workload or --trace; " + hint
	}
	return errors.Join(plan.Unknown(env.world(), f.Request), withHint(usagef("missing: %s", join(flags)), "%s", hint))
}

// lengthless lists the missing lengths of a single workload.
func (f *planFlags) lengthless() []string {
	x := f.Single()
	if f.Several() || len(f.Workloads) == 0 || x.Preset != "" || x.Trace != "" {
		return nil
	}
	var missing []string
	if x.Input == 0 && x.InputLengths == nil {
		missing = append(missing, "--isl")
	}
	if x.Output == 0 && x.OutputLengths == nil {
		missing = append(missing, "--osl")
	}
	return missing
}
