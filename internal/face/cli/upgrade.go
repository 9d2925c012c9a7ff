package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/upgrade"
)

// newUpgradeCmd makes "plimsoll upgrade".
func newUpgradeCmd(env *Env) *cobra.Command {
	f := &lintFlags{}
	var engine string
	cmd := &cobra.Command{
		Use:     "upgrade FROM TO {FILE... | COMMAND | -- COMMAND...}",
		Short:   "Show what another release of an engine changes for a launch command or manifest",
		GroupID: groupPlan,
		RunE:    func(cmd *cobra.Command, args []string) error { return runUpgrade(cmd, env, f, engine, args) },
	}
	section(cmd.Flags(), simulate.DeploymentSection, func(fs *pflag.FlagSet) {
		fs.StringVar(&engine, "engine", "", "engine that FROM and TO are releases of (default that of the file)")
		fs.StringVar(&f.System, "device", "", "device profile; same as --system (default from the file)")
		fs.StringVar(&f.Model, "model", "", "model, instead of that in the file")
	})
	section(cmd.Flags(), "Requests", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.Input, "isl", 0, "prompt length in `tokens` (default from the file, or 1024)")
		fs.IntVar(&f.Output, "osl", 0, "output length in `tokens` (default from the file, or 256)")
		fs.IntVar(&f.Concurrency, "concurrency", 0, "requests in flight (default the highest that is safe under both releases)")
		limitVar(fs, &f.Limits.TTFT, "ttft-limit", "limit on the mean TTFT in `ms`")
		limitVar(fs, &f.Limits.TPOT, "tpot-limit", "limit on the mean TPOT in `ms`")
	})
	section(cmd.Flags(), "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.Static, "static", false, "compare only, without a prediction")
		nargs.Var(fs, &f.format, "format", nargs.OneOf("text", "json", "markdown"), "text, json, or markdown for a pull request (default text)")
		fs.BoolVar(&f.json, "json", false, "same as --format json")
	})
	return cmd
}

// runUpgrade compares and prints. It exits with 1 if the new release breaks something.
func runUpgrade(cmd *cobra.Command, env *Env, f *lintFlags, engine string, args []string) error {
	const releases = 2
	if len(args) < releases+1 || cmd.ArgsLenAtDash() >= 0 && cmd.ArgsLenAtDash() != releases {
		return withHint(usagef("%s: give FROM, TO, and a FILE or COMMAND", cmd.CommandPath()), "usage: %s", cmd.UseLine())
	}
	f.subjectOf(args[releases:], cmd.ArgsLenAtDash() == releases)
	if err := zeros(cmd.Flags(), "concurrency", "isl", "osl"); err != nil {
		return err
	}
	r, err := watched(cmd.Context(), env, false, upgrade.Run, upgrade.Request{Request: f.Request, Engine: engine, From: args[0], To: args[1]})
	if err != nil {
		return err
	}
	if f.format == "markdown" {
		report.Upgrade(env.Stdout, r, true)
	} else if err := show(env, f.json || f.format == "json", r, func(w io.Writer, r *upgrade.Response) { report.Upgrade(w, r, false) }); err != nil {
		return err
	}
	broken := 0
	for i := range r.Breaks {
		if r.Breaks[i].Severity == lint.SevereError {
			broken++
		}
	}
	if broken > 0 {
		return fmt.Errorf("%s breaks %s", r.To.Version, units.Counted(broken, "setting"))
	}
	return nil
}
