package calibrated_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// The forms worked out by hand on a device of round numbers, whose efficiencies the calibrated prices must not use.
const (
	bandwidth   = 4e12
	peakWide    = 1e15
	peakFP8     = 2e15
	peakFP4     = 4e15
	vectorWide  = 1e14
	vectorF32   = 5e13
	insideLink  = 4e11
	outsideLink = 5e10
)

func rounded() *device.Profile {
	p := &device.Profile{
		Name: "rounded", Bandwidth: bandwidth, ComputeEfficiency: 0.1, MemoryEfficiency: 0.2,
		Fixed: device.Fixed{Matrix: 1, Vector: 1, Communication: 1},
		Links: []device.Link{
			{Size: 4, Bandwidth: outsideLink, Latency: 5e-6, Efficiency: 0.8},
			{Size: 8, Bandwidth: insideLink, Latency: 1e-6, Efficiency: 0.7},
		},
	}
	p.Matrix[dtype.BF16], p.Matrix[dtype.FP8], p.Matrix[dtype.FP4] = peakWide, peakFP8, peakFP4
	p.Vector[dtype.BF16], p.Vector[dtype.F32] = vectorWide, vectorF32
	return p
}

// distinct are constants no two of which are equal.
func distinct() *calibrated.Constants {
	c := &calibrated.Constants{Measured: calibrated.Measured{
		Prefill:     calibrated.Form{Launch: 9, Compute: 0.6, Memory: 0.8, Short: 2},
		Decode:      calibrated.Form{Launch: 8, Compute: 0.5, Memory: 0.75, Head: 0.02},
		Latent:      calibrated.Form{Launch: 7, Compute: 0.45, Memory: 0.65, Head: 0.03},
		Elementwise: calibrated.Form{Launch: 1.5, Memory: 0.85},
		Scan:        calibrated.Form{Launch: 11, Memory: 0.5, Chunk: 3, Lanes: 150},
		Update:      calibrated.Form{Launch: 4, Memory: 0.9},
	}}
	c.Experts.Wide = calibrated.Form{Launch: 5, Compute: 0.55, Memory: 0.7, Tile: 0.9, IO: 0.6}
	c.Experts.FP8 = calibrated.Form{Launch: 6, Compute: 0.35, Memory: 0.77, Tile: 0.4, IO: 0.3}
	c.Experts.Block = calibrated.Form{Launch: 6.5, Compute: 0.36, Memory: 0.78, Tile: 0.3, IO: 0.31}
	c.Experts.FP4 = calibrated.Form{Launch: 7.5, Compute: 0.37, Memory: 0.79, Tile: 0.2, IO: 0.32}
	c.Experts.W4A8 = calibrated.Form{Launch: 8.5, Compute: 0.38, Memory: 0.81, Tile: 0.1, IO: 0.33}
	c.Experts.W4A16 = calibrated.Form{Launch: 9.5, Compute: 0.39, Memory: 0.82, Tile: 0.15, IO: 0.34}
	c.GEMM.Wide = calibrated.Product{Launch: 3, Compute: 0.7, Memory: 0.86, Soft: 2.9, Depth: 0.25}
	c.GEMM.FP8 = calibrated.Product{Launch: 2.5, Compute: 0.69, Memory: 0.84, Soft: 2.5, Depth: 0.15}
	c.GEMM.Block = calibrated.Product{Launch: 4.5, Compute: 0.64, Memory: 0.95, Soft: 1.1, Depth: 0.85}
	c.GEMM.FP4 = calibrated.Product{Launch: 5.5, Compute: 0.61, Memory: 0.74, Soft: 2, Depth: 0.5}
	c.Comm.Reduce = calibrated.Link{Launch: 2, PerRank: 0.2, Efficiency: 0.66}
	c.Comm.Ring = calibrated.Link{Launch: 4.2, PerRank: 0.9, Efficiency: 0.56}
	c.Comm.Exchange = calibrated.Link{Launch: 8.8, PerRank: 0.04, Efficiency: 0.58}
	c.Comm.Apart = 0.65
	return c
}

const micro = 1e-6

// equal compares an estimate with its parts in seconds.
func equal(t rapid.TB, what string, got cost.Estimate, total, matrix, memory, fixed float64) {
	t.Helper()
	for _, c := range []struct {
		part string
		got  units.Seconds
		want float64
	}{{"in all", got.Total, total}, {"matrix", got.Matrix, matrix}, {"memory", got.Memory, memory}, {"launches", got.Fixed, fixed}} {
		if math.Abs(float64(c.got)-c.want) > 1e-9*math.Abs(c.want) {
			t.Errorf("%s, %s: want %v, got %v", what, c.part, units.Seconds(c.want), c.got)
		}
	}
}

