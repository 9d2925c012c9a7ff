package cli

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
)

// newDevicesCmd makes "plimsoll devices".
func newDevicesCmd(env *Env) *cobra.Command {
	var asJSON, asYAML, schema bool
	var file string
	var only deviceFilter
	cmd := &cobra.Command{
		Use:     "devices [NAME]",
		Short:   "List the device profiles, or print one",
		Aliases: []string{"systems"},
		GroupID: groupCatalog,
		Args:    arguments(0, "NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case schema:
				_, err := env.Stdout.Write(device.Schema())
				return err
			case asYAML && len(args) == 1:
				text, err := device.Text(args[0])
				if err != nil {
					return usage(err)
				}
				_, err = env.Stdout.Write(text)
				return err
			case asYAML:
				return usagef("--yaml needs the NAME of a profile")
			case len(args) == 1 || file != "":
				if len(only.vendors)+len(only.generations) > 0 {
					return usagef("--vendor and --generation filter the list and exclude NAME")
				}
				return showDevice(env, append(args, "")[0], file, asJSON)
			}
			return listDevices(env, &only, asJSON)
		},
		ValidArgsFunction: completeDevice,
	}
	nargs.ListVar(cmd.Flags(), &only.vendors, "vendor", nargs.OneOrMore, nargs.OneOf(vendorNames()...), "list the devices of a `VENDOR`")
	nargs.ListVar(cmd.Flags(), &only.generations, "generation", nargs.OneOrMore, func(word string) (string, error) { return strings.ToLower(word), nil }, "list the devices of a `GENERATION` and its variants")
	_ = cmd.RegisterFlagCompletionFunc("vendor", cobra.FixedCompletions(vendorNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("generation", completeGeneration)
	cmd.Flags().StringVar(&file, "device-file", "", "check and print your own profile")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&asYAML, "yaml", false, "print the profile as YAML, as a template for your own")
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON schema of profile files")
	return cmd
}

func showDevice(env *Env, name, file string, asJSON bool) error {
	p, err := env.world().Device(name, file)
	if err != nil {
		return asked(err)
	}
	f := p.Facts()
	return show(env, asJSON, &f, func(w io.Writer, f *device.Facts) { report.Device(w, f, prices.Best(p).Tier(p)) })
}

// deviceFilter chooses devices from the list; empty fields choose all.
type deviceFilter struct{ vendors, generations []string }

// keeps reports whether a device is chosen. A generation chooses its variants too:
// blackwell also blackwell-ultra.
func (d *deviceFilter) keeps(f *device.Facts) bool {
	of := func(g string) bool { return f.Generation == g || strings.HasPrefix(f.Generation, g+"-") }
	return (len(d.vendors) == 0 || slices.Contains(d.vendors, string(f.Vendor))) &&
		(len(d.generations) == 0 || slices.ContainsFunc(d.generations, of))
}

// check reports a generation that no device has.
func (d *deviceFilter) check(all []device.Facts) error {
	for _, g := range d.generations {
		one := deviceFilter{generations: []string{g}}
		if slices.ContainsFunc(all, func(f device.Facts) bool { return one.keeps(&f) }) {
			continue
		}
		known := generations(all)
		err := usagef("unknown generation %q for --generation: want one of %s", g, strings.Join(known, ", "))
		if near, ok := nearest.Match(g, known); ok {
			return withHint(err, "did you mean %s?", near)
		}
		return err
	}
	return nil
}

func listDevices(env *Env, only *deviceFilter, asJSON bool) error {
	all := allDevices()
	if err := only.check(all); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(f device.Facts) bool { return !only.keeps(&f) })
	return show(env, asJSON, all, report.Devices)
}

// allDevices returns the facts of all profiles, by vendor, then by name.
func allDevices() []device.Facts {
	var all []device.Facts
	for _, p := range device.All() {
		all = append(all, p.Facts())
	}
	order := device.Vendors()
	slices.SortStableFunc(all, func(a, b device.Facts) int {
		return cmp.Compare(slices.Index(order, a.Vendor), slices.Index(order, b.Vendor))
	})
	return all
}

// vendorNames lists the vendors of built-in devices.
func vendorNames() []string {
	return nargs.Texts(slices.DeleteFunc(device.Vendors(), func(v device.Vendor) bool { return v == device.Other }))
}

// generations lists the generations of devices.
func generations(all []device.Facts) []string {
	var names []string
	for i := range all {
		names = append(names, all[i].Generation)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// completeGeneration offers generations to the shell.
func completeGeneration(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return generations(allDevices()), cobra.ShellCompDirectiveNoFileComp
}
