package ways

import (
	"cmp"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// The growth of what may be changed: steps that are doubled.
const (
	MostGrowth  = 64 // of the devices where nothing fits
	SomeGrowth  = 8  // of the devices or of a limit where the limits are not met
	mostRunning = 3  // steps of a way that run without meeting the limits
	mostSystems = 4  // other systems that are tried
)

// Take is the first step of a way that meets the limits, otherwise the first that runs; where none does, the first with its error.
func Take[S any](way []S, try func(*S) (meets bool, err error)) (*S, error) {
	var runs *S
	var first error
	running := 0
	for i := range way {
		meets, err := try(&way[i])
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		if meets {
			return &way[i], nil
		}
		runs = cmp.Or(runs, &way[i])
		if running++; running == mostRunning {
			break
		}
	}
	if runs != nil {
		return runs, nil
	}
	return &way[0], first
}

// Devices are the numbers of devices to try in place of fewer: powers of two, up to so many times as many and no more than most.
func Devices(have, growth, most int) []int {
	var out []int
	n := 1
	for n <= have {
		n *= 2
	}
	for ; n <= min(growth*have, most); n *= 2 {
		out = append(out, n)
	}
	return out
}

// Systems are those to try in place of one: of the catalog's that are better the nearest to it, those of its vendor apart from others.
func Systems(w *session.Session, own *device.Profile, better func(*device.Profile) bool, by func(*device.Profile) float64) [][]*device.Profile {
	var all []*device.Profile
	for _, name := range device.Names() {
		if d, err := w.Device(name, ""); err == nil && d.Name != own.Name && better(d) {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b *device.Profile) int { return cmp.Compare(by(a), by(b)) })
	var out [][]*device.Profile
	for _, same := range []bool{true, false} {
		var part []*device.Profile
		for _, d := range all {
			if (d.Vendor == own.Vendor) == same && len(part) < mostSystems {
				part = append(part, d)
			}
		}
		if part != nil {
			out = append(out, part)
		}
	}
	return out
}
