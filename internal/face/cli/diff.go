package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// newDiffCmd makes "plimsoll diff".
func newDiffCmd(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "diff A.json B.json",
		Short:   "Compare two plans and explain the differences",
		GroupID: groupPlan,
		Args:    arguments(2, "A.json", "B.json"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var plans [2]*plan.Response
			for i, name := range args {
				var err error
				if plans[i], err = readPlan(env, name); err != nil {
					return err
				}
			}
			effects, err := plan.Effects(cmd.Context(), env.world(), plans[0], plans[1])
			if err != nil {
				return asked(fmt.Errorf("planning %s again: %w", args[0], err))
			}
			return show(env, asJSON, plan.NewDiff(plans[0], plans[1], effects), report.PlanDiff)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
