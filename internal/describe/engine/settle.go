package engine

import (
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// Tier is a set of defaults for some devices or models; a zero changes nothing.
type Tier struct {
	// Below and Generations select devices: those with less memory than Below (0 is any)
	// and of one of the Generations (none is any). Families select models (none is any).
	Below       units.Bytes
	Generations []string
	Families    []string

	TokenBudget  int
	MaxSequences int
	GraphBatch   int
	// WideGraphBatch is GraphBatch for replicas of four devices and more.
	WideGraphBatch int
	// SetAside replaces the fixed part of the ShareRule.
	SetAside units.Bytes
}

// wide is the number of devices from which a replica is wide.
const wide = 4

// mostPeers is the maximum number of devices that add workspace: no published log has more than
// eight.
const mostPeers = 8

// ShareRule derives MemoryShare from the memory the engine reserves for activations
// and graphs: Fixed + PerToken·TokenBudget + PerGraph·Graph.MaxBatch +
// PerDevice·devices, and no less than Least where the device has more than
// LeastAbove.
type ShareRule struct {
	Fixed, PerToken, PerGraph, PerDevice units.Bytes
	Least, LeastAbove                    units.Bytes
}

// On returns the profile with the defaults the engine chooses for a family of models on a
// device when a replica takes so many of them (TP × DP × PP). The first tier that fits
// counts. Values replaced by With stay.
func (p *Profile) On(d *device.Profile, devices int, family string) *Profile {
	q := *p
	for _, t := range p.Tiers {
		if t.fits(d, family) {
			t.apply(&q, devices)
			break
		}
	}
	if n := q.Graph.PerSequence; n > 0 && !q.Graph.Given {
		q.Graph.MaxBatch = min(q.Graph.MaxBatch, n*q.MaxSequences)
	}
	if r := q.ShareRule; r != nil && d.Memory > 0 {
		q.MemoryShare = r.share(&q, d.Memory, devices)
	}
	if devices > 1 {
		q.Workspace += q.Communication + q.PerPeer*units.Bytes(min(devices, mostPeers))
	}
	q.Tiers, q.ShareRule, q.Communication, q.PerPeer = nil, nil, 0, 0
	return &q
}

func (t *Tier) fits(d *device.Profile, family string) bool {
	return (t.Below == 0 || d.Memory < t.Below) &&
		(len(t.Generations) == 0 || slices.Contains(t.Generations, d.Generation)) &&
		(len(t.Families) == 0 || slices.Contains(t.Families, family))
}

func (t *Tier) apply(p *Profile, devices int) {
	set := func(dst *int, value int) {
		if value > 0 {
			*dst = value
		}
	}
	set(&p.TokenBudget, t.TokenBudget)
	set(&p.MaxSequences, t.MaxSequences)
	set(&p.Graph.MaxBatch, t.GraphBatch)
	if t.GraphBatch > 0 && len(t.Families) > 0 { // for any number of sequences
		p.Graph.PerSequence = 0
	}
	if devices >= wide {
		set(&p.Graph.MaxBatch, t.WideGraphBatch)
	}
	if t.SetAside > 0 && p.ShareRule != nil {
		rule := *p.ShareRule
		rule.Fixed = t.SetAside
		p.ShareRule = &rule
	}
}

// share is the rule's share, to three digits as the engines round it.
func (r *ShareRule) share(p *Profile, memory units.Bytes, devices int) float64 {
	aside := r.Fixed + r.PerToken*units.Bytes(p.TokenBudget) + r.PerGraph*units.Bytes(p.Graph.MaxBatch) +
		r.PerDevice*units.Bytes(devices)
	if memory > r.LeastAbove {
		aside = max(aside, r.Least)
	}
	const digits = 1000
	return max(math.Round(float64((memory-aside)/memory)*digits)/digits, 1./digits)
}
