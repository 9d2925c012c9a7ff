package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
)

// enginesRequest holds the flags of "plimsoll engines".
type enginesRequest struct {
	version    string
	device     string
	deviceFile string
	devices    int
	set        []string
	json       bool
}

// newEnginesCmd makes "plimsoll engines".
func newEnginesCmd(env *Env) *cobra.Command {
	var r enginesRequest
	cmd := &cobra.Command{
		Use:     "engines [NAME]",
		Short:   "List the serving engines, or print the defaults of one",
		Aliases: []string{"backends"},
		GroupID: groupCatalog,
		Args:    arguments(0, "NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return showEngine(env, args[0], &r)
			}
			if r.version != "" || r.device != "" || r.deviceFile != "" || len(r.set) > 0 {
				return usagef("--engine-version, --device and --set need the NAME of an engine")
			}
			return listEngines(env, r.json)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return engine.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVar(&r.version, "engine-version", "", "engine `VERSION` (default the newest)")
	cmd.Flags().StringVar(&r.device, "device", "", "show the defaults for the device `NAME`")
	cmd.Flags().StringVar(&r.deviceFile, "device-file", "", "your own device profile")
	cmd.Flags().IntVar(&r.devices, "num-devices", 1, "devices per replica")
	nargs.ListVar(cmd.Flags(), &r.set, "set", nargs.OneOrMore, nargs.Text, "change settings, each as `KEY=VALUE`")
	cmd.Flags().BoolVar(&r.json, "json", false, "print JSON")
	return cmd
}

// completePreset offers the presets of engines.
func completePreset(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return engine.PresetNames(), cobra.ShellCompDirectiveNoFileComp
}

// completeSetting offers the settings, which are the same for all engines.
func completeSetting(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	p, err := engine.LookupVersion("generic", "")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var offers []string
	for _, s := range append(p.Settings(), p.Hosts[engine.Generic].Settings()...) {
		for _, w := range s.Words {
			offers = append(offers, cobra.CompletionWithDesc(s.Key+"="+w.Name, w.Meaning))
		}
		if len(s.Words) == 0 {
			offers = append(offers, cobra.CompletionWithDesc(s.Key+"=", s.Meaning))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func showEngine(env *Env, name string, r *enginesRequest) error {
	p, err := engine.LookupVersion(name, r.version)
	if err != nil {
		return usage(err)
	}
	if newer := p.Newer(r.version); newer != "" {
		env.Note(newer)
	}
	if p, err = p.With(r.set...); err != nil {
		return usage(err)
	}
	if r.device != "" || r.deviceFile != "" {
		if r.devices < 1 {
			return usagef("--num-devices must be positive, got %d", r.devices)
		}
		d, err := env.world().Device(r.device, r.deviceFile)
		if err != nil {
			return asked(err)
		}
		p = p.On(d, engine.Use{Devices: r.devices})
	}
	if r.json {
		return env.JSON(engine.WithPresets{Profile: p})
	}
	env.print(func(w io.Writer) { report.Engine(w, p) })
	return nil
}

func listEngines(env *Env, asJSON bool) error {
	var all []*engine.Profile
	for _, name := range engine.Names() {
		versions, err := engine.Versions(name)
		if err != nil {
			return err
		}
		all = append(all, versions...)
	}
	if asJSON {
		out := make([]engine.WithPresets, len(all))
		for i, p := range all {
			out[i].Profile = p
		}
		return env.JSON(out)
	}
	env.print(func(w io.Writer) { report.Engines(w, all) })
	return nil
}