// TestProductForm: a launch, the soft maximum of arithmetic and traffic, and the filling of the pipeline.
func TestProductForm(t *testing.T) {
	c := distinct()
	m := calibrated.With(rounded(), c)
	for _, k := range []struct {
		name       string
		in, weight dtype.Format
		peak, size float64 // of an input and a weight
		scales     float64 // bytes for each row
		form       calibrated.Product
	}{
		{"wide", dtype.BF16, dtype.BF16, peakWide, 2, 0, c.GEMM.Wide},
		{"narrow weights alone", dtype.BF16, dtype.FP8, peakWide, 1, 0, c.GEMM.Wide},
		{"narrow weights in blocks alone", dtype.BF16, dtype.FP8, peakWide, 1, 9, c.GEMM.Wide},
		{"fp8", dtype.FP8, dtype.FP8, peakFP8, 1, 8, c.GEMM.FP8},
		{"fp8 in blocks", dtype.FP8, dtype.FP8, peakFP8, 1, 9, c.GEMM.Block},
		{"int8 with as many scales", dtype.INT8, dtype.INT8, peakWide, 1, 9, c.GEMM.FP8},
		{"fp4", dtype.FP4, dtype.FP4, peakFP4, 0.5, 9, c.GEMM.FP4},
	} {
		rapid.Check(t, func(t *rapid.T) {
			size := func(name string, most int) float64 { return float64(rapid.IntRange(1, most).Draw(t, name)) }
			rows, cols, depth := size("rows", 1<<14), size("cols", 1<<14), size("depth", 1<<14)
			o := op.Op{Kind: op.GEMM, In: k.in, Weight: k.weight, Out: dtype.BF16, Rows: rows, Cols: cols, Depth: depth, Bytes: units.Bytes(k.scales * rows)}
			flops := 2 * rows * cols * depth
			bytes := k.in.Width()*rows*depth + k.size*cols*depth + 2*rows*cols + k.scales*rows
			matrix, memory := flops/k.peak/k.form.Compute, bytes/bandwidth/k.form.Memory
			busy := math.Pow(math.Pow(matrix, k.form.Soft)+math.Pow(memory, k.form.Soft), 1/k.form.Soft) + k.form.Depth*micro*depth/1024
			e := m.Cost(&o)
			equal(t, k.name, e, k.form.Launch*micro+math.Max(busy, math.Max(flops/k.peak, bytes/bandwidth)), matrix, memory, k.form.Launch*micro)
			vector(t, e, 0)
		})
	}
	if e := m.Cost(&op.Op{Kind: op.GEMM, In: dtype.BF16}); e.Total != 0 {
		t.Errorf("a product of nothing takes %v", e.Total)
	}
}

// TestExpertForm: arithmetic counts a tile for each expert as far as it is empty, half a tile once each has a whole one;
// inputs and outputs are scattered and move at a rate of their own.
func TestExpertForm(t *testing.T) {
	c := distinct()
	m := calibrated.With(rounded(), c)
	rapid.Check(t, func(t *rapid.T) {
		experts := float64(rapid.IntRange(1, 256).Draw(t, "experts"))
		each := rapid.SampledFrom([]float64{0.125, 1, 32, 63, 64, 65, 1000}).Draw(t, "rows of each")
		cols, depth := float64(rapid.IntRange(1, 1<<13).Draw(t, "cols")), float64(rapid.IntRange(1, 1<<13).Draw(t, "depth"))
		out := cols
		o := op.Op{Kind: op.GroupedGEMM, In: dtype.FP8, Weight: dtype.FP8, Out: dtype.BF16, Rows: each * experts, Cols: cols, Depth: depth, Experts: experts, Bytes: 1000}
		if rapid.Bool().Draw(t, "fused") {
			out = math.Ceil(cols / 2)
			o.OutCols = out
		}
		f := &c.Experts.Block
		if 8*o.Rows >= 1000 { // too few bytes for scales of blocks
			f = &c.Experts.FP8
		}
		empty := 0.5 // of a tile of 64 rows
		if each < 64 {
			empty = 1 - each/64
		}
		matrix := 2 * (o.Rows + f.Tile*64*experts*empty) * cols * depth / peakFP8 / f.Compute
		io := (o.Rows*depth + 2*o.Rows*out) / bandwidth / f.IO
		weights := (experts*cols*depth + 1000) / bandwidth / f.Memory
		least := math.Max(2*o.Rows*cols*depth/peakFP8, (o.Rows*depth+2*o.Rows*out+experts*cols*depth+1000)/bandwidth)
		equal(t, "experts", m.Cost(&o), f.Launch*micro+math.Max(math.Hypot(matrix, weights)+io, least), matrix, weights+io, f.Launch*micro)
		vector(t, m.Cost(&o), 0)
	})
	if e := m.Cost(&op.Op{Kind: op.GroupedGEMM, In: dtype.BF16, Cols: 10, Depth: 10}); e.Total != 0 {
		t.Errorf("no experts take %v", e.Total)
	}
}

