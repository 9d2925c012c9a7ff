package session

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Unlike is what differs between compared systems beside the hardware.
type Unlike struct {
	systems []string
	found   []Found
	dies    string // a system that counts dies
	vendors []device.Vendor
}

// Found is how the figures of a system were found.
type Found struct {
	Format string // of dense layers
	By     string // "simulation (compiled)"; "" where all systems are evaluated alike
}

// Add adds a system; what was added of it first counts.
func (u *Unlike) Add(system string, d *device.Profile, f Found) {
	if slices.Contains(u.systems, system) {
		return
	}
	u.systems, u.found = append(u.systems, system), append(u.found, f)
	if !slices.Contains(u.vendors, d.Vendor) {
		u.vendors = append(u.vendors, d.Vendor)
	}
	if d.Generation == "ascend-a3" || d.Generation == "cdna2" { // two dies make a package (docs/devices.md)
		u.dies = cmp.Or(u.dies, system)
	}
}

// Notes say what differs; none where all is alike.
func (u *Unlike) Notes() []string {
	var out []string
	if each := u.each(" computes in ", func(f *Found) string { return f.Format }, width); each != "" {
		out = append(out, "formats differ between the systems: "+each+"; --quantize-linear-action sets one for all (DISABLED: 16 bits)")
	}
	if each := u.each(" by ", func(f *Found) string { return f.By }, func(by string) string { return by }); each != "" {
		out = append(out, "figures are found in different ways: "+each+"; --evaluate and --compile set one for all")
	}
	if len(u.vendors) > 1 && u.dies != "" {
		out = append(out, "a GPU of "+u.dies+" is a die, half of a package")
	}
	return out
}

// width is the format, without the kind of floats of 16 bits, which are as fast.
func width(format string) string {
	if format == dtype.F16.String() || format == dtype.BF16.String() {
		return "16 bits"
	}
	return format
}

// each lists what systems have, "" where all have the same but for what a function leaves out.
func (u *Unlike) each(verb string, of func(*Found) string, same func(string) string) string {
	var each, all []string
	for i := range u.found {
		x := of(&u.found[i])
		each, all = append(each, u.systems[i]+verb+x), append(all, same(x))
	}
	if len(slices.Compact(slices.Sorted(slices.Values(all)))) < 2 {
		return ""
	}
	return strings.Join(each, ", ")
}
