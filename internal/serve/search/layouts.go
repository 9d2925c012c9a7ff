package search

import (
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// Axes are the sizes to combine into layouts. A size may depend on those before it, in
// the order of the fields.
type Axes struct {
	Devices                []int
	TP, PP, EP, MoEDP, DCP func(parallel.Layout) []int
	DP, MoETP              []int // allowed; nil is any
	Experts                bool  // without experts their sizes are 1
}

// Layouts lists the combinations that use exactly their devices, in the order of the
// fields of [Axes]. None comes twice.
func (a *Axes) Layouts() []parallel.Layout {
	all := make([]parallel.Layout, 0, len(a.Devices))
	for _, n := range a.Devices {
		all = append(all, parallel.Layout{Devices: n, TP: 1, DP: 1, PP: 1, EP: 1, MoETP: 1, MoEDP: 1, DCP: 1})
	}
	all = cross(all, a.TP, func(l *parallel.Layout, n int) bool {
		l.TP = n
		return l.Devices%n == 0
	})
	all = cross(all, a.PP, func(l *parallel.Layout, n int) bool {
		l.PP, l.DP = n, l.Devices/(l.TP*n)
		return l.TP*l.DP*n == l.Devices && (a.DP == nil || slices.Contains(a.DP, l.DP))
	})
	if a.Experts {
		all = cross(all, a.EP, func(l *parallel.Layout, n int) bool {
			l.EP = n
			return true
		})
		all = cross(all, a.MoEDP, func(l *parallel.Layout, n int) bool {
			l.MoEDP, l.MoETP = n, l.Devices/(l.EP*l.PP*n)
			return l.EP*l.MoETP*l.PP*n == l.Devices && (a.MoETP == nil || slices.Contains(a.MoETP, l.MoETP))
		})
	}
	return cross(all, a.DCP, func(l *parallel.Layout, n int) bool {
		l.DCP = n
		return l.TP%n == 0
	})
}

// cross combines layouts with the sizes of one more dimension and keeps what fits.
func cross(all []parallel.Layout, sizes func(parallel.Layout) []int, set func(*parallel.Layout, int) bool) []parallel.Layout {
	var out []parallel.Layout
	for _, l := range all {
		var seen []int
		for _, n := range sizes(l) {
			next := l
			if n > 0 && !slices.Contains(seen, n) && set(&next, n) {
				seen, out = append(seen, n), append(out, next)
			}
		}
	}
	return out
}

// fixed is the same sizes for every layout.
func fixed(sizes ...int) func(parallel.Layout) []int {
	return func(parallel.Layout) []int { return sizes }
}

// Powers are the powers of two up to a number.
func Powers(most int) []int {
	var out []int
	for n := 1; n <= most; n *= 2 {
		out = append(out, n)
	}
	return out
}

// Sizes are lists of sizes to try in the dimensions of a layout. A list that is nil is
// what [Machine.Layouts] tries.
type Sizes struct {
	Devices []int `json:"num_gpu,omitempty"`
	TP      []int `json:"tp,omitempty"`
	PP      []int `json:"pp,omitempty"`
	DP      []int `json:"dp,omitempty"`
	MoETP   []int `json:"moe_tp,omitempty"`
	EP      []int `json:"moe_ep,omitempty"`
}

// Machine is what devices are connected by: Domain of them share the fastest links, Node
// a server.
type Machine struct{ Domain, Node int }

// Layouts lists the workers that serving engines run on up to a number of devices, a
// power of two each. Attention and dense layers are cut over the devices of a node. What
// a node does not hold goes beyond it: experts are spread whole over any number of
// devices, or in slices within a node; the layers of any model are cut into stages of a
// node each. Data-parallel ranks of a dense model are workers of their own, so that it has
// none. Lists given in s replace these sizes.
func (m Machine) Layouts(devices int, experts bool, s *Sizes) []parallel.Layout {
	node := max(1, m.Node, m.Domain)
	whole := power(node)
	a := Axes{
		Devices: slices.DeleteFunc(slices.Clone(given(s.Devices, Powers(devices))), func(n int) bool { return n > devices }),
		DP:      s.DP, MoETP: s.MoETP, Experts: experts, MoEDP: fixed(1), DCP: fixed(1),
	}
	if !experts {
		a.DP = given(s.DP, []int{1})
	}
	a.TP = func(l parallel.Layout) []int { return given(s.TP, Powers(min(l.Devices, node))) }
	a.PP = func(l parallel.Layout) []int {
		return given(s.PP, slices.DeleteFunc(Powers(l.Devices/l.TP), func(n int) bool {
			return n > 1 && l.Devices/n != whole
		}))
	}
	a.EP = func(l parallel.Layout) []int {
		stage := l.Devices / l.PP
		if stage > node {
			return given(s.EP, []int{stage})
		}
		return given(s.EP, []int{1, stage})
	}
	return a.Layouts()
}

// power is the largest power of two up to a number.
func power(n int) int { return 1 << (bits.Len(uint(max(1, n))) - 1) }

// given is a list, or its default.
func given[T any](list, otherwise []T) []T {
	if list != nil {
		return list
	}
	return otherwise
}

// Fitting splits layouts into those that pass a check and those that do not, each with
// its error. Stages are for models that one does not hold: unless all are asked for, of
// layouts that differ in nothing else those with more stages than pass are left out, but
// for twice as many where one is not enough.
func Fitting(layouts []parallel.Layout, all bool, check func(parallel.Layout) error) (fit []parallel.Layout, rejected []Rejected) {
	fewest := map[parallel.Layout]int{} // stages that pass, by the layout of one
	for _, l := range layouts {
		stage := l
		stage.Devices, stage.PP = l.Devices/l.PP, 1
		if n, ok := fewest[stage]; ok && !all && (n == 1 || l.PP > 2*n) {
			continue
		}
		if err := check(l); err != nil {
			rejected = append(rejected, Rejected{l, err})
			continue
		}
		if _, ok := fewest[stage]; !ok {
			fewest[stage] = l.PP
		}
		fit = append(fit, l)
	}
	return fit, rejected
}

// Rejected is a layout that cannot be run, and why.
type Rejected struct {
	Layout parallel.Layout
	Err    error
}

// Closest is the rejected layout that comes nearest to running: of those that leave no
// room for a cache the one that needs the least of a device, else the last. There must be
// one.
func Closest(rejected []Rejected) Rejected {
	best, least := rejected[len(rejected)-1], math.Inf(1)
	for _, r := range rejected {
		var e *replica.NoCacheError
		if errors.As(r.Err, &e) && e.Over() < least {
			best, least = r, e.Over()
		}
	}
	return best
}