// TestExpertFormats: kernels differ by the formats of inputs and weights.
func TestExpertFormats(t *testing.T) {
	c := distinct()
	m := calibrated.With(rounded(), c)
	for _, x := range []struct {
		in, weight dtype.Format
		bytes      units.Bytes
		form       *calibrated.Form
	}{
		{dtype.BF16, dtype.BF16, 0, &c.Experts.Wide},
		{dtype.BF16, dtype.INT4, 0, &c.Experts.W4A16},
		{dtype.BF16, dtype.FP4, 0, &c.Experts.W4A16},
		{dtype.FP8, dtype.FP8, 8, &c.Experts.FP8},
		{dtype.FP8, dtype.FP8, 80, &c.Experts.Block},
		{dtype.FP8, dtype.FP4, 0, &c.Experts.W4A8},
		{dtype.FP4, dtype.FP4, 0, &c.Experts.FP4},
	} {
		o := op.Op{Kind: op.GroupedGEMM, In: x.in, Weight: x.weight, Out: dtype.BF16, Rows: 1, Cols: 64, Depth: 64, Experts: 1, Bytes: x.bytes}
		if got, want := float64(m.Cost(&o).Fixed), x.form.Launch*micro; math.Abs(got-want) > 1e-12 {
			t.Errorf("%v inputs, %v weights: launch %g, want %g", x.in, x.weight, got, want)
		}
	}
	c.INT4 = calibrated.Form{Launch: 35, Compute: 0.02, Memory: 0.4, Tile: 0.03, IO: 0.7}
	m = calibrated.With(rounded(), c)
	for weight, form := range map[dtype.Format]*calibrated.Form{dtype.INT4: &c.INT4, dtype.FP4: &c.Experts.W4A16} {
		o := op.Op{Kind: op.GroupedGEMM, In: dtype.BF16, Weight: weight, Out: dtype.BF16, Rows: 1, Cols: 64, Depth: 64, Experts: 1}
		if got, want := float64(m.Cost(&o).Fixed), form.Launch*micro; math.Abs(got-want) > 1e-12 {
			t.Errorf("%v weights beside kernels of their own for integers: launch %g, want %g", weight, got, want)
		}
	}
}

