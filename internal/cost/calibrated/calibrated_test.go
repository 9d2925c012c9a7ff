package calibrated_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// gpus are the devices with fitted or transferred constants.
func gpus(t *testing.T) map[string]*calibrated.Model {
	t.Helper()
	out := map[string]*calibrated.Model{}
	for _, name := range device.Names() {
		p, err := device.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		m, ok := calibrated.New(p)
		known := p.Vendor == device.NVIDIA || p.Vendor == device.AMD || p.Vendor == device.Intel || p.Vendor == device.Ascend
		if ok != known {
			t.Errorf("%s (%s): constants known: %v", name, p.Generation, ok)
		}
		if ok {
			out[name] = m
		}
	}
	return out
}

func TestTiers(t *testing.T) {
	for name, want := range map[string]device.Tier{
		"h100_sxm": device.Calibrated, "h200_nvl": device.Calibrated, "b200_sxm": device.Calibrated,
		"a100_sxm": device.Transferred, "mi300x": device.Transferred, "b300_sxm": device.Transferred,
		"ATLAS_800_A3_752T_128G_DIE": device.Transferred, "t4": device.Transferred, "v100_sxm_16gb": device.Transferred, "rtx_5090": device.Transferred,
	} {
		if got := gpus(t)[name].Tier(); got != want {
			t.Errorf("%s: want tier %s, got %s", name, want, got)
		}
	}
	if got := calibrated.TierOf("tpu-v5e"); got != device.Datasheet {
		t.Errorf("a TPU: want tier %s, got %s", device.Datasheet, got)
	}
}

// TestNearestRelatives: whose kernels and whose links a generation takes.
func TestNearestRelatives(t *testing.T) {
	own := calibrated.Shipped()
	for generation, want := range map[string]struct{ kernels, links string }{
		"hopper": {"hopper", "hopper"}, "blackwell-ultra": {"blackwell-ultra", "blackwell-ultra"}, "volta": {"ampere", "ampere"},
		"turing": {"ampere", "ada"}, "ampere-ga102": {"ampere", "ada"}, "blackwell-rtx": {"ada", "ada"}, "cdna2": {"cdna3", "cdna3"},
		"cdna4": {"cdna4", "cdna4"}, "gaudi3": {"hopper", "hopper"}, "ascend-a2": {"ascend-a3", "ascend-a3"},
	} {
		got, ok := calibrated.Nearest(generation)
		expected := own[want.kernels]
		expected.Comm, expected.Peer = own[want.links].Comm, own[want.links].Peer
		if !ok || got != expected {
			t.Errorf("%s: not the kernels of %s and the links of %s", generation, want.kernels, want.links)
		}
	}
	for _, none := range []string{"tpu-v7", "neuron-v3", "apple-m4", "test", ""} {
		if _, ok := calibrated.Nearest(none); ok {
			t.Errorf("%q has constants", none)
		}
	}
}

// operator draws an operator of any kind.
func operator(t *rapid.T) op.Op {
	size := func(name string, most int) float64 { return float64(rapid.IntRange(1, most).Draw(t, name)) }
	o := op.Op{In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16}
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		o.Kind = op.GEMM
		o.In = rapid.SampledFrom([]dtype.Format{dtype.BF16, dtype.FP8}).Draw(t, "in")
		o.Weight = o.In
		o.Rows, o.Cols, o.Depth = size("rows", 1<<14), size("cols", 1<<15), size("depth", 1<<15)
	case 1:
		o.Kind = op.GroupedGEMM
		o.Rows, o.Cols, o.Depth, o.Experts = size("rows", 1<<14), size("cols", 1<<13), size("depth", 1<<13), size("experts", 256)
	case 2:
		o.Kind, o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = op.Attention, 32, 8, 128, 128
		n, s := size("requests", 512), size("context", 1<<16)
		o.Decode = op.Span{Requests: n, Tokens: n, Pairs: n * s, Context: n * s}
	case 3:
		o.Kind, o.Heads, o.HeadDim, o.ValueDim, o.Rank, o.Rope = op.Latent, 128, 192, 128, 512, 64
		s := size("prompt", 1<<15)
		o.Prefill = op.Span{Requests: 1, Tokens: s, Pairs: s * s / 2, Context: s}
		o.Expanded = s
	case 4:
		o.Kind, o.Comm = op.Collective, op.AllReduce
		o.Group = parallel.Group{Size: rapid.SampledFrom([]int32{2, 4, 8}).Draw(t, "ranks"), Stride: 1}
		o.Payload = units.Bytes(size("payload", 1<<28))
		o.Bytes = 2 * o.Payload
	case 5:
		o.Kind, o.Heads, o.KVHeads, o.HeadDim, o.ValueDim, o.KV = op.Recurrent, size("heads", 64), 1, 128, 128, dtype.F32
		n, prompts := size("requests", 512), size("prompts", 64)
		o.Decode = op.Span{Requests: n, Tokens: n}
		o.Prefill = op.Span{Requests: prompts, Tokens: prompts * size("prompt", 1<<14)}
	default:
		o.Bytes = units.Bytes(size("bytes", 1<<30))
	}
	return o
}

