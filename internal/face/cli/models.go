package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
)

// newModelsCmd makes "plimsoll models".
func newModelsCmd(env *Env) *cobra.Command {
	var asJSON bool
	var family, as string
	cmd := &cobra.Command{
		Use:     "models [ID]",
		Short:   "List the model catalog, or print one model",
		GroupID: groupCatalog,
		Args:    arguments(0, "ID"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return showModel(env, args[0], as, asJSON)
			}
			if as != "" {
				return usagef("--as-family needs an ID")
			}
			return listModels(env, family, asJSON)
		},
		ValidArgsFunction: completeModel,
	}
	cmd.Flags().StringVar(&family, "family", "", "list only families with this prefix")
	asFamily(cmd.Flags(), &as)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showModel(env *Env, id, as string, asJSON bool) error {
	m, err := env.world().Model(id, as)
	if err != nil {
		return asked(err)
	}
	f := m.Facts()
	return show(env, asJSON, &f, report.Model)
}

func listModels(env *Env, family string, asJSON bool) error {
	var rows []report.ModelRow
	families := map[string]bool{}
	for _, m := range plimsoll.Models() {
		families[m.Family] = true
		if strings.HasPrefix(m.Family, strings.ToLower(family)) {
			rows = append(rows, report.ModelRow(m))
		}
	}
	if len(rows) == 0 {
		return usagef("no family begins with %q; the families are %s", family, join(slices.Sorted(maps.Keys(families))))
	}
	return show(env, asJSON, rows, report.Models)
}
