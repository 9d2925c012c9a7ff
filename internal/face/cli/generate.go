package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
)

// newGenerateCmd makes "plimsoll cli generate".
func newGenerateCmd(env *Env) *cobra.Command {
	f, d := &configureFlags{}, &defaultFlags{}
	f.save.dir = "output"
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write the files of a feasible deployment, without a search",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.ServingMode = "agg"
			plan, err := d.plan(cmd, env)
			if err != nil {
				return err
			}
			f.save.site.ModelPath = d.served()
			if err := f.save.site.Check(); err != nil {
				return usage(err)
			}
			if err := f.save.aim(env, plan.Experiments, ""); err != nil {
				return err
			}
			f.notes(env, append([]string{plan.Effective}, plan.Notes...)...)
			r, err := configure.Generate(cmd.Context(), env.world(), plan.Experiments[0], f.Sources)
			if err != nil {
				return asked(err)
			}
			view := report.OptimizeView{Color: env.Color(env.Stdout) && !f.noColor}
			if err := show(env, f.json, r, func(w io.Writer, r *configure.Response) { report.Generated(w, r, view) }); err != nil {
				return err
			}
			return f.save.save(cmd.Context(), env, r, func(text string) { f.notes(env, text) })
		},
	}
	d.define(cmd.Flags())
	f.define(cmd.Flags())
	cmd.Flags().Lookup("save-dir").DefValue = f.save.dir
	return cmd
}
