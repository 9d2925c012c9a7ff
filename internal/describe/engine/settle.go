package engine

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Tier is a set of defaults for some devices or models; a zero changes nothing.
type Tier struct {
	// Below and Generations select devices: those with less memory than Below (0 is any)
	// and of one of the Generations (none is any). Families select models (none is any).
	Below       units.Bytes `key:"below_gib"`
	Generations []string
	Families    []string

	TokenBudget  int
	MaxSequences int
	GraphBatch   int
	// WideGraphBatch is GraphBatch for replicas of four devices and more.
	WideGraphBatch int
	// SetAside replaces the fixed part of the ShareRule.
	SetAside units.Bytes `key:"set_aside_gib"`
}

// Wide is the number of devices from which a replica is wide.
const Wide = 4

// mostPeers is the maximum number of devices that add workspace: no published log has more than
// eight.
const mostPeers = 8

// ShareRule derives MemoryShare from the memory the engine reserves for activations
// and graphs: Fixed + PerToken·TokenBudget + PerGraph·Graph.MaxBatch +
// PerDevice·devices, with data-parallel attention PerRankGraph·Graph.MaxBatch·ranks, and
// PerRankLarge more where MaxBatch is above LargeGraph; no less than Least where the device has more than
// LeastAbove; and Drafts on top. With Sides a worker for prompts alone has no graphs, and one that only decodes counts the tokens
// of a decode step, 2048 at least. A model that sees images has Vision of the share that is left.
type ShareRule struct {
	Fixed, PerToken, PerGraph, PerDevice units.Bytes
	PerRankGraph, PerRankLarge           units.Bytes
	LargeGraph                           int
	Least, LeastAbove                    units.Bytes
	Drafts                               units.Bytes
	Vision                               float64 `most:"1"` // 0 is 1
	Sides                                bool
}

// Use is what an engine serves, as far as its defaults follow from it.
type Use struct {
	Devices int          // of a replica
	Ranks   int          // data-parallel ranks that share experts
	Model   *model.Model // nil is unknown
	Drafts  int          // tokens drafted in a step
	Side    Side
}

// Side is the part of requests that a worker computes.
type Side int

// The sides.
const (
	Both Side = iota
	Prompts
	Decodes
)

// Serving is the use of a model by a replica of so many devices and data-parallel ranks. Ranks of a dense model
// are engines of their own.
func Serving(m *model.Model, devices, ranks, drafts int) Use {
	u := Use{Devices: devices, Ranks: max(1, ranks), Model: m, Drafts: drafts}
	if !m.HasExperts() {
		u.Devices, u.Ranks = max(1, devices/u.Ranks), 1
	}
	return u
}

func (u *Use) family() string {
	if u.Model == nil {
		return ""
	}
	return u.Model.Family
}

// recurrent reports a model with recurrent layers.
func (u *Use) recurrent() bool { return u.Model != nil && Classify(u.Model) == Linear }

// On returns the profile with the defaults the engine chooses for a use on a device. The first tier that fits
// counts. Values replaced by With stay.
func (p *Profile) On(d *device.Profile, u Use) *Profile {
	q, devices := *p, u.Devices
	for _, t := range p.Tiers {
		if t.fits(d, u.family()) {
			t.apply(&q, devices)
			break
		}
	}
	if u.recurrent() {
		q.Recurrent.caching(&q, &u)
		q.Recurrent.apply(&q, d, &u)
	}
	if n := q.Graph.PerSequence; n > 0 && !q.Graph.Given {
		q.Graph.MaxBatch = min(q.Graph.MaxBatch, n*q.MaxSequences)
	}
	if r := q.ShareRule; r != nil && d.Memory > 0 {
		q.MemoryShare = r.share(&q, d.Memory, &u)
	}
	if devices > 1 {
		q.Workspace += q.Communication + q.PerPeer*units.Bytes(min(devices, mostPeers))
	}
	q.Tiers, q.ShareRule, q.Communication, q.PerPeer = nil, nil, 0, 0
	return &q
}

