package table

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/roofline"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// light is what no kernel of a device can beat: its peaks and its innermost
// link, without launches and latencies.
type light struct {
	matrix [dtype.Formats]float64 // seconds per operation
	memory float64                // per byte
	link   float64                // per byte
	node   int32                  // devices that the link joins
}

func newLight(p *device.Profile) light {
	l := light{memory: 1 / float64(p.Bandwidth), node: int32(p.Node)}
	for f := dtype.F32; f < dtype.Formats; f++ {
		l.matrix[f] = 1 / math.Max(1, float64(roofline.Peak(&p.Matrix, f)))
	}
	if n := len(p.Links); n > 0 {
		l.link = 1 / float64(p.Links[n-1].Bandwidth)
	}
	return l
}

// of is the least time of an operator.
func (l *light) of(o *op.Op) float64 {
	if o.Kind == op.Collective {
		return l.wire(o)
	}
	w := o.Work()
	return math.Max(float64(w.Matrix)*l.matrix[w.MatrixIn], float64(w.Bytes)*l.memory)
}

// wire is the least time of a collective. Switches that add (NVLink SHARP) let an
// all-reduce send its payload once.
func (l *light) wire(o *op.Op) float64 {
	n := float64(o.Group.Size)
	t := float64(o.Payload) * l.link
	switch o.Comm {
	case op.AllGather:
		return t * (n - 1)
	case op.ReduceScatter:
		return t * (n - 1) / n
	case op.AllReduce, op.AllToAll, op.SendRecv, op.NoComm:
	}
	return t
}

// Limit is the least time that the data sheet of a device allows an operator: its peaks
// and the links that a collective crosses, without launches and latencies.
type Limit struct {
	light light
	links *roofline.Model
}

// NewLimit prepares the limits of a device.
func NewLimit(p *device.Profile) *Limit {
	return &Limit{newLight(p), roofline.New(p, roofline.Settings{})}
}

// Of is the least time of an operator.
func (l *Limit) Of(o *op.Op) units.Seconds {
	at := l.light
	if o.Kind == op.Collective {
		bandwidth, _, _ := l.links.Link(o.Group)
		at.link = 1 / bandwidth
	}
	return units.Seconds(at.of(o))
}

// cacheBytes is the traffic up to which a benchmark that repeats one kernel may
// find its operands in the last-level cache: about that of the largest GPUs
// (H200 50 MiB, B200 126 MiB). Tables of block-scaled products were measured on
// one copy of the weights.
const cacheBytes = 128 << 20

// slack is how far a measurement may lie under the limit by the errors of a
// clock and of a data sheet's rounding.
const slack = 0.97

// possible reports whether operators can take so little time together, and the
// least they take from memory.
func (l *light) possible(ops []op.Op, seconds float64) (least float64, ok bool) {
	var arithmetic, bytes float64
	for i := range ops {
		o := &ops[i]
		least += l.of(o)
		if o.Kind == op.Collective {
			arithmetic += l.wire(o)
			continue
		}
		w := o.Work()
		arithmetic += float64(w.Matrix) * l.matrix[w.MatrixIn]
		bytes += float64(w.Bytes)
	}
	if seconds < slack*arithmetic {
		return least, false
	}
	return least, bytes <= cacheBytes || seconds >= slack*least
}
