package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// Runs reports whether the engine runs on the devices of a vendor. TEST_DEVICE counts as
// Ascend's.
func (p *Profile) Runs(v device.Vendor) bool {
	if v == device.Test {
		v = device.Ascend
	}
	return p.RunsOn == nil || slices.Contains(p.RunsOn, string(v))
}

// On lists the engines that run on the devices of a vendor, of those given.
func On(v device.Vendor, names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		p, err := LookupVersion(name, "")
		if err != nil {
			return nil, err
		}
		if p.Runs(v) {
			out = append(out, name)
		}
	}
	return out, nil
}

// Elsewhere says what runs on a device in place of the engines known here.
func Elsewhere(d *device.Profile) string {
	if d.Vendor == device.Apple {
		return "llama.cpp and MLX do, which are not modelled"
	}
	names, err := On(d.Vendor, Names())
	if err != nil || len(names) == 0 {
		return "no engine that is modelled does"
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " do"
	}
	return fmt.Sprintf("%s does", names[0])
}