// caching says whether there is a prefix cache of a model with recurrent layers: what is not on by default may be asked for. A model without
// other layers has none by default in any release (vllm/config/model.py, is_prefix_caching_supported).
func (r *Recurrent) caching(p *Profile, u *Use) {
	alone := r.AskedUntil != "" && !slices.ContainsFunc(u.Model.Kinds, func(k model.Layer) bool { return k.Attention.KVElements() > 0 })
	if r.None || !p.CachingGiven && (r.AskedFor || alone) {
		p.PrefixCaching = false
	}
}

// CutsFor reports that an engine cuts the prompts of a model at the ends of blocks where it has a prefix cache: one of recurrent layers
// keeps the states there. That takes a step more for each prompt, which is not predicted.
func (p *Profile) CutsFor(m *model.Model) bool { return p.Recurrent.Cuts && Classify(m) == Linear }

// apply is what follows for a model with recurrent layers, where the engine bounds their states.
func (r *Recurrent) apply(p *Profile, d *device.Profile, u *Use) {
	if r.Slots == 0 {
		return
	}
	own := slices.Contains(r.Unbuffered, u.family())
	refused := !own && slices.Contains(r.RefusedOn, string(d.Vendor))
	if (own || refused) && !r.Given {
		const buffers = 2 // MAMBA_CACHE_V2_ADDITIONAL_RATIO_OVERLAP
		r.Slots -= buffers
	}
	if own || refused {
		r.Overlapped, r.Unbuffered = false, nil
	}
	if u.Drafts > 0 && !r.Drafts || slices.Contains(r.Uncached, u.family()) {
		p.PrefixCaching = false
	}
	p.OverlapOff = refused && p.PrefixCaching
	if p.PrefixCaching && !r.Overlapped && !p.ExposedGiven {
		p.Exposed = 1
	}
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
	if devices >= Wide {
		set(&p.Graph.MaxBatch, t.WideGraphBatch)
	}
	if t.SetAside > 0 && p.ShareRule != nil {
		p.ShareRule = copied(p.ShareRule)
		p.ShareRule.Fixed = t.SetAside
	}
}

// share is the rule's share, to three digits as the engines round it.
func (r *ShareRule) share(p *Profile, memory units.Bytes, u *Use) float64 {
	tokens, batch := p.TokenBudget, units.Bytes(p.Graph.MaxBatch)
	switch {
	case r.Sides && u.Side == Prompts:
		batch = 0
	case r.Sides && u.Side == Decodes:
		const least = 2048
		n := p.Graph.MaxBatch
		if p.SequencesGiven {
			n = p.MaxSequences * max(1, u.Ranks)
		}
		tokens = max(least, n*(1+u.Drafts))
	}
	aside := r.Fixed + r.PerToken*units.Bytes(tokens) + r.PerGraph*batch + r.PerDevice*units.Bytes(u.Devices)
	if u.Ranks > 1 {
		each := r.PerRankGraph
		if p.Graph.MaxBatch > r.LargeGraph {
			each += r.PerRankLarge
		}
		aside += each * batch * units.Bytes(u.Ranks)
	}
	if memory > r.LeastAbove {
		aside = max(aside, r.Least)
	}
	if u.Drafts > 0 {
		aside += r.Drafts
	}
	const digits = 1000
	share := math.Round(float64((memory-aside)/memory)*digits) / digits
	if r.Vision > 0 && u.Model != nil && u.Model.Vision != nil {
		share *= r.Vision * towerShare(u.Model.Vision)
	}
	return max(share, 1./digits)
}

// towerShare is how SGLang corrects the share that models with images have: by a tenth for each time that their tower
// is larger than that of CLIP ViT-L, from 0.8 to 1.05. It knows a tower by num_hidden_layers and hidden_size, and one without
// them as that (server_args.py, adjust_mem_fraction_for_vlm).
func towerShare(v *model.Vision) float64 {
	const layers, width, least, most = 24, 1024, 0.8, 1.05
	size := float64(cmp.Or(v.PlainLayers, layers)) * math.Pow(float64(cmp.Or(v.PlainHidden, width)), 2) / (layers * width * width)
	return min(max(1-0.1*(size-1), least), most)
}
