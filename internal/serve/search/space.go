package search

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Space is the sizes to try in each dimension. A nil dimension is fixed, an
// empty one takes the powers of two up to the number of devices.
type Space struct {
	TP    []int `json:"tp_sizes,omitzero"`
	EP    []int `json:"ep_sizes,omitzero"`
	MoEDP []int `json:"moe_dp_sizes,omitzero"`
	PP    []int `json:"pp_sizes,omitzero"`
	DCP   []int `json:"dcp_sizes,omitzero"`
	MTP   []int `json:"num_mtp_tokens,omitzero"`
}

// Candidate is a layout of one replica, how many equal replicas there are, and a
// number of draft tokens.
type Candidate struct {
	Layout   parallel.Layout
	Replicas int // 0 is one
	MTP      int
}

// Ranks is the data-parallel ranks of all replicas: each has a batch of its own.
func (c *Candidate) Ranks() int { return max(1, c.Replicas) * max(1, c.Layout.DP) }

// Open reports whether a space leaves all layouts to the search.
func (s *Space) Open() bool {
	return s.TP == nil && s.EP == nil && s.MoEDP == nil && s.PP == nil && s.DCP == nil
}

// Replicated lists what serving engines run on a number of devices, of which
// domain share the fastest links: equal replicas of every power of two of devices,
// as many as there is room for. Weights are cut within a domain. Beyond it the
// layers of a dense model are divided over a pipeline; with experts, attention is
// cut over any part of a domain and copied over the rest, and experts are spread
// whole over all devices, or in slices within a domain. Devices may be left over,
// and a larger number of them has every candidate of a smaller one with at least
// as many replicas: it never carries less.
func Replicated(devices, domain int, experts bool, mtp []int) []Candidate {
	if len(mtp) == 0 {
		mtp = []int{0}
	}
	var out []Candidate
	add := func(l parallel.Layout) {
		for _, n := range mtp {
			out = append(out, Candidate{Layout: l, Replicas: devices / l.Devices, MTP: n})
		}
	}
	widest := 1
	for 2*widest <= domain {
		widest *= 2
	}
	for size := 1; size <= devices; size *= 2 {
		tp := min(size, widest)
		l := parallel.Layout{Devices: size, TP: tp, DP: 1, PP: size / tp, EP: 1, MoETP: 1, MoEDP: 1, DCP: 1}
		if !experts {
			add(l)
			continue
		}
		l.PP = 1
		for l.TP = 1; l.TP <= tp; l.TP *= 2 {
			l.DP = size / l.TP
			l.EP, l.MoETP = size, 1
			add(l)
			if size > 1 && size <= widest {
				l.EP, l.MoETP = 1, size
				add(l)
			}
		}
	}
	return out
}

// sizes resolves one dimension for n devices.
func sizes(given []int, n, fixed int) []int {
	switch {
	case given == nil:
		return []int{fixed}
	case len(given) == 0:
		var all []int
		for s := 1; s <= n; s *= 2 {
			all = append(all, s)
		}
		return all
	}
	var out []int
	for _, s := range given {
		if s > 0 && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Resolve fixes what was left open, by the rules of the Ascend guide: a
// dimension that is not searched is fixed (TP and EP at all devices, the others
// at one); when neither TP, EP nor MoE-DP is searched, TP is.
func (s Space) Resolve(devices int) Space {
	if s.TP == nil && s.EP == nil && s.MoEDP == nil {
		s.TP = []int{}
	}
	mtp := s.MTP
	if len(mtp) == 0 {
		mtp = []int{0}
	}
	return Space{
		TP:    sizes(s.TP, devices, devices),
		EP:    sizes(s.EP, devices, devices),
		MoEDP: sizes(s.MoEDP, devices, 1),
		PP:    sizes(s.PP, devices, 1),
		DCP:   sizes(s.DCP, devices, 1),
		MTP:   mtp,
	}
}

// Size is the number of combinations before any is found illegal.
func (s Space) Size() int {
	return len(s.TP) * len(s.EP) * len(s.MoEDP) * len(s.PP) * len(s.DCP) * len(s.MTP)
}

// Enumerate lists the combinations that divide the devices, in the order TP,
// EP, MoE-DP, MTP, DCP, PP. A dense model has no expert dimensions: only the
// first of their sizes is taken.
func (s Space) Enumerate(devices int, experts bool) []Candidate {
	if !experts {
		s.EP, s.MoEDP = []int{1}, []int{1}
	}
	var out []Candidate
	for _, tp := range s.TP {
		for _, ep := range s.EP {
			for _, copies := range s.MoEDP {
				for _, mtp := range s.MTP {
					for _, dcp := range s.DCP {
						for _, pp := range s.PP {
							l := parallel.Layout{
								Devices: devices, TP: tp, PP: pp, DP: devices / (tp * pp),
								EP: ep, MoEDP: copies, MoETP: devices / (ep * copies * pp), DCP: dcp,
							}
							if !experts {
								l.EP, l.MoETP, l.MoEDP = 1, 1, 1
							}
							if divides(l, experts) {
								out = append(out, Candidate{Layout: l, MTP: mtp})
							}
						}
					}
				}
			}
		}
	}
	return out
}

// divides reports whether the sizes use exactly the devices there are.
func divides(l parallel.Layout, experts bool) bool {
	if l.DP < 1 || l.TP*l.PP*l.DP != l.Devices || l.TP%l.DCP != 0 {
		return false
	}
	return !experts || l.MoETP >= 1 && l.EP*l.MoEDP*l.MoETP*l.PP == l.Devices
}