// TestAttentionForm: a prefill is its arithmetic, less efficient when short, and its traffic; a decode the larger of the
// two and a share for each request and head; where keys are not split, few requests and heads use few lanes. A step with both is two kernels.
func TestAttentionForm(t *testing.T) {
	c := distinct()
	c.Unit = 40
	m := calibrated.With(rounded(), c)
	rapid.Check(t, func(t *rapid.T) {
		heads, kv := 32.0, rapid.SampledFrom([]float64{0.5, 1, 8}).Draw(t, "KV heads")
		o := op.Op{Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.FP8, VectorIn: dtype.BF16, Heads: heads, KVHeads: kv, HeadDim: 128, ValueDim: 64}
		n, length := float64(rapid.IntRange(1, 64).Draw(t, "prompts")), float64(rapid.SampledFrom([]int{1, 127, 128, 129, 5000}).Draw(t, "tokens"))
		requests, context := float64(rapid.IntRange(1, 512).Draw(t, "requests")), float64(rapid.IntRange(1, 1<<15).Draw(t, "context"))
		prefill, decode := o, o
		prefill.Prefill = op.Span{Requests: n, Tokens: n * length, Pairs: n * length * length / 2, Context: n * length}
		decode.Decode = op.Span{Requests: requests, Tokens: requests, Pairs: requests * context, Context: requests * context}

		flops, bytes := 2*prefill.Prefill.Pairs*heads*(128+64), n*length*(2*heads*(128+64)+kv*(128+64))
		p, short := &c.Prefill, 1+c.Prefill.Short*128/math.Max(128, length)
		matrix, memory := flops/peakWide/p.Compute*short, bytes/bandwidth/p.Memory
		a := m.Cost(&prefill)
		equal(t, "prefill", a, p.Launch*micro+matrix+memory, matrix, memory, p.Launch*micro)
		vector(t, a, 4*prefill.Prefill.Pairs*heads/vectorWide)

		d := &c.Decode
		flops, bytes = 2*requests*context*heads*(128+64), requests*(2*heads*(128+64)+context*kv*(128+64))
		matrix, memory = flops/peakWide/d.Compute, bytes/bandwidth/d.Memory
		b := m.Cost(&decode)
		equal(t, "decode", b, d.Launch*micro+math.Max(matrix, memory)+d.Head*micro*requests*math.Max(1, kv), matrix, memory, d.Launch*micro)

		decode.Unsplit = true
		unsplit := math.Max(memory, bytes/(c.Unit*1e9*requests*math.Max(1, kv)))
		equal(t, "unsplit", m.Cost(&decode), d.Launch*micro+math.Max(matrix, unsplit)+d.Head*micro*requests*math.Max(1, kv), matrix, unsplit, d.Launch*micro)

		both := prefill
		both.Decode = decode.Decode
		e := m.Cost(&both)
		equal(t, "both", e, float64(a.Total+b.Total), float64(a.Matrix+b.Matrix), float64(a.Memory+b.Memory), float64(a.Fixed+b.Fixed))
		vector(t, e, float64(a.Vector+b.Vector))
	})
}

func vector(t rapid.TB, e cost.Estimate, want float64) {
	t.Helper()
	if math.Abs(float64(e.Vector)-want) > 1e-9*want {
		t.Errorf("vector: want %v, got %v", units.Seconds(want), e.Vector)
	}
}

// TestLatentForm: a prefill takes the constants of prefills, its expansion included; a decode its own, without it.
func TestLatentForm(t *testing.T) {
	c := distinct()
	m := calibrated.With(rounded(), c)
	const heads, head, value, rank, rope = 16, 192, 128, 512, 64
	const up = rank * heads * (head - rope + value)
	o := op.Op{
		Kind: op.Latent, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16,
		Heads: heads, HeadDim: head, ValueDim: value, Rank: rank, Rope: rope, Expanded: 3000,
	}
	prefill, decode := o, o
	prefill.Prefill = op.Span{Requests: 2, Tokens: 2000, Pairs: 1e6, Context: 3000}
	decode.Decode = op.Span{Requests: 8, Tokens: 8, Pairs: 8 * 4000, Context: 8 * 4000}
	f := &c.Prefill
	matrix := (2*3000*up + 2*1e6*heads*(head+value)) / peakWide / f.Compute * (1 + f.Short*128/1000)
	memory := 2 * (up + 2000*heads*(head+value) + 3000*(rank+rope)) / bandwidth / f.Memory
	equal(t, "prefill", m.Cost(&prefill), f.Launch*micro+matrix+memory, matrix, memory, f.Launch*micro)
	f = &c.Latent
	matrix = (2*8*up + 2*8*4000*heads*(2*rank+rope)) / peakWide / f.Compute
	memory = 2 * (up + 8*heads*(head+value) + 8*4000*(rank+rope)) / bandwidth / f.Memory
	equal(t, "decode", m.Cost(&decode), f.Launch*micro+math.Max(matrix, memory)+f.Head*micro*8, matrix, memory, f.Launch*micro)
}

