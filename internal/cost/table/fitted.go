package table

import (
	"math"
	"slices"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Fitted is the surfaces of one system: of each kind of kernel and its exact sizes
// the ratio of measured to estimated time, smoothed and thinned. They are decoded
// on first use. Safe for concurrent use.
type Fitted struct {
	Measured
	// Base names what the estimates rest on that the ratios are to.
	Base  string
	Parts []*Part
}

// Measured is the system whose kernels were measured, as far as one must know to use
// its surfaces for others.
type Measured struct {
	System, Generation string
	// Bandwidth is that of its memory, Peak its arithmetic in bfloat16, and Link its
	// innermost link.
	Bandwidth, Peak, Link float64
}

// MeasuredOn describes a device.
func MeasuredOn(p *device.Profile) Measured {
	m := Measured{System: p.Name, Generation: p.Generation, Bandwidth: float64(p.Bandwidth), Peak: float64(p.Matrix[dtype.BF16])}
	if n := len(p.Links); n > 0 {
		m.Link = float64(p.Links[n-1].Bandwidth)
	}
	return m
}

// Part is the surfaces of one kind of kernel.
type Part struct {
	Family family
	In, KV format
	Data   []byte // compressed

	mu      sync.Mutex
	shelves []fittedShelf           // nil before the first use
	decoded map[[2]float64][]source // by exact sizes
	err     error
}

// kind is the group of the part, without exact sizes.
func (p *Part) kind() group { return group{family: p.Family, in: p.In, kv: p.KV} }

// sources are the curves of some exact sizes.
func (p *Part) sources(exactly [2]float64) ([]source, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decoded == nil {
		p.decoded = map[[2]float64][]source{}
		p.shelves, p.err = decode(p.Data)
	}
	if out, ok := p.decoded[exactly]; ok || p.err != nil {
		return out, p.err
	}
	var out []source
	if at := slices.IndexFunc(p.shelves, func(s fittedShelf) bool { return s.Exactly == exactly }); at >= 0 {
		for _, s := range p.shelves[at].Sources {
			sites, ok := s.curves(p.Family == expertLayers)
			if !ok {
				p.err = errDamaged
			}
			out = append(out, source{s.From, sites})
		}
	}
	p.decoded[exactly] = out
	return out, p.err
}

// Families are the names of the kinds of kernels there are surfaces of.
func (f *Fitted) Families() []string {
	var out []string
	for _, p := range f.Parts {
		kind := p.kind()
		out = append(out, kind.title())
	}
	return out
}

// sources are the curves of a group, those of one fit.
func (f *Fitted) sources(g group) ([]source, error) {
	for _, p := range f.Parts {
		if p.Family == g.family && p.In == g.in && p.KV == g.kv {
			return p.sources(g.exactly)
		}
	}
	return nil, nil
}

// step is the resolution of ratios, in logarithms.
const step = 0.01

// quantum is a ratio in steps.
func quantum(ratio float64) int { return int(math.Round(ratio / step)) }

// value is the ratio of so many steps.
func value(quantum int) float64 { return step * float64(quantum) }

// axis is a size as files hold it: not its logarithm, so that it is a short number
// and comes back to the last bit if it is a whole one.
func axis(log float64) float32 {
	x := math.Exp2(log)
	if near := math.Round(x); math.Abs(x-near) < 1e-9*near {
		x = near
	}
	return float32(x)
}

// position is the logarithm of a size.
func position(axis float32) float64 { return math.Log2(float64(axis)) }
