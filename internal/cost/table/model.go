package table

import (
	"math"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Model costs operators by tables, and by another coster where those say
// nothing. Safe for concurrent use; Cost allocates nothing once the tables it
// needs are read.
type Model struct {
	tables  *Tables
	base    cost.Coster
	scratch sync.Pool // of *op.Op
}

// On prices operators by the tables' efficiencies and a coster: the one the
// tables were prepared with, or one of the same device a little changed, to ask
// what that would do.
func (t *Tables) On(base cost.Coster) *Model {
	m := &Model{tables: t, base: base}
	m.scratch.New = func() any { return new(op.Op) }
	return m
}

// Tier says how well the prices are known that the tables do not cover.
func (m *Model) Tier() device.Tier {
	if base, ok := m.base.(interface{ Tier() device.Tier }); ok {
		return base.Tier()
	}
	return device.Datasheet
}

// Cost estimates an operator.
func (m *Model) Cost(o *op.Op) cost.Estimate {
	var e cost.Estimate
	m.cost(o, &e)
	return e
}

// Source names the kernel whose measurements price an operator: of several
// parts the largest's; "" where no table covers it.
func (m *Model) Source(o *op.Op) string {
	var e cost.Estimate
	return m.cost(o, &e)
}

// cost estimates an operator, as every function here does into e, and names its
// source.
func (m *Model) cost(o *op.Op, e *cost.Estimate) string {
	switch o.Kind {
	case op.GEMM:
		return m.product(o, e)
	case op.GroupedGEMM:
		return m.experts(o, e)
	case op.Attention, op.Latent, op.Recurrent:
		return m.phases(o, e)
	case op.Collective:
		return m.collective(o, e)
	case op.Elementwise, op.LatentPrologue, op.Transfer:
	}
	return m.modelled(o, e)
}

// modelled prices an operator that no table covers.
func (m *Model) modelled(o *op.Op, e *cost.Estimate) string {
	*e = m.base.Cost(o)
	return ""
}

// measured prices an operator at a point of the tables.
func (m *Model) measured(o *op.Op, k key, at point, e *cost.Estimate) string {
	*e = m.base.Cost(o)
	ratio, from, ok := m.tables.find(k, at)
	if !ok || e.Total == 0 {
		return ""
	}
	f := units.Seconds(math.Exp(ratio))
	// Surfaces are ratios to forms, whose arithmetic and traffic take no less than the
	// least time: most operators are known to be above it without counting their work
	// again. The form of a recurrence counts chunks instead.
	if m.tables.fitted == nil || o.Kind == op.Recurrent || e.Total*f < max(e.Matrix, e.Memory, e.Comm) {
		if least := units.Seconds(m.tables.light.of(o)); e.Total*f < least {
			f = least / e.Total
		}
	}
	e.Total *= f
	e.Matrix *= f
	e.Vector *= f
	e.Memory *= f
	e.Comm *= f
	e.Fixed *= f
	if m.tables.fitted == nil {
		e.Measured = e.Total
	}
	return from
}

func (m *Model) product(o *op.Op, e *cost.Estimate) string {
	f := formatOf(o)
	if f == noFormat || o.Rows <= 0 {
		return m.modelled(o, e)
	}
	g := group{family: products, in: f}
	return m.measured(o, g.at(o.Cols, o.Depth), point{x: math.Log2(o.Rows)}, e)
}

// experts prices one product of a layer of experts. A gated layer's first
// product differs from the second by the activation fused behind it.
func (m *Model) experts(o *op.Op, e *cost.Estimate) string {
	f := formatOf(o)
	hidden, inter := o.Cols, o.Depth
	if o.OutCols > 0 {
		hidden, inter = o.Depth, o.OutCols
	}
	if f == noFormat || o.Rows <= 0 || o.OutCols > 0 && o.Cols != 2*o.OutCols || o.Widens && m.tables.fitted != nil { // surfaces are of other kernels
		return m.modelled(o, e)
	}
	g := group{family: expertLayers, in: f, exactly: [2]float64{hidden, inter}}
	return m.measured(o, g.at(1, 1), point{x: math.Log2(o.Rows), deal: o.Deal}, e)
}

// phases prices the two phases of an attention, which are two kernels.
func (m *Model) phases(o *op.Op, e *cost.Estimate) string {
	switch {
	case m.tables.ignores(o) || o.Decode.Tokens == 0 && o.Prefill.Tokens == 0:
		return m.modelled(o, e)
	case o.Decode.Tokens == 0 || o.Prefill.Tokens == 0:
		return m.phase(o, e)
	}
	p := m.scratch.Get().(*op.Op)
	defer m.scratch.Put(p)
	*p = *o
	p.Decode = op.Span{}
	from := m.phase(p, e)
	*p = *o
	p.Prefill, p.Expanded = op.Span{}, 0
	var d cost.Estimate
	other := m.phase(p, &d)
	return join(e, from, &d, other)
}

// phase prices one of them.
func (m *Model) phase(o *op.Op, e *cost.Estimate) string {
	switch o.Kind {
	case op.Latent:
		return m.latent(o, e)
	case op.Recurrent:
		return m.delta(o, e)
	default:
		return m.attention(o, e)
	}
}

// join adds a kernel that runs after another.
func join(e *cost.Estimate, from string, x *cost.Estimate, other string) string {
	if from == "" || other != "" && x.Total > e.Total {
		from = other
	}
	*e = e.Plus(*x)
	return from
}

// where is the point of a phase: its requests, and the mean of their new tokens
// in a prefill, of their cached ones in a decode.
func where(o *op.Op) (at point, decode bool) {
	s, length := &o.Prefill, o.Prefill.Tokens
	if o.Decode.Tokens > 0 {
		s, length, decode = &o.Decode, o.Decode.Context, true
	}
	n := math.Max(1, s.Requests)
	return point{line: math.Log2(n), x: math.Log2(math.Max(1, length/n))}, decode
}

// causal reports whether a prefill attends to all that stands before, or to all in
// its window: a selection has fewer pairs, and kernels of its own.
func causal(o *op.Op) bool {
	const most = 0.9
	p := &o.Prefill
	length := p.Tokens / math.Max(1, p.Requests)
	if o.Window > 0 {
		length = math.Min(length, o.Window)
	}
	return p.Pairs >= most*p.Tokens*length/2
}

// attention prices one phase. A prefill behind cached tokens takes the
// efficiency of one of as many new tokens.
func (m *Model) attention(o *op.Op, e *cost.Estimate) string {
	at, decode := where(o)
	in, kv := cacheFormat(o.In), cacheFormat(o.KV)
	if in == noFormat || kv == noFormat || o.HeadDim != o.ValueDim || o.KVHeads < 1 || !decode && !causal(o) {
		return m.modelled(o, e)
	}
	g := group{family: prefills, in: in, kv: kv, exactly: [2]float64{o.HeadDim, o.Window}}
	if decode {
		g.family, g.in = decodes, noFormat
	}
	from := m.measured(o, g.at(o.Heads, o.KVHeads), at, e)
	if from == "" && decode && o.Window > 0 { // it reads no more than a short context
		g.exactly[1] = 0
		return m.measured(o, g.at(o.Heads, o.KVHeads), at, e)
	}
	return from
}

// delta prices one phase of the gated delta rule. Measured states are float32.
func (m *Model) delta(o *op.Op, e *cost.Estimate) string {
	if o.Name != op.DeltaRule || !wide(o.In) || o.KV != dtype.F32 {
		return m.modelled(o, e)
	}
	g := group{family: scans, exactly: [2]float64{o.HeadDim, o.ValueDim}}
	at, decode := where(o)
	if decode {
		g.family, at = updates, point{x: math.Log2(o.Decode.Tokens)}
	}
	return m.measured(o, g.at(o.Heads, o.KVHeads), at, e)
}

// latent prices one phase of latent attention by its parts: a prefill expands
// keys and values in a product, then attends; a decode absorbs the projections
// into queries and outputs, around attention over the latents.
func (m *Model) latent(o *op.Op, e *cost.Estimate) string {
	in, kv := cacheFormat(o.In), cacheFormat(o.KV)
	f := formatOf(o)
	known := o.HeadDim == latentHead && o.ValueDim == latentValue && o.Rank == latentRank && o.Rope == latentRope
	at, decode := where(o)
	if in == noFormat || kv == noFormat || f == noFormat || !known || !decode && !causal(o) {
		return m.modelled(o, e)
	}
	p := m.scratch.Get().(*op.Op)
	defer m.scratch.Put(p)
	*p = latentAttention(decode, o.Heads, o.In, o.KV)
	p.Prefill, p.Decode, p.Out = o.Prefill, o.Decode, o.Out
	g := group{family: latentPrefills, in: in, kv: kv}
	if decode {
		g.family, g.in = latentDecodes, bf16
	}
	from := m.measured(p, g.at(o.Heads, 1), at, e)
	if from == "" {
		return m.modelled(o, e)
	}
	if !decode {
		*p = product(op.GEMM, f, o.Expanded, o.Heads*(latentHead-latentRope+latentValue), latentRank, 1)
		var x cost.Estimate
		other := m.product(p, &x)
		return join(e, from, &x, other)
	}
	tokens := o.Decode.Tokens
	for i, family := range [...]family{absorptions, expansions} {
		*p = absorbed(i == 1, tokens, o.Heads, f)
		g := group{family: family, in: f}
		var x cost.Estimate
		other := m.measured(p, g.at(o.Heads, 1), point{x: math.Log2(tokens)}, &x)
		from = join(e, from, &x, other)
	}
	return from
}

// collective prices communication inside a node, where alone it was measured.
func (m *Model) collective(o *op.Op, e *cost.Estimate) string {
	f := reduces
	switch o.Comm {
	case op.AllReduce:
	case op.AllGather:
		f = gathers
	case op.ReduceScatter:
		f = scatters
	case op.AllToAll:
		f = exchanges
	case op.SendRecv, op.NoComm:
		return m.modelled(o, e)
	}
	if (o.Group.Size-1)*o.Group.Stride >= m.tables.light.node || o.Payload <= 0 {
		return m.modelled(o, e)
	}
	g := group{family: f}
	return m.measured(o, g.at(float64(o.Group.Size), 1), point{x: math.Log2(float64(o.Payload))}, e)
}