// TestRecurrentForm: chunks of 64 tokens follow one another, as many heads and prompts beside each other as there are
// lanes; a decode is the traffic of its states.
func TestRecurrentForm(t *testing.T) {
	c := distinct()
	m := calibrated.With(rounded(), c)
	rapid.Check(t, func(t *rapid.T) {
		heads := float64(rapid.IntRange(1, 64).Draw(t, "heads"))
		n, length := float64(rapid.IntRange(1, 64).Draw(t, "prompts")), float64(rapid.IntRange(1, 5000).Draw(t, "tokens"))
		o := op.Op{Kind: op.Recurrent, In: dtype.BF16, KV: dtype.F32, VectorIn: dtype.BF16, Heads: heads, KVHeads: 1, HeadDim: 128, ValueDim: 64}
		chunks := n * math.Ceil(length/64)
		for name, beside := range map[op.Name]float64{op.DeltaRule: heads * n, op.SelectiveScan: heads * chunks} {
			p := o
			p.Name, p.Prefill = name, op.Span{Requests: n, Tokens: n * length}
			w, f := p.Work(), &c.Scan
			rounds := math.Pow(1+math.Pow(beside/f.Lanes, 4), 1./4)
			matrix := f.Chunk * micro * heads * chunks / beside * rounds
			memory := float64(w.Bytes) / bandwidth / f.Memory
			least := math.Max(float64(w.Matrix)/peakWide, float64(w.Bytes)/bandwidth)
			equal(t, name.String(), m.Cost(&p), f.Launch*micro+math.Max(math.Max(matrix, memory), least), matrix, memory, f.Launch*micro)

			d := o
			d.Name, d.Decode = name, op.Span{Requests: n, Tokens: n}
			memory = (2*n*heads*2*(128+64) + 2*4*n*heads*128*64) / bandwidth / c.Update.Memory
			equal(t, "update", m.Cost(&d), c.Update.Launch*micro+memory, 0, memory, c.Update.Launch*micro)
			vector(t, m.Cost(&p), 0)
			vector(t, m.Cost(&d), 0)

			both := p
			both.Decode = d.Decode
			if got, want := m.Cost(&both).Total, m.Cost(&p).Total+m.Cost(&d).Total; math.Abs(float64(got/want)-1) > 1e-12 {
				t.Errorf("both phases: %v, one by one %v", got, want)
			}
		}
	})
}

// TestPlainForm: the larger of arithmetic at half the peaks and traffic, after a launch unless the operator is part of
// another kernel.
func TestPlainForm(t *testing.T) {
	c := distinct()
	m, f := calibrated.With(rounded(), c), &c.Elementwise
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 { return math.Exp2(rapid.Float64Range(0, 40).Draw(t, name)) }
		o := op.Op{In: dtype.BF16, VectorIn: dtype.BF16, Bytes: units.Bytes(draw("bytes")), Matrix: units.Ops(draw("matrix")), Vector: units.Ops(draw("vector")), Vector32: units.Ops(draw("vector in float32"))}
		matrix, memory := float64(o.Matrix)/peakWide/0.5, float64(o.Bytes)/bandwidth/f.Memory
		other := float64(o.Vector)/vectorWide/0.5 + float64(o.Vector32)/vectorF32/0.5
		busy := math.Max(matrix+other, memory)
		equal(t, "elementwise", m.Cost(&o), f.Launch*micro+busy, matrix, memory, f.Launch*micro)
		vector(t, m.Cost(&o), other)
		o.Launches = -1
		equal(t, "part of a kernel", m.Cost(&o), busy, matrix, memory, 0)
	})
	if e := m.Cost(&op.Op{}); e.Total != 0 {
		t.Errorf("nothing takes %v", e.Total)
	}
}

// TestCollectiveForm: inside a node a launch that grows with the ranks and the way of the payload over the link; beyond
// it the profile's links; never less than memory needs.
func TestCollectiveForm(t *testing.T) {
	c := distinct()
	m := calibrated.With(rounded(), c)
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SampledFrom([]int32{2, 3, 4, 8}).Draw(t, "ranks")
		n, payload := float64(ranks), math.Exp2(rapid.Float64Range(0, 30).Draw(t, "payload"))
		for pattern, k := range map[op.Comm]struct {
			form calibrated.Link
			way  float64 // of the payload, over one link
		}{
			op.AllReduce: {c.Comm.Reduce, 2 * (n - 1) / n}, op.AllGather: {c.Comm.Ring, n - 1}, op.ReduceScatter: {c.Comm.Ring, (n - 1) / n},
			op.AllToAll: {c.Comm.Exchange, 1}, op.SendRecv: {c.Comm.Ring, 1},
		} {
			o := op.Op{Kind: op.Collective, Comm: pattern, Group: parallel.Group{Size: ranks, Stride: 1}, Payload: units.Bytes(payload)}
			launch := (k.form.Launch + k.form.PerRank*n) * micro
			inside := k.way * payload / insideLink / k.form.Efficiency
			e := m.Cost(&o)
			equal(t, "inside", e, launch+inside, 0, 0, launch)
			if math.Abs(float64(e.Comm)-inside) > 1e-12*inside {
				t.Errorf("on the link: want %v, got %v", inside, e.Comm)
			}
			o.Bytes = units.Bytes(3 * inside * bandwidth)
			equal(t, "memory", m.Cost(&o), launch+3*inside, 0, 3*inside, launch)
			if ranks > 4 {
				continue
			}
			o.Bytes, o.Group.Stride = 0, 8
			log, wire, latency := math.Log2(n), payload/(0.8*outsideLink), 5e-6
			outside := map[op.Comm]float64{
				op.AllReduce: math.Min(2*(n-1)*latency+2*(n-1)/n*wire, 2*log*latency+2*wire), op.AllGather: log*latency + (n-1)*wire,
				op.ReduceScatter: log*latency + (n-1)/n*wire, op.AllToAll: log*latency + wire, op.SendRecv: latency + wire,
			}[pattern] / c.Comm.Apart
			equal(t, "between nodes", m.Cost(&o), launch+outside, 0, 0, launch)
		}
	})
}

