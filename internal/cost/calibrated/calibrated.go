package calibrated

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/roofline"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Model costs operators on one GPU. It is immutable and safe for concurrent
// use; Cost allocates nothing.
type Model struct {
	tier   device.Tier
	c      Constants
	floor  *roofline.Model // the speed of light, and links
	matrix [dtype.Formats]float64
	vector [dtype.Formats]float64
	memory float64
}

// source is whose constants a generation takes, for its kernels and for its links,
// and how well that is known.
type source struct {
	kernels, links string
	tier           device.Tier
}

// fitted finds the constants of a generation. Of blackwell-ultra, ampere and ada
// kernels were measured, but no deployment: engines are as unknown there as with a
// relative's kernels. Of cdna3 and cdna4 deployments were measured, but no kernel. Cards of turing, ampere-ga102 and blackwell-rtx exchange over
// PCIe, which was measured with ada. RTX Blackwell runs the kernels of Ada, without
// the tensor memory that those of blackwell need. Of ascend-a3 kernels and collectives were measured. TPUs, NeuronCores and Apple's GPUs
// have no relative here: they are priced by their data sheets.
func fitted(generation string) (source, bool) {
	switch generation {
	case "hopper", "blackwell":
		return source{generation, generation, device.Calibrated}, true
	case "blackwell-ultra", "ampere", "ada", "cdna3", "cdna4":
		return source{generation, generation, device.Transferred}, true
	case "ascend-a3":
		return source{generation, generation, device.Transferred}, true
	case "ascend-a2", "ascend-350":
		return source{"ascend-a3", "ascend-a3", device.Transferred}, true
	case "volta":
		return source{"ampere", "ampere", device.Transferred}, true
	case "turing", "ampere-ga102":
		return source{"ampere", "ada", device.Transferred}, true
	case "blackwell-rtx":
		return source{"ada", "ada", device.Transferred}, true
	case "cdna2":
		return source{"cdna3", "cdna3", device.Transferred}, true
	case "gaudi", "gaudi2", "gaudi3", "battlemage":
		return source{"hopper", "hopper", device.Transferred}, true
	}
	return source{tier: device.Datasheet}, false
}

// constants reads them.
func (s source) constants() Constants {
	c := shipped()[s.kernels]
	if s.links != s.kernels {
		c.Comm, c.Peer = shipped()[s.links].Comm, shipped()[s.links].Peer
	}
	return c
}

// Known reports whether constants are known for a generation, its own or a
// relative's.
func Known(generation string) bool {
	_, ok := fitted(generation)
	return ok
}

// TierOf is the tier of a generation's operator times.
func TierOf(generation string) device.Tier {
	s, _ := fitted(generation)
	return s.tier
}

// Nearest are the constants used for a generation, its own or a related one's.
func Nearest(generation string) (Constants, bool) {
	s, ok := fitted(generation)
	if !ok {
		return Constants{}, false
	}
	return s.constants(), true
}

// New prepares the model of a device, or reports that no constants are known
// for its generation.
func New(p *device.Profile) (*Model, bool) {
	s, ok := fitted(p.Generation)
	if !ok {
		return nil, false
	}
	c := s.constants()
	c.atPower(p)
	m := With(p, &c)
	m.tier = s.tier
	return m, true
}

// atPower scales the shares of the matrix peaks that a device of cdna3 reaches, whose constants are MI300X's: under dense products
// clocks fall as far as the power demands. MI325X, the same cores at 1000 instead of 750 W, does 1.19 times as many operations
// per second in BF16 and in FP8 (AMD's "Measuring Max-Achievable FLOPs", part 2, 2025): the power of 0.6.
func (c *Constants) atPower(p *device.Profile) {
	const measured, exponent = 750, 0.6
	if p.Generation != "cdna3" || p.Power <= 0 {
		return
	}
	factor := math.Pow(float64(p.Power)/measured, exponent)
	for _, f := range c.Forms() {
		for _, x := range f.Parameters {
			if x.Name == "compute" {
				*x.Value = min(x.High, *x.Value*factor)
			}
		}
	}
}

// Fingerprint names what the estimates of a device's measured kernels rest on: its constants and its
// peaks. What was fitted relative to the estimates is out of date when it changes.
func Fingerprint(p *device.Profile) string {
	c, _ := Nearest(p.Generation)
	h := sha256.New()
	fmt.Fprintf(h, "%v %v %v %v [", c.Measured, p.Matrix, p.Vector, p.Bandwidth)
	for i, l := range p.Links { // the kernels were measured through the host, whatever the transport
		if i > 0 {
			fmt.Fprint(h, " ")
		}
		fmt.Fprintf(h, "{%v %v %v %v %v %v}", l.Name, l.Size, l.Bandwidth, l.Latency, l.Efficiency, l.Topology)
	}
	fmt.Fprintf(h, "] %v\n", p.Node)
	return hex.EncodeToString(h.Sum(nil))
}

// With prepares the model of a device with constants of one's own.
func With(p *device.Profile, c *Constants) *Model {
	m := &Model{tier: device.Calibrated, c: *c}
	light := *p
	light.ComputeEfficiency, light.MemoryEfficiency = 1, 1
	light.Fixed = device.Fixed{}
	m.floor = roofline.New(&light, roofline.Settings{})
	for f := dtype.F32; f < dtype.Formats; f++ {
		m.matrix[f] = 1 / max(1, float64(roofline.Peak(&p.Matrix, f)))
		m.vector[f] = 1 / max(1, float64(roofline.Peak(&p.Vector, f)))
	}
	m.memory = 1 / float64(p.Bandwidth)
	return m
}

// Tier says how well the constants are known.
func (m *Model) Tier() device.Tier { return m.tier }

const micro = 1e-6

// Cost estimates an operator.
func (m *Model) Cost(o *op.Op) cost.Estimate {
	switch o.Kind {
	case op.GEMM:
		return m.product(o)
	case op.GroupedGEMM:
		return m.experts(o)
	case op.Attention:
		if o.Rank > 0 { // all heads read one entry, key and value in one: the kernels of latent attention (FlashMLA)
			return m.attention(o, &m.c.Prefill, &m.c.Latent)
		}
		return m.attention(o, &m.c.Prefill, &m.c.Decode)
	case op.Latent:
		return m.attention(o, &m.c.Prefill, &m.c.Latent)
	case op.Recurrent:
		return m.recurrent(o)
	case op.Collective, op.Transfer:
		return m.communicate(o)
	case op.Elementwise, op.LatentPrologue:
	}
	return m.plain(o)
}

// estimate sums launch and busy time, never below the speed of light.
func (m *Model) estimate(w *op.Work, launch, matrix, vector, memory, busy float64) cost.Estimate {
	light := max(float64(w.Matrix)*m.matrix[w.MatrixIn], float64(w.Bytes)*m.memory)
	busy = max(busy, light)
	if busy == 0 {
		return cost.Estimate{}
	}
	return cost.Estimate{
		Total: units.Seconds(launch + busy), Matrix: units.Seconds(matrix), Vector: units.Seconds(vector),
		Memory: units.Seconds(memory), Fixed: units.Seconds(launch),
	}
}
