package calibrated

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// product costs one matrix product. The soft maximum is what a kernel that
// overlaps loads and arithmetic imperfectly shows between its two limits; a
// deep reduction adds the time to fill the pipeline.
func (m *Model) product(o *op.Op) cost.Estimate {
	w := o.Work()
	g := &m.c.GEMM.Wide
	switch w.MatrixIn {
	case dtype.FP8, dtype.INT8:
		g = &m.c.GEMM.FP8
		if o.BlockScaled() {
			g = &m.c.GEMM.Block
		}
	case dtype.FP4, dtype.INT4:
		g = &m.c.GEMM.FP4
	case dtype.None, dtype.F32, dtype.BF16, dtype.F16, dtype.Formats:
	}
	matrix := float64(w.Matrix) * m.matrix[w.MatrixIn] / g.Compute
	memory := float64(w.Bytes) * m.memory / g.Memory
	busy := soft(matrix, memory, g.Soft) + g.Depth*micro*o.Depth/1024
	return m.estimate(&w, g.Launch*micro, matrix, 0, memory, busy)
}

// soft is a maximum without a corner.
func soft(a, b, r float64) float64 {
	hi, lo := max(a, b), min(a, b)
	if hi == 0 {
		return 0
	}
	return hi * math.Pow(1+math.Pow(lo/hi, r), 1/r)
}

// tileRows is the rows of a tile that an expert occupies however few it has.
const tileRows = 64

// experts costs the products of all active experts in one kernel: arithmetic
// counts whole tiles, memory the active experts' weights.
func (m *Model) experts(o *op.Op) cost.Estimate {
	if o.Widens && m.c.Widened.Launch > 0 {
		return m.widened(o)
	}
	w := o.Work()
	f := m.expertForm(o)
	padded := 2 * (o.Rows + f.Tile*tileRows*o.Experts*padding(o)) * o.Cols * o.Depth
	matrix := padded * m.matrix[w.MatrixIn] / f.Compute
	io := m.inAndOut(o) / f.IO
	memory := (float64(w.Bytes)*m.memory - io*f.IO) / f.Memory
	return m.estimate(&w, f.Launch*micro, matrix, 0, memory+io, soft(matrix, memory, 2)+io)
}

// widened costs the products of all active experts where a tile reads and widens its weights before it multiplies, so that the two
// add up. Tiles have as many rows as the next power of two above an expert's, 16 to 128 (triton_kernels, opt_flags.py), of which the last is
// half empty: what that costs grows with the rows of an expert up to a tile's worth. A pass through the depth of the weights fills the
// pipeline, unless there are fewer tiles than multiprocessors, which then share the depth (split_k).
func (m *Model) widened(o *op.Op) cost.Estimate {
	const whole, tileCols, processors = 32, 256, 132
	w, f := o.Work(), &m.c.Widened
	empty := f.Tile * tileRows * min(o.Experts, o.Rows/whole)
	matrix := 2 * (o.Rows + empty) * o.Cols * o.Depth * m.matrix[w.MatrixIn] / f.Compute
	io := m.inAndOut(o)
	memory := (float64(w.Bytes)*m.memory - io) / f.Memory
	io /= f.IO
	fill := f.Depth * micro * o.Depth / 1024 * min(1, o.Experts*o.Cols/(tileCols*processors))
	return m.estimate(&w, f.Launch*micro+fill, matrix, 0, memory+io, matrix+memory+io)
}

// inAndOut is how long the rows that experts read and write take at the peak.
func (m *Model) inAndOut(o *op.Op) float64 {
	out := o.Cols
	if o.OutCols > 0 {
		out = o.OutCols
	}
	return float64(o.In.Bytes(o.Rows*o.Depth)+o.Out.Bytes(o.Rows*out)) * m.memory
}

// expertForm is that of the kernels for the formats of inputs and weights, which differ
// in the tiles they compute and in how they widen weights.
func (m *Model) expertForm(o *op.Op) *Form {
	c := &m.c.Experts
	switch narrow := o.Weight >= dtype.FP8; {
	case o.In < dtype.FP8 && o.Weight == dtype.INT4 && m.c.INT4.Launch > 0:
		return &m.c.INT4
	case o.In < dtype.FP8 && narrow:
		return &c.W4A16
	case o.In < dtype.FP8:
		return &c.Wide
	case o.In == dtype.FP4 || o.In == dtype.INT4:
		return &c.FP4
	case o.Weight == dtype.FP4 || o.Weight == dtype.INT4:
		return &c.W4A8
	case o.BlockScaled():
		return &c.Block
	}
	return &c.FP8
}

// padding is the part of a padded tile that is empty: none once every expert has
// tiles full of rows.
func padding(o *op.Op) float64 {
	if o.Experts == 0 {
		return 0
	}
	rows := o.Rows / o.Experts
	if rows >= tileRows {
		return 0.5 // the last tile of each, on average half empty
	}
	return 1 - rows/tileRows
}

