package table

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/perfdata"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// Tables are the measured kernels of one device. A table is read when an
// operator first needs it, and only the rows of its number format and shape are
// kept. Safe for concurrent use.
type Tables struct {
	system *perfdata.System
	sel    perfdata.Selection
	fitted *Fitted     // surfaces in the place of a directory; nil for none
	base   cost.Coster // what the ratios are to
	light  light

	// trusted are the kinds of kernels that surfaces price; of a directory all.
	trusted [families][formats][formats]bool
	// noAttention and noLatent say that no trusted surface is of these operators.
	noAttention, noLatent bool

	mu     sync.Mutex
	groups map[group][]source
	uses   map[string]*Use
	errs   map[string]error // by path
	// known are the answers found so far; it is replaced, never changed, so that
	// looking into it takes no lock.
	known atomic.Pointer[map[key]*resolved]
	// recent are the latest answers, by a hash of the key.
	recent [1 << recentBits]atomic.Pointer[resolved]
}

const recentBits = 8

// Use is what was taken from one table.
type Use struct {
	Path     string `json:"path"`
	Rows     int    `json:"rows_kept"`
	Of       int    `json:"rows"`            // in the file
	Rejected int    `json:"rows_rejected"`   // faster than the device can be
	Distrust int    `json:"rows_distrusted"` // of kernels with many such rows
	// Worst is the rejected row that is furthest off, WorstShare its time as a share
	// of what the device needs at least; 1 where none is.
	Worst      string  `json:"worst_rejected,omitempty"`
	WorstShare float64 `json:"-"`
}

// New prepares the tables of a system for a device whose operators base
// estimates.
func New(s *perfdata.System, sel perfdata.Selection, p *device.Profile, base cost.Coster) *Tables {
	t := newTables(p, base)
	t.system, t.sel = s, sel
	return t
}

// NewFitted prepares surfaces in the place of tables, those of the families that
// trusted names, for a device whose operators base estimates.
func NewFitted(f *Fitted, trusted func(family string) bool, p *device.Profile, base cost.Coster) *Tables {
	t := newTables(p, base)
	t.fitted = f
	for _, part := range f.Parts {
		k := part.kind()
		t.trusted[k.family][k.in][k.kv] = trusted(k.title())
	}
	t.noAttention = !t.trusts(prefills, decodes)
	t.noLatent = !t.trusts(latentPrefills, latentDecodes)
	return t
}

// trusts reports whether any kernel of some families is priced by surfaces.
func (t *Tables) trusts(of ...family) bool {
	return slices.ContainsFunc(of, func(f family) bool { return t.trusted[f] != [formats][formats]bool{} })
}

// ignores reports whether tables have no data on an attention of any size.
func (t *Tables) ignores(o *op.Op) bool {
	return o.Kind == op.Attention && t.noAttention || o.Kind == op.Latent && t.noLatent
}

func newTables(p *device.Profile, base cost.Coster) *Tables {
	t := &Tables{base: base, light: newLight(p), groups: map[group][]source{}, uses: map[string]*Use{}, errs: map[string]error{}}
	t.known.Store(&map[key]*resolved{})
	return t
}

// Err is what went wrong in reading, nil if nothing did. Costs given after a
// failure are those of the other coster.
func (t *Tables) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []error
	for _, path := range slices.Sorted(maps.Keys(t.errs)) {
		out = append(out, t.errs[path])
	}
	return errors.Join(out...)
}