// TestAcrossNodes: sums and gathers of ranks that share nodes cross between them once, each rank with its part over its own link,
// while the links inside carry the rest; exchanges cross with all of it.
func TestAcrossNodes(t *testing.T) {
	p, c := rounded(), distinct()
	m := calibrated.With(p, c)
	const nodes, together, latency, payload = 2., 8., 5e-6, 1e9
	ranks := nodes * together
	outer, late := 0.8*outsideLink*c.Comm.Apart, math.Log2(ranks)*latency/c.Comm.Apart
	for pattern, want := range map[op.Comm]float64{
		op.AllReduce:     2*late + max(2*(together-1)/together*payload/insideLink/c.Comm.Reduce.Efficiency, 2*(nodes-1)/nodes*payload/together/outer),
		op.AllGather:     late + max((together-1)*nodes*payload/insideLink/c.Comm.Ring.Efficiency, (nodes-1)*payload/outer),
		op.ReduceScatter: late + max((together-1)/together*payload/insideLink/c.Comm.Ring.Efficiency, (nodes-1)/nodes*payload/together/outer),
		op.AllToAll:      late + payload/outer,
	} {
		o := op.Op{Kind: op.Collective, Comm: pattern, Group: parallel.Group{Size: int32(ranks), Stride: 1}, Payload: payload}
		if got := float64(m.Cost(&o).Comm); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v: want %v, got %v", pattern, want, got)
		}
	}
}

// TestNoUnit: a device without a unit for a format works in a wider one, and one without any takes a peak of one.
func TestNoUnit(t *testing.T) {
	p, c := rounded(), distinct()
	p.Matrix[dtype.FP4] = 0
	o := op.Op{In: dtype.FP4, VectorIn: dtype.F16, Matrix: 1e12, Vector: 1e12}
	e := calibrated.With(p, c).Cost(&o)
	if want := 1e12 / peakFP8 / 0.5; math.Abs(float64(e.Matrix)-want) > 1e-12 {
		t.Errorf("4 bits on a unit for 8: want %v, got %v", want, e.Matrix)
	}
	vector(t, e, 1e12/vectorWide/0.5)
	p.Matrix, p.Vector = [dtype.Formats]units.OpsPerSecond{}, [dtype.Formats]units.OpsPerSecond{}
	if e := calibrated.With(p, c).Cost(&op.Op{In: dtype.BF16, VectorIn: dtype.BF16, Matrix: 6, Vector: 4}); e.Matrix != 12 || e.Vector != 8 {
		t.Errorf("no unit at all: %+v", e)
	}
}

// TestEveryConstantMatters: each constant moves the price of some operator, launches and times up, shares of a peak down.
func TestEveryConstantMatters(t *testing.T) {
	for generation, c := range calibrated.Shipped() {
		before := prices(&c)
		all := c.Forms()
		all = append(all, calibrated.FittedForm{Name: "comm", Parameters: []calibrated.Parameter{{Name: "apart", Value: &c.Comm.Apart}}},
			calibrated.FittedForm{Name: "elementwise", Parameters: []calibrated.Parameter{{Name: "launch", Value: &c.Elementwise.Launch}, {Name: "memory", Value: &c.Elementwise.Memory}}})
		for _, f := range all {
			for _, p := range f.Parameters {
				was := *p.Value
				*p.Value *= 0.5
				up, down := 0, 0
				for i, price := range prices(&c) {
					if price > before[i] {
						up++
					} else if price < before[i] {
						down++
					}
				}
				*p.Value = was
				time := map[string]bool{"launch": true, "depth": true, "short": true, "head": true, "tile": true, "chunk": true, "per_rank": true}[p.Name]
				if time && (down == 0 || up > 0) || !time && (up == 0 || down > 0) {
					t.Errorf("%s %s: half of %s makes %d operators slower and %d faster", generation, f.Name, p.Name, up, down)
				}
			}
		}
	}
}