// wire is the least time of an all-reduce in a node. In a full mesh each pair of
// devices has a link of its own.
func wire(p *device.Profile, o *op.Op) float64 {
	if o.Comm != op.AllReduce {
		return 0
	}
	l, n := &p.Links[len(p.Links)-1], float64(o.Group.Size)
	bandwidth := float64(l.Bandwidth)
	if l.Topology == device.FullMesh {
		bandwidth *= (n - 1) / float64(l.Size-1)
	}
	return 2 * (n - 1) / n * float64(o.Payload) / bandwidth
}

// TestWire: whatever its size, a group is no faster than its own links.
func TestWire(t *testing.T) {
	for name, m := range gpus(t) {
		p, err := device.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int32{2, 4, 8} {
			o := op.Op{Kind: op.Collective, Comm: op.AllReduce, Group: parallel.Group{Size: n, Stride: 1}, Payload: 256 << 20}
			if int(n) > p.Links[len(p.Links)-1].Size {
				continue
			}
			if got, least := float64(m.Cost(&o).Total), wire(p, &o); got < least {
				t.Errorf("%s: %d devices reduce in %v, their links need %v", name, n, units.Seconds(got), units.Seconds(least))
			}
		}
	}
}

// TestSpeedOfLight: no operator is faster than the device's peaks and links allow.
func TestSpeedOfLight(t *testing.T) {
	all := gpus(t)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"h100_sxm", "h200_sxm", "b200_sxm", "a100_sxm", "mi300x", "l40s", "ATLAS_800_A3_752T_128G_DIE"}).Draw(t, "device")
		p, err := device.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		o := operator(t)
		e := all[name].Cost(&o)
		w := o.Work()
		peak := float64(p.Matrix[w.MatrixIn])
		if peak == 0 {
			peak = float64(p.Matrix[dtype.BF16])
		}
		light := math.Max(float64(w.Matrix)/peak, float64(w.Bytes)/float64(p.Bandwidth))
		light = math.Max(light, wire(p, &o))
		if float64(e.Total) < light*(1-1e-12) {
			t.Errorf("%v on %s: %v is below the speed of light, %v", o.Kind, name, e.Total, units.Seconds(light))
		}
	})
}

// TestMonotone: more of anything is never faster.
func TestMonotone(t *testing.T) {
	m := gpus(t)["h200_sxm"]
	rapid.Check(t, func(t *rapid.T) {
		small := operator(t)
		big := small
		by := rapid.Float64Range(1, 4).Draw(t, "by")
		switch small.Kind {
		case op.GEMM:
			big.Rows *= by
		case op.GroupedGEMM:
			big.Rows *= by
		case op.Attention:
			big.Decode.Pairs *= by
			big.Decode.Context *= by
		case op.Latent:
			big.Prefill.Pairs *= by
			big.Prefill.Context *= by
		case op.Recurrent:
			big.Prefill.Tokens *= by
			big.Decode.Tokens *= by
			big.Decode.Requests *= by
		default:
			big.Bytes *= units.Bytes(by)
			big.Payload *= units.Bytes(by)
		}
		a, b := m.Cost(&small), m.Cost(&big)
		if b.Total < a.Total*(1-1e-12) {
			t.Errorf("%+v: %v, but %v times as much takes %v", small, a.Total, by, b.Total)
		}
	})
}