// Uses says what was read so far, by path.
func (t *Tables) Uses() []Use {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Use
	for _, u := range t.uses {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b Use) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// group is the rows read together: a family of tables, number formats, and the
// sizes that must agree exactly.
type group struct {
	family  family
	in, kv  format
	exactly [2]float64
}

// key is a group and a place among its sites, in few bits, as it is looked up for
// every operator.
type key struct {
	kind    uint32    // the family and the formats
	exactly [2]uint32 // of the group, and …
	place   [2]uint32 // … sizes of the site, as float32
}

// at is the place of a group whose sites have these sizes.
func (g *group) at(a, b float64) key {
	return key{
		kind:    uint32(g.family)<<16 | uint32(g.in)<<8 | uint32(g.kv),
		exactly: [2]uint32{math.Float32bits(float32(g.exactly[0])), math.Float32bits(float32(g.exactly[1]))},
		place:   [2]uint32{math.Float32bits(float32(a)), math.Float32bits(float32(b))},
	}
}

func (k *key) family() family { return family(k.kind >> 16) }

// group is the key's, and place the logarithms of its sizes.
func (k *key) group() (g group, place [2]float64) {
	size := func(bits uint32) float64 { return float64(math.Float32frombits(bits)) }
	g = group{family: k.family(), in: format(k.kind >> 8), kv: format(k.kind), exactly: [2]float64{size(k.exactly[0]), size(k.exactly[1])}}
	return g, [2]float64{math.Log2(size(k.place[0])), math.Log2(size(k.place[1]))}
}

// blend is what one kernel source says at a place: its curves there or near by,
// and their weights.
type blend struct {
	from   string
	sites  [nearSites]*site
	weight [nearSites]float64
}

// find returns the logarithm of measured over estimated time at a point of a
// key's curves, the least of all kernel sources, and whose it is.
func (t *Tables) find(k key, at point) (ratio float64, from string, ok bool) {
	if t.fitted != nil && !t.trusted[k.family()][format(k.kind>>8)][format(k.kind)] {
		return 0, "", false
	}
	blends := t.recall(k)
	best := answer{}
	for i := range blends {
		a := blends[i].at(at)
		if a.better(&best) {
			best, from = a, blends[i].from
		}
	}
	return best.ratio, from, best.ok
}

// resolved is what is known of a key.
type resolved struct {
	key    key
	blends []blend
}

// recall finds the blends of a key: usually where they were last, a few operators
// being priced over and over.
func (t *Tables) recall(k key) []blend {
	h := (uint64(k.kind)<<32 | uint64(k.exactly[0])) * 0x9e3779b97f4a7c15
	h ^= uint64(k.place[0])<<32 | uint64(k.place[1])
	h = (h ^ uint64(k.exactly[1])) * 0x9e3779b97f4a7c15
	slot := &t.recent[h>>(64-recentBits)]
	if r := slot.Load(); r != nil && r.key == k {
		return r.blends
	}
	r, known := (*t.known.Load())[k]
	if !known {
		r = t.resolve(k)
	}
	slot.Store(r)
	return r.blends
}

// answer is what one source says of a point.
type answer struct {
	ratio float64
	over  float64 // octaves beyond the grid
	ok    bool
}

// better prefers points inside the grid, then the faster kernel: engines choose
// among kernels, and which one a user's build has is seldom known.
func (a *answer) better(b *answer) bool {
	switch {
	case !a.ok || !b.ok:
		return a.ok
	case (a.over > 0) != (b.over > 0):
		return a.over == 0
	default:
		return a.ratio < b.ratio
	}
}

// at blends the curves of the sites.
func (b *blend) at(p point) answer {
	out := answer{}
	var sum float64
	for i, s := range b.sites {
		if s == nil {
			break
		}
		a := s.at(p)
		if !a.ok {
			continue
		}
		out.ok = true
		out.ratio += b.weight[i] * a.ratio
		out.over = max(out.over, a.over)
		sum += b.weight[i]
	}
	if out.ok {
		out.ratio /= sum
	}
	return out
}

// resolve finds the sites of a key, reading tables if need be, and remembers
// them.
func (t *Tables) resolve(k key) *resolved {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r, ok := (*t.known.Load())[k]; ok {
		return r
	}
	g, place := k.group()
	sources, ok := t.groups[g]
	if !ok {
		sources = t.load(g)
		t.groups[g] = sources
	}
	var out []blend
	for i := range sources {
		out = append(out, sources[i].near(place, g.family.apart())...)
	}
	if t.fitted != nil {
		out = combine(out, "surfaces of "+t.fitted.System)
	}
	grown := maps.Clone(*t.known.Load())
	grown[k] = &resolved{k, out}
	t.known.Store(&grown)
	return grown[k]
}
