package search

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Space is the sizes to try in each dimension. A nil dimension is fixed, an
// empty one takes the powers of two up to the number of devices.
type Space struct {
	TP    []int `json:"tp_sizes,omitzero" minimum:"1" maximum:"100000000" uniqueItems:"true"`
	EP    []int `json:"ep_sizes,omitzero" minimum:"1" maximum:"100000000" uniqueItems:"true"`
	MoEDP []int `json:"moe_dp_sizes,omitzero" minimum:"1" maximum:"100000000" uniqueItems:"true"`
	PP    []int `json:"pp_sizes,omitzero" minimum:"1" maximum:"100000000" uniqueItems:"true"`
	DCP   []int `json:"dcp_sizes,omitzero" minimum:"1" maximum:"100000000" uniqueItems:"true"`
	MTP   []int `json:"num_mtp_tokens,omitzero" minimum:"0" maximum:"9" uniqueItems:"true"`
}

// Open reports whether a space leaves all layouts to the search.
func (s *Space) Open() bool {
	return s.TP == nil && s.EP == nil && s.MoEDP == nil && s.PP == nil && s.DCP == nil
}

// Resolve fixes what was left open, by the rules of the Ascend guide: a
// dimension that is not searched is fixed (TP and EP at all devices, the others
// at one); when neither TP, EP nor MoE-DP is searched, TP is.
func (s Space) Resolve(devices int) Space {
	if s.TP == nil && s.EP == nil && s.MoEDP == nil {
		s.TP = []int{}
	}
	sizes := func(list []int, otherwise int) []int {
		switch {
		case list == nil:
			return []int{otherwise}
		case len(list) == 0:
			return Powers(devices)
		}
		return unique(list, 1)
	}
	return Space{
		TP: sizes(s.TP, devices), EP: sizes(s.EP, devices), MoEDP: sizes(s.MoEDP, 1),
		PP: sizes(s.PP, 1), DCP: sizes(s.DCP, 1), MTP: Drafts(s.MTP),
	}
}

// Drafts are the numbers of draft tokens to try, each once; none is zero.
func Drafts(mtp []int) []int {
	if len(mtp) == 0 {
		return []int{0}
	}
	return unique(mtp, 0)
}

// unique drops repetitions, and what is below the least, and keeps the order.
func unique(all []int, least int) []int {
	var out []int
	for _, n := range all {
		if n >= least && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Size is the number of combinations before any is found illegal.
func (s Space) Size() int {
	return len(s.TP) * len(s.EP) * len(s.MoEDP) * len(s.PP) * len(s.DCP) * len(s.MTP)
}

// Enumerate lists the combinations that use exactly the devices. A dense model has no
// expert dimensions.
func (s Space) Enumerate(devices int, experts bool) []Candidate {
	a := Axes{
		Devices: []int{devices}, TP: fixed(s.TP...), PP: fixed(s.PP...), EP: fixed(s.EP...), MoEDP: fixed(s.MoEDP...),
		DCP: fixed(s.DCP...), Experts: experts,
	}
	return Copied(a.Layouts(), devices, s.MTP)
}

// Copied are layouts with as many copies as so many devices have room for, with each
// number of draft tokens.
func Copied(layouts []parallel.Layout, devices int, mtp []int) []Candidate {
	var out []Candidate
	for _, l := range layouts {
		for _, n := range mtp {
			out = append(out, Candidate{Layout: l, Copies: devices / l.Devices, MTP: n})
		}
	}
	return out
}
