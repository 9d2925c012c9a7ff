package app

import (
	"slices"

	"plimsoll/internal/device"
	"plimsoll/internal/parallel"
)

// layouts lists the layouts of workers that a space asks for on a device. Lists that
// are not given have the sizes that engines run: powers of two within the devices that
// share the fastest links, and for experts twice as many.
func (x *experiment) layouts(s *WorkerSpace, d *device.Profile) []parallel.Layout {
	experts := x.stage.Model.HasExperts()
	widest := min(d.Domain(), x.e.Devices)
	most := widest
	if experts {
		most = min(max(2*d.Domain(), 1), x.e.Devices)
	}
	sizes := given(s.Devices, powers(most))
	var out []parallel.Layout
	for _, n := range sizes {
		if n > x.e.Devices {
			continue
		}
		for _, tp := range given(s.TP, powers(min(n, widest))) {
			for _, pp := range given(s.PP, []int{1}) {
				if tp*pp > n || n%(tp*pp) != 0 {
					continue
				}
				l := parallel.Layout{Devices: n, TP: tp, PP: pp, DP: n / (tp * pp), MoEDP: 1, DCP: 1}
				if s.DP != nil && !slices.Contains(s.DP, l.DP) || !experts && l.DP > 1 {
					continue
				}
				out = append(out, x.expertLayouts(s, l, experts)...)
			}
		}
	}
	return out
}

// expertLayouts are the ways to spread the experts of a layout: whole over all devices
// of a stage, or in slices; with lists, all of their products.
func (x *experiment) expertLayouts(s *WorkerSpace, l parallel.Layout, experts bool) []parallel.Layout {
	if !experts {
		l.EP, l.MoETP = 1, 1
		return []parallel.Layout{l}
	}
	n := l.TP * l.DP
	var out []parallel.Layout
	for _, ep := range given(s.EP, []int{1, n}) {
		if ep > n || n%ep != 0 {
			continue
		}
		l.EP, l.MoETP = ep, n/ep
		if s.MoETP != nil && !slices.Contains(s.MoETP, l.MoETP) || slices.Contains(out, l) {
			continue
		}
		out = append(out, l)
	}
	return out
}

// given is a list, or its default.
func given(list, otherwise []int) []int {
	if list != nil {
		return list
	}
	return otherwise
}

// powers are the powers of two up to a number.
func powers(most int) []int {
	var out []int
	for n := 1; n <= most; n *= 2 {
		out = append(out, n)
	}
	return out
}
