package roofline

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// anyProfile draws a device with up to four levels of links.
func anyProfile(t *rapid.T) *device.Profile {
	p := &device.Profile{Bandwidth: 1e12, ComputeEfficiency: 0.5, MemoryEfficiency: 0.8}
	p.Matrix[dtype.F16], p.Vector[dtype.F32] = 1e14, 1e13
	for range rapid.IntRange(0, 4).Draw(t, "levels") {
		p.Links = append(p.Links, device.Link{
			Size:       rapid.IntRange(2, 8).Draw(t, "size"),
			Bandwidth:  units.BytesPerSecond(rapid.IntRange(1, 900).Draw(t, "GB/s")) * 1e9,
			Latency:    units.Seconds(rapid.IntRange(0, 50).Draw(t, "µs")) * 1e-6,
			Efficiency: 0.5,
			Topology:   rapid.SampledFrom([]device.Topology{device.Clos, device.FullMesh}).Draw(t, "topology"),
		})
	}
	return p
}

// anyGroup draws a group that lies on the device's grid.
func anyGroup(t *rapid.T, p *device.Profile) parallel.Group {
	stride := rapid.IntRange(1, max(1, p.Ranks()/2)).Draw(t, "stride")
	size := rapid.IntRange(2, max(2, (p.Ranks()-1)/stride+1)).Draw(t, "ranks")
	return parallel.Group{Size: int32(size), Stride: int32(stride)}
}

// outermost finds the level on which members of a group differ by laying out
// every rank, row-major; -1 is none.
func outermost(p *device.Profile, g parallel.Group) int {
	best := -1
	for member := range int(g.Size) {
		rank := member * int(g.Stride)
		for i, l := range slices.Backward(p.Links) {
			if rank%l.Size != 0 && (best == -1 || i < best) {
				best = i
			}
			rank /= l.Size
		}
	}
	return best
}

// TestLinkIsTheOutermostCrossed: a collective runs at the speed of the outermost
// level its members lie apart on; in a full mesh at its share of the links.
func TestLinkIsTheOutermostCrossed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile(t)
		if len(p.Links) == 0 {
			t.Skip("no links")
		}
		g := anyGroup(t, p)
		if int(g.Size-1)*int(g.Stride) >= p.Ranks() {
			t.Skip("off the grid")
		}
		i := outermost(p, g)
		l := p.Links[i]
		inside := 1
		for _, inner := range p.Links[i:] {
			inside *= inner.Size
		}
		want := float64(l.Bandwidth) * l.Efficiency
		if l.Topology == device.FullMesh {
			want *= float64(g.Size-1) / float64(inside-1)
		}
		bandwidth, latency := New(p, Settings{}).link(g)
		if math.Abs(bandwidth/want-1) > 1e-12 || latency != float64(l.Latency) {
			t.Errorf("%+v on level %d: want %g B/s, got %g; latency %g", g, i, want, bandwidth, latency)
		}
	})
}

// TestCollectiveLaws: no pattern beats what its wire must carry, none is slower on
// a payload half as large, and a device without links only launches.
func TestCollectiveLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile(t)
		p.Fixed.Communication = 3e-6
		o := op.Op{
			Kind: op.Collective, Group: anyGroup(t, p),
			Comm:    op.Comm(rapid.IntRange(int(op.AllReduce), int(op.SendRecv)).Draw(t, "pattern")),
			Payload: units.Bytes(rapid.IntRange(1, 1<<30).Draw(t, "payload")),
		}
		m := New(p, Settings{})
		whole := m.Cost(&o)
		if len(p.Links) == 0 && whole.Total != p.Fixed.Communication {
			t.Errorf("without links: %v", whole.Total)
		}
		n := float64(o.Group.Size)
		bandwidth, latency := m.link(o.Group)
		if least := float64(o.Payload)*(n-1)/n/bandwidth + latency; float64(whole.Comm) < least*(1-1e-9) {
			t.Errorf("%v is below %v", whole.Comm, units.Seconds(least))
		}
		half := o
		half.Payload /= 2
		if less := m.Cost(&half); less.Total > whole.Total {
			t.Errorf("half the payload takes %v, the whole %v", less.Total, whole.Total)
		}
		o.Bytes = units.Bytes(2 * float64(whole.Total) / m.memory)
		if slow := m.Cost(&o); slow.Total < 2*whole.Total {
			t.Errorf("memory needs %v, the collective %v", slow.Memory, slow.Total)
		}
	})
}

// TestUnsupportedFormats: what the device has no unit for runs on the next wider
// format it does have, or is free where that is the policy.
func TestUnsupportedFormats(t *testing.T) {
	product := func(f dtype.Format) *op.Op {
		return &op.Op{Kind: op.GEMM, In: f, VectorIn: f, Rows: 1e3, Depth: 1e3, Cols: 1e3}
	}
	const work = 2e9
	for _, c := range []struct {
		has  map[dtype.Format]units.OpsPerSecond
		want map[dtype.Format]units.OpsPerSecond
	}{
		{
			map[dtype.Format]units.OpsPerSecond{dtype.F32: 1e12, dtype.BF16: 2e12, dtype.INT8: 8e12},
			map[dtype.Format]units.OpsPerSecond{
				dtype.F32: 1e12, dtype.BF16: 2e12, dtype.F16: 2e12, dtype.FP8: 2e12, dtype.INT8: 8e12, dtype.FP4: 2e12, dtype.INT4: 8e12,
			},
		},
		{
			map[dtype.Format]units.OpsPerSecond{dtype.F16: 2e12, dtype.FP8: 4e12},
			map[dtype.Format]units.OpsPerSecond{
				dtype.F32: 2e12, dtype.BF16: 2e12, dtype.F16: 2e12, dtype.FP8: 4e12, dtype.INT8: 2e12, dtype.FP4: 4e12, dtype.INT4: 2e12,
			},
		},
	} {
		p := &device.Profile{Bandwidth: 1e30, ComputeEfficiency: 1, MemoryEfficiency: 1}
		p.Fixed = device.Fixed{Matrix: 5e-6, Vector: 2e-6}
		for f, rate := range c.has {
			p.Matrix[f] = rate
		}
		strict, free := New(p, Settings{}), New(p, Settings{FreeUnsupported: true})
		for f, rate := range c.want {
			if got, want := strict.Cost(product(f)).Matrix, units.Seconds(work/float64(rate)); math.Abs(float64(got/want)-1) > 1e-12 {
				t.Errorf("%v: want %v, got %v", f, want, got)
			}
			e := free.Cost(product(f))
			if has := c.has[f] > 0; (e.Matrix > 0) != has || has && e.Fixed != 5e-6 || !has && e.Fixed == 5e-6 {
				t.Errorf("%v, free where unsupported: got %+v", f, e)
			}
		}
	}
}

// TestNothingCostsNothing: an operator without work has no launch either.
func TestNothingCostsNothing(t *testing.T) {
	p := &device.Profile{Bandwidth: 1e12, ComputeEfficiency: 1, MemoryEfficiency: 1, Fixed: device.Fixed{Matrix: 1, Vector: 1}}
	if e := New(p, Settings{}).Cost(&op.Op{}); e.Total != 0 || e.Bound().String() != "free" {
		t.Errorf("got %+v", e)
	}
	launches := New(p, Settings{}).Cost(&op.Op{Bytes: 1, Launches: 15})
	if launches.Fixed != 16 {
		t.Errorf("sixteen launches: got %v", launches.Fixed)
	}
}