// TestRecurrence: a prompt goes through a recurrence piece by piece, beside others
// as long as there are lanes; a decode is the traffic of the states.
func TestRecurrence(t *testing.T) {
	m := gpus(t)["h200_sxm"]
	scan := func(prompts, tokens float64) units.Seconds {
		o := op.Op{Kind: op.Recurrent, In: dtype.BF16, KV: dtype.F32, VectorIn: dtype.BF16, Heads: 8, KVHeads: 2, HeadDim: 128, ValueDim: 128}
		o.Prefill = op.Span{Requests: prompts, Tokens: prompts * tokens}
		return m.Cost(&o).Total
	}
	between := func(what string, ratio units.Seconds, low, high float64) {
		t.Helper()
		if x := float64(ratio); x < low || x > high {
			t.Errorf("%s: %.2f times the time, want %g to %g", what, x, low, high)
		}
	}
	between("side by side", func() units.Seconds {
		o := op.Op{Name: op.SelectiveScan, Kind: op.Recurrent, In: dtype.BF16, KV: dtype.F32, VectorIn: dtype.BF16, Heads: 8, HeadDim: 128, ValueDim: 128}
		o.Prefill = op.Span{Requests: 1, Tokens: 8192}
		return m.Cost(&o).Total / scan(1, 8192)
	}(), 0.02, 0.2)
	between("twice as long", scan(1, 16384)/scan(1, 8192), 1.9, 2)
	between("eight beside each other", scan(8, 8192)/scan(1, 8192), 1, 1.1)
	between("four times what fills the lanes", scan(256, 8192)/scan(64, 8192), 3.8, 4)
	update := op.Op{Kind: op.Recurrent, In: dtype.BF16, KV: dtype.F32, VectorIn: dtype.BF16, Heads: 8, KVHeads: 2, HeadDim: 128, ValueDim: 128}
	update.Decode = op.Span{Requests: 1024, Tokens: 1024}
	w, p := update.Work(), 4.8e12
	between("a decode of many", m.Cost(&update).Total/units.Seconds(float64(w.Bytes)/p), 1, 1.25)
}

func TestCostAllocatesNothing(t *testing.T) {
	m := gpus(t)["h200_sxm"]
	o := op.Op{Kind: op.GEMM, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, Rows: 64, Cols: 4096, Depth: 4096}
	if n := testing.AllocsPerRun(100, func() { m.Cost(&o) }); n != 0 {
		t.Errorf("Cost allocates %v times", n)
	}
}

// TestPower: MI325X, the cores of MI300X with a third more power, does 1.19 times as many operations in a dense product.
func TestPower(t *testing.T) {
	dense := op.Op{Kind: op.GEMM, Rows: 1 << 14, Cols: 1 << 14, Depth: 1 << 14, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16}
	var took [2]float64
	for i, name := range []string{"mi300x", "mi325x"} {
		d, err := device.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := calibrated.New(d)
		took[i] = float64(m.Cost(&dense).Total)
	}
	if ratio := took[0] / took[1]; ratio < 1.17 || ratio > 1.2 {
		t.Errorf("want 1.19 times as fast, got %.3f", ratio)
	}
}

// TestSharedEntries: attention whose heads all read one entry, key and value in one, computes as
// fast as latent attention, not as attention with few heads to an entry.
func TestSharedEntries(t *testing.T) {
	t.Parallel()
	c, ok := calibrated.Nearest("blackwell-ultra")
	if !ok {
		t.Fatal("no constants")
	}
	c.Decode.Compute, c.Latent.Compute = 0.1, 0.5
	o := op.Op{
		Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.FP8, Heads: 128, KVHeads: 0.5, HeadDim: 512, ValueDim: 512,
		Decode: op.Span{Requests: 512, Tokens: 512, Pairs: 512 * 4096, Context: 512 * 32},
	}
	m := calibrated.With(rounded(), &c)
	plain := m.Cost(&o).Total
	if o.Rank = 448; m.Cost(&o).Total > plain/4 {
		t.Errorf("%v, with kernels for few heads %v", m.Cost(&o).Total, plain)
	}
}