// attention costs both phases of attention: a prefill by its arithmetic, less
// efficient for short prompts, a decode by the cache it reads and a share for
// each request and head. A cache whose keys are not split is read slowly for few.
func (m *Model) attention(o *op.Op, prefill, decode *Form) cost.Estimate {
	w := o.Work()
	pw, dw := w, w
	if o.Prefill.Tokens > 0 && o.Decode.Tokens > 0 {
		pw, dw = o.Phases()
	}
	var e cost.Estimate
	if o.Prefill.Tokens > 0 {
		length := max(1, o.Prefill.Tokens/max(1, o.Prefill.Requests))
		matrix := float64(pw.Matrix) * m.matrix[pw.MatrixIn] / prefill.Compute
		matrix *= 1 + prefill.Short*128/max(128, length)
		memory := float64(pw.Bytes) * m.memory / prefill.Memory
		e = m.estimate(&pw, prefill.Launch*micro, matrix, 0, memory, matrix+memory)
	}
	if o.Decode.Tokens > 0 {
		matrix := float64(dw.Matrix) * m.matrix[dw.MatrixIn] / decode.Compute
		memory := float64(dw.Bytes) * m.memory / decode.Memory
		if o.Unsplit && m.c.Unit > 0 {
			memory = max(memory, float64(dw.Bytes)/(m.c.Unit*1e9*o.Decode.Requests*max(1, o.KVHeads)))
		}
		heads := decode.Head * micro * o.Decode.Requests * max(1, o.KVHeads)
		x := m.estimate(&dw, decode.Launch*micro, matrix, 0, memory, max(matrix, memory)+heads)
		e = e.Plus(x)
	}
	e.Vector = units.Seconds(float64(w.Vector) * m.vector[w.VectorIn])
	return e
}

// recurrent costs both phases of a recurrence. The chunks of a prompt follow one
// another, those of as many heads and prompts at the same time as the device has
// lanes; a state-space scan sums its chunks up afterwards and computes them side by
// side. A decode reads and writes the states.
func (m *Model) recurrent(o *op.Op) cost.Estimate {
	var e cost.Estimate
	if o.Prefill.Tokens > 0 {
		p := *o
		p.Decode = op.Span{}
		w, f := p.Work(), &m.c.Scan
		chunks := p.Prefill.Chunks()
		beside := p.Heads * max(1, p.Prefill.Requests)
		if o.Name == op.SelectiveScan {
			beside = p.Heads * chunks
		}
		const sharp = 4 // how sharply lanes fill
		rounds := math.Pow(1+math.Pow(beside/f.Lanes, sharp), 1./sharp)
		matrix := f.Chunk * micro * p.Heads * chunks / beside * rounds
		memory := float64(w.Bytes) * m.memory / f.Memory
		e = m.estimate(&w, f.Launch*micro, matrix, 0, memory, max(matrix, memory))
	}
	if o.Decode.Tokens > 0 {
		d := *o
		d.Prefill = op.Span{}
		w, f := d.Work(), &m.c.Update
		memory := float64(w.Bytes) * m.memory / f.Memory
		x := m.estimate(&w, f.Launch*micro, 0, 0, memory, memory)
		e = e.Plus(x)
	}
	return e
}

// plain costs an operator that is its traffic and arithmetic.
func (m *Model) plain(o *op.Op) cost.Estimate {
	const compute = 0.5 // the share of the peaks; no measurement is of arithmetic alone
	w, f := o.Work(), &m.c.Elementwise
	matrix := float64(w.Matrix) * m.matrix[w.MatrixIn] / compute
	vector := (float64(w.Vector)*m.vector[w.VectorIn] + float64(w.Vector32)*m.vector[dtype.F32]) / compute
	memory := float64(w.Bytes) * m.memory / f.Memory
	if o.Launches < 0 {
		return m.estimate(&w, 0, matrix, vector, memory, max(matrix+vector, memory))
	}
	return m.estimate(&w, f.Launch*micro, matrix, vector, memory, max(matrix+vector, memory))
}

// apart is how long a collective between nodes takes beside its launch, given what it takes over the links
// between them alone. Rings and trees of NCCL and RCCL cross them on every rank's own link (a NIC for each device), and
// what the members inside a node have summed or gathered among them crosses once: each carries its
// part, while the innermost links carry the rest. Exchanges of experts' tokens send
// all of it to its rank.
func (m *Model) apart(o *op.Op, alone float64) float64 {
	together := m.floor.Together(o.Group)
	if together == 1 || o.Comm == op.AllToAll || o.Comm == op.SendRecv {
		return alone / m.c.Comm.Apart
	}
	inside, across := *o, *o
	inside.Group.Size = together
	across.Group = parallel.Group{Size: (o.Group.Size + together - 1) / together, Stride: o.Group.Stride * together}
	if o.Comm == op.AllGather {
		inside.Payload *= units.Bytes(across.Group.Size)
	} else {
		across.Payload /= units.Bytes(together)
	}
	wire := m.floor.Cost(&across).Comm
	across.Payload = 0
	wire -= m.floor.Cost(&across).Comm
	across.Group = o.Group // a small message passes all members
	late := m.floor.Cost(&across).Comm
	return max(float64(m.communicate(&inside).Comm), float64(wire)/m.c.Comm.Apart) + float64(late)/m.c.Comm.Apart
}

// communicate costs a collective: inside a node by a launch that grows with the
// ranks, and the payload's way over the link at the share its pattern reaches;
// beyond it by the profile's links.
func (m *Model) communicate(o *op.Op) cost.Estimate {
	c := &m.c.Comm
	n := float64(o.Group.Size)
	bandwidth, inner, peer := m.floor.Link(o.Group)
	form, wire := &c.Ring, float64(o.Payload)*(1/bandwidth)*o.Comm.Wire(n)
	switch o.Comm {
	case op.AllReduce:
		form = &c.Reduce
	case op.AllToAll:
		form = &c.Exchange
	case op.AllGather, op.ReduceScatter, op.SendRecv, op.NoComm:
	}
	e := m.floor.Cost(o)
	busy := wire / form.Efficiency
	if peer && m.c.Peer > 0 {
		busy /= m.c.Peer
	}
	if !inner {
		busy = m.apart(o, float64(e.Comm))
	}
	launch := (form.Launch + form.PerRank*n) * micro
	busy = max(busy, float64(e.Memory))
	return cost.Estimate{
		Total: units.Seconds(launch + busy), Comm: units.Seconds(busy), Memory: e.Memory, Fixed: units.Seconds(launch),
	}
}
