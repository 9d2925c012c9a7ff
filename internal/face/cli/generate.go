package cli

import (
	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
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
		Long: `Generate writes the files of a feasible deployment without a search: replicas of the smallest worker that holds the model
and the KV cache of a few requests. Its figures are simulated. "plimsoll cli default" finds the best deployment.`,
		Example: `  plimsoll cli generate --model-path Qwen/Qwen3-32B --total-gpus 8 --system h200_sxm --backend vllm
  plimsoll cli generate --model-path deepseek-ai/DeepSeek-V3 --total-gpus 16 --system h200_sxm --save-dir out --deployment-target plain`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.ServingMode = "agg"
			if err := d.complete(cmd, env); err != nil {
				return err
			}
			plan, err := d.Plan()
			if err != nil {
				return usage(err)
			}
			f.save.site.ModelPath = d.served()
			if err := f.save.site.Check(); err != nil {
				return usage(err)
			}
			f.notes(env, append([]string{plan.Effective}, plan.Notes...)...)
			r, err := configure.Generate(cmd.Context(), env.world(), plan.Experiments[0], f.Sources)
			if err != nil {
				return asked(err)
			}
			if f.json {
				err = env.JSON(document.NewConfigure(r))
			} else {
				report.Generated(env.Stdout, r, report.OptimizeView{Color: env.Color(env.Stdout) && !f.noColor})
			}
			if err != nil {
				return err
			}
			return f.save.save(env, r, func(text string) { f.notes(env, text) })
		},
	}
	d.define(cmd.Flags())
	f.define(cmd.Flags())
	cmd.Flags().Lookup("save-dir").DefValue = f.save.dir
	return cmd
}