// prices are those of operators of every form, of sizes where each of its constants counts.
func prices(c *calibrated.Constants) (out []units.Seconds) {
	m := calibrated.With(rounded(), c)
	for _, in := range []dtype.Format{dtype.BF16, dtype.FP8, dtype.FP4} {
		for _, rows := range []float64{1, 300, 8192} {
			o := op.Op{Kind: op.GEMM, In: in, Weight: in, Out: dtype.BF16, Rows: rows, Cols: 4096, Depth: 4096}
			out = append(out, m.Cost(&o).Total)
			o.Bytes = units.Bytes(9 * rows)
			out = append(out, m.Cost(&o).Total)
			o.Kind, o.Experts = op.GroupedGEMM, 8
			out = append(out, m.Cost(&o).Total)
			o.Bytes = 0
			out = append(out, m.Cost(&o).Total)
			o.Weight = dtype.FP4
			out = append(out, m.Cost(&o).Total)
		}
	}
	a := op.Op{Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, Heads: 8, KVHeads: 8, HeadDim: 128, ValueDim: 128}
	l := op.Op{Kind: op.Latent, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, Heads: 128, HeadDim: 192, ValueDim: 128, Rank: 512, Rope: 64}
	r := op.Op{Kind: op.Recurrent, In: dtype.BF16, KV: dtype.F32, Heads: 32, HeadDim: 128, ValueDim: 128}
	for _, o := range []op.Op{a, l, r} {
		for _, tokens := range []float64{200, 4000} {
			p, d := o, o
			p.Prefill = op.Span{Requests: 4, Tokens: 4 * tokens, Pairs: 2 * tokens * tokens, Context: 4 * tokens}
			d.Decode = op.Span{Requests: 64, Tokens: 64, Pairs: 64 * tokens, Context: 64 * tokens}
			flat := d // many queries, little context
			flat.Decode.Pairs *= 1000
			scan := p // traffic alone
			scan.Name, scan.HeadDim, scan.ValueDim = op.SelectiveScan, 8, 1<<14
			out = append(out, m.Cost(&p).Total, m.Cost(&d).Total, m.Cost(&flat).Total, m.Cost(&scan).Total)
		}
	}
	r.Heads, r.Prefill = 1, op.Span{Requests: 1, Tokens: 1 << 14} // waits for its chunks
	out = append(out, m.Cost(&r).Total)
	for _, pattern := range []op.Comm{op.AllReduce, op.AllGather, op.AllToAll} {
		for _, stride := range []int32{1, 8} {
			out = append(out, m.Cost(&op.Op{Kind: op.Collective, Comm: pattern, Group: parallel.Group{Size: 4, Stride: stride}, Payload: 1 << 20}).Total)
		}
	}
	return append(out, m.Cost(&op.Op{Bytes: 1 << 20}).Total)
}

// TestGrowsInEverySize: no size of an operator, made larger, makes it faster.
func TestGrowsInEverySize(t *testing.T) {
	m := gpus(t)["b200_sxm"]
	rapid.Check(t, func(t *rapid.T) {
		small := operator(t)
		sizes := []func(*op.Op) *float64{
			func(o *op.Op) *float64 { return &o.Rows }, func(o *op.Op) *float64 { return &o.Cols }, func(o *op.Op) *float64 { return &o.Depth },
			func(o *op.Op) *float64 { return &o.Heads }, func(o *op.Op) *float64 { return &o.KVHeads },
			func(o *op.Op) *float64 { return &o.HeadDim }, func(o *op.Op) *float64 { return &o.ValueDim },
			func(o *op.Op) *float64 { return &o.Prefill.Context }, func(o *op.Op) *float64 { return &o.Decode.Context },
			func(o *op.Op) *float64 { return &o.Prefill.Pairs }, func(o *op.Op) *float64 { return &o.Decode.Pairs },
			func(o *op.Op) *float64 { return &o.Decode.Requests }, func(o *op.Op) *float64 { return &o.Expanded },
		}
		at := rapid.SampledFrom(sizes).Draw(t, "size")
		big := small
		*at(&big) *= rapid.Float64Range(1, 4).Draw(t, "by")
		if a, b := m.Cost(&small).Total, m.Cost(&big).Total; b < a*(1-1e-12) {
			t.Errorf("%+v takes %v, and larger %v", small, a, b)
		}
	})
}

