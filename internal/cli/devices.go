package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/internal/device"
	"plimsoll/internal/report"
)

// newDevicesCmd makes "plimsoll devices".
func newDevicesCmd(env *Env) *cobra.Command {
	var asJSON, asYAML, schema bool
	var file string
	cmd := &cobra.Command{
		Use:   "devices [NAME]",
		Short: "List the device profiles, or print one in full",
		Long: `Devices lists the built-in device profiles. With a NAME it prints one: peaks, memory, links, price and the sources of
the numbers.

To describe your own device, start from a profile (--yaml) and pass the file to other commands with --device-file. A file may
begin with "base: NAME" and give only what differs, for instance the price.`,
		Example: `  plimsoll devices
  plimsoll devices h200_sxm
  plimsoll devices h200_sxm --yaml > my.yaml
  plimsoll devices --device-file my.yaml
  plimsoll devices --schema > profile.schema.json`,
		Aliases: []string{"systems"},
		GroupID: groupCatalog,
		Args:    atMostOne("NAME"),
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
				return showDevice(env, append(args, "")[0], file, asJSON)
			}
			return listDevices(env, asJSON)
		},
		ValidArgsFunction: completeDevice,
	}
	cmd.Flags().StringVar(&file, "device-file", "", "check and show your own profile")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&asYAML, "yaml", false, "print the profile's YAML file, to start your own")
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON schema of profile files")
	return cmd
}

func showDevice(env *Env, name, file string, asJSON bool) error {
	p, err := env.world().Device(name, file)
	if err != nil {
		return asked(err)
	}
	f := p.Facts()
	if asJSON {
		return env.JSON(f)
	}
	report.Device(env.Stdout, &f)
	return nil
}

func listDevices(env *Env, asJSON bool) error {
	var all []device.Facts
	for _, name := range device.Names() {
		p, err := device.Lookup(name)
		if err != nil {
			return err
		}
		all = append(all, p.Facts())
	}
	if asJSON {
		return env.JSON(all)
	}
	report.Devices(env.Stdout, all)
	return nil
}
