package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// lintFlags are the flags of "plimsoll lint".
type lintFlags struct {
	lint.Request

	ttft, tpot float64
	json       bool
}

// newLintCmd makes "plimsoll lint".
func newLintCmd(env *Env) *cobra.Command {
	f := &lintFlags{}
	cmd := &cobra.Command{
		Use:     "lint {FILE... | COMMAND | -- COMMAND...}",
		Short:   "Check a launch command, Compose file or manifest",
		GroupID: groupPlan,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.define(cmd.Flags())
	return cmd
}

// define adds the flags.
func (f *lintFlags) define(into *pflag.FlagSet) {
	section(into, deploymentSection, func(fs *pflag.FlagSet) {
		fs.StringVar(&f.System, "device", "", "device profile; same as --system (default from the file)")
		fs.StringVar(&f.Model, "model", "", "model, instead of that in the file")
		fs.StringVar(&f.Version, "engine-version", "", "engine `version` (default from the file or its image, or the newest)")
	})
	section(into, "Requests", func(fs *pflag.FlagSet) {
		for _, l := range []struct {
			to          *int
			name, short string
			usual       int
		}{{&f.Input, "input-length", "isl", simulate.DefaultInput}, {&f.Output, "output-length", "osl", simulate.DefaultOutput}} {
			what := map[string]string{"isl": "prompt", "osl": "output"}[l.short]
			fs.IntVar(l.to, l.name, 0, fmt.Sprintf("%s length in tokens (default from the file, or %d)", what, l.usual))
			fs.IntVar(l.to, l.short, 0, "same as --"+l.name)
		}
		fs.IntVar(&f.Concurrency, "concurrency", 0, "requests in flight (default the highest safe concurrency)")
		nargs.Var(fs, &f.ttft, "ttft-limit", positiveOrInf, "limit on the mean TTFT in `ms`")
		nargs.Var(fs, &f.tpot, "tpot-limit", positiveOrInf, "limit on the mean TPOT in `ms`")
	})
	section(into, "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.Static, "static", false, "check only, without a prediction and better settings")
		fs.BoolVar(&f.json, "json", false, "print JSON")
	})
}

// subject takes files, or a command, from the arguments.
func (f *lintFlags) subject(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	switch {
	case len(args) == 0:
		return withHint(usagef("%s: no FILE or COMMAND given", cmd.CommandPath()), "usage: %s", cmd.UseLine())
	case dash > 0:
		return usagef("%s: unexpected argument %q before --", cmd.CommandPath(), args[0])
	case dash == 0:
		words := make([]string, len(args))
		for i, a := range args {
			words[i] = launch.Quote(a)
		}
		f.Command = strings.Join(words, " ")
		if len(args) == 1 {
			f.Command = args[0]
		}
	case len(args) == 1 && strings.ContainsAny(strings.TrimSpace(args[0]), " \t\n"):
		f.Command = args[0]
	default:
		f.Files = args
	}
	return nil
}

// run lints and prints.
func (f *lintFlags) run(cmd *cobra.Command, env *Env, args []string) error {
	if err := f.subject(cmd, args); err != nil {
		return err
	}
	if err := zeros(cmd.Flags(), "input_length", "output_length", "concurrency", "isl", "osl"); err != nil {
		return err
	}
	f.Limits = workload.Limits{TTFT: units.Seconds(f.ttft / 1e3), TPOT: units.Seconds(f.tpot / 1e3)}
	r, err := lint.Run(cmd.Context(), env.world(), f.Request)
	if err != nil {
		return asked(err)
	}
	err = show(env, f.json, r, report.Lint)
	if n := r.Errors; err == nil && n > 0 {
		return fmt.Errorf("%d findings are errors", n)
	}
	return err
}