// TestBounds: what a fit may find is what hardware can be: a queued launch takes half a microsecond at least, a slow host
// path sixty at most, and no share of a peak is above one.
func TestBounds(t *testing.T) {
	bounds := map[string][2]float64{
		"launch": {0.5, 60}, "compute": {0.02, 1}, "memory": {0.02, 1}, "io": {0.02, 1}, "efficiency": {0.02, 1},
		"soft": {1, 8}, "depth": {0.001, 5}, "per_rank": {0.001, 5}, "short": {0.01, 20}, "head": {0.0005, 1}, "tile": {0.01, 3},
		"chunk": {0.2, 60}, "lanes": {16, 1024},
	}
	var c calibrated.Constants
	for _, f := range c.Forms() {
		for _, p := range f.Parameters {
			if want, ok := bounds[p.Name]; !ok || want != [2]float64{p.Low, p.High} {
				t.Errorf("%s %s: from %g to %g, want %v", f.Name, p.Name, p.Low, p.High, want)
			}
		}
	}
}

// TestPeerAccess: collectives over PCIe are as many times faster with peer access as the constants say; latencies and links of
// other generations stay.
func TestPeerAccess(t *testing.T) {
	price := func(d *device.Profile, transport device.Transport) cost.Estimate {
		q := *d
		q.Links = slices.Clone(d.Links)
		q.Links[len(q.Links)-1].Transport = transport
		m, ok := calibrated.New(&q)
		if !ok {
			t.Fatalf("%s has no constants", d.Name)
		}
		return m.Cost(&op.Op{Kind: op.Collective, Comm: op.AllReduce, Payload: 64 * units.MiB, Group: parallel.Group{Size: 4, Stride: 1}})
	}
	for name, want := range map[string]float64{"l40s": 3, "rtx_3090": 3, "h100_sxm": 1} {
		d, err := device.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		host, peer := price(d, device.ThroughHost), price(d, device.Peer)
		if got := float64(host.Comm / peer.Comm); math.Abs(got-want) > 0.01 || host.Fixed != peer.Fixed {
			t.Errorf("%s: %g times as fast, want %g", name, got, want)
		}
	}
	for name, want := range map[string]device.Transport{"l40s": device.Peer, "rtx_4090": device.ThroughHost} {
		if d, err := device.Lookup(name); err != nil || d.Links[len(d.Links)-1].Transport != want {
			t.Errorf("%s: want links by %s (%v)", name, want, err)
		}
	}
}

// TestWidened: a layer of gpt-oss's experts takes what vLLM 0.24's kernels took on an H200 (internal/evidence/NOTEBOOK.md), where the form for
// other kernels of such weights does not.
func TestWidened(t *testing.T) {
	t.Parallel()
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := calibrated.New(d)
	for _, c := range []struct{ experts, tokens, micros float64 }{
		{32, 64, 197}, {32, 1000, 529}, {32, 4000, 1579}, {128, 250, 664}, {128, 4000, 2119}, {128, 8000, 3504},
	} {
		active := c.experts * (1 - math.Pow(1-4/c.experts, c.tokens))
		var took, other float64
		for _, cols := range []float64{5760, 2880} {
			o := op.Op{
				Kind: op.GroupedGEMM, In: dtype.BF16, Weight: dtype.FP4, Out: dtype.BF16, Rows: 4 * c.tokens, Cols: cols, Depth: 2880, OutCols: 2880,
				Experts: active, Bytes: units.Bytes(active * cols * 2880 / 32),
			}
			other += float64(m.Cost(&o).Total)
			o.Widens = true
			took += float64(m.Cost(&o).Total)
		}
		if off := took*1e6/c.micros - 1; math.Abs(off) > 0.15 {
			t.Errorf("%+v: %.0f µs", c, took*1e6)
		}
		if c.tokens >= 4000 && other < 1.3*took {
			t.Errorf("%+v: other kernels take %.0f µs", c, other*1e6)
		}
	}
}
