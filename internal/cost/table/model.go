package table

import (
	"math"
	"sync"

	"plimsoll/internal/cost"
	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/op"
	"plimsoll/internal/units"
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
	e, _ := m.cost(o)
	return e
}

// Source names the kernel whose measurements price an operator: of several
// parts the largest's; "" where no table covers it.
func (m *Model) Source(o *op.Op) string {
	_, from := m.cost(o)
	return from
}

func (m *Model) cost(o *op.Op) (cost.Estimate, string) {
	switch o.Kind {
	case op.GEMM:
		return m.product(o)
	case op.GroupedGEMM:
		return m.experts(o)
	case op.Attention:
		return m.phases(o, m.attention)
	case op.Latent:
		return m.phases(o, m.latent)
	case op.Recurrent:
		return m.phases(o, m.delta)
	case op.Collective:
		return m.collective(o)
	case op.Elementwise, op.LatentPrologue, op.Transfer:
	}
	return m.base.Cost(o), ""
}

// measured prices an operator at a point of the tables.
func (m *Model) measured(o *op.Op, k key, at point) (cost.Estimate, string) {
	e := m.base.Cost(o)
	ratio, from, ok := m.tables.find(k, at)
	if !ok || e.Total == 0 {
		return e, ""
	}
	f := units.Seconds(math.Exp(ratio))
	if least := units.Seconds(m.tables.light.of(o)); e.Total*f < least {
		f = least / e.Total
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
	return e, from
}

func (m *Model) product(o *op.Op) (cost.Estimate, string) {
	f := formatOf(o)
	if f == noFormat || o.Rows <= 0 {
		return m.base.Cost(o), ""
	}
	return m.measured(o,
		key{group: group{family: products, in: f}, place: [2]float64{math.Log2(o.Cols), math.Log2(o.Depth)}},
		point{x: math.Log2(o.Rows)})
}

// experts prices one product of a layer of experts. A gated layer's first
// product is told from the second by the activation fused behind it.
func (m *Model) experts(o *op.Op) (cost.Estimate, string) {
	f := formatOf(o)
	hidden, inter := o.Cols, o.Depth
	if o.OutCols > 0 {
		hidden, inter = o.Depth, o.OutCols
	}
	if f == noFormat || o.Rows <= 0 || o.OutCols > 0 && o.Cols != 2*o.OutCols {
		return m.base.Cost(o), ""
	}
	return m.measured(o,
		key{group: group{family: expertLayers, in: f, exactly: [2]float64{hidden, inter}}},
		point{x: math.Log2(o.Rows), active: o.Experts})
}

// phases prices the two phases of an attention, which are two kernels.
func (m *Model) phases(o *op.Op, price func(*op.Op) (cost.Estimate, string)) (cost.Estimate, string) {
	switch {
	case o.Decode.Tokens == 0 && o.Prefill.Tokens == 0:
		return m.base.Cost(o), ""
	case o.Decode.Tokens == 0 || o.Prefill.Tokens == 0:
		return price(o)
	}
	p := m.scratch.Get().(*op.Op)
	defer m.scratch.Put(p)
	*p = *o
	p.Decode = op.Span{}
	e, from := price(p)
	*p = *o
	p.Prefill, p.Expanded = op.Span{}, 0
	d, other := price(p)
	return join(e, from, d, other)
}

// join adds two kernels that run one after the other.
func join(a cost.Estimate, from string, b cost.Estimate, other string) (cost.Estimate, string) {
	if from == "" || other != "" && b.Total > a.Total {
		from = other
	}
	return a.Plus(b), from
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
func (m *Model) attention(o *op.Op) (cost.Estimate, string) {
	at, decode := where(o)
	in, kv := cacheFormat(o.In), cacheFormat(o.KV)
	if in == noFormat || kv == noFormat || o.HeadDim != o.ValueDim || o.KVHeads < 1 || !decode && !causal(o) {
		return m.base.Cost(o), ""
	}
	g := group{family: prefills, in: in, kv: kv, exactly: [2]float64{o.HeadDim, o.Window}}
	if decode {
		g.family, g.in = decodes, noFormat
	}
	place := [2]float64{math.Log2(o.Heads), math.Log2(o.KVHeads)}
	e, from := m.measured(o, key{group: g, place: place}, at)
	if from == "" && decode && o.Window > 0 { // it reads no more than a short context
		g.exactly[1] = 0
		return m.measured(o, key{group: g, place: place}, at)
	}
	return e, from
}

// delta prices one phase of the gated delta rule. Measured states are float32.
func (m *Model) delta(o *op.Op) (cost.Estimate, string) {
	if o.Name != op.DeltaRule || !wide(o.In) || o.KV != dtype.F32 {
		return m.base.Cost(o), ""
	}
	g := group{family: scans, exactly: [2]float64{o.HeadDim, o.ValueDim}}
	at, decode := where(o)
	if decode {
		g.family, at = updates, point{x: math.Log2(o.Decode.Tokens)}
	}
	return m.measured(o, key{group: g, place: [2]float64{math.Log2(o.Heads), math.Log2(o.KVHeads)}}, at)
}

// latent prices one phase of latent attention by its parts: a prefill expands
// keys and values in a product, then attends; a decode absorbs the projections
// into queries and outputs, around attention over the latents.
func (m *Model) latent(o *op.Op) (cost.Estimate, string) {
	in, kv := cacheFormat(o.In), cacheFormat(o.KV)
	f := formatOf(o)
	known := o.HeadDim == latentHead && o.ValueDim == latentValue && o.Rank == latentRank && o.Rope == latentRope
	at, decode := where(o)
	if in == noFormat || kv == noFormat || f == noFormat || !known || !decode && !causal(o) {
		return m.base.Cost(o), ""
	}
	p := m.scratch.Get().(*op.Op)
	defer m.scratch.Put(p)
	*p = latentAttention(decode, o.Heads, o.In, o.KV)
	p.Prefill, p.Decode, p.Out = o.Prefill, o.Decode, o.Out
	g := group{family: latentPrefills, in: in, kv: kv}
	if decode {
		g.family, g.in = latentDecodes, bf16
	}
	place := [2]float64{math.Log2(o.Heads), 0}
	e, from := m.measured(p, key{group: g, place: place}, at)
	if from == "" {
		return m.base.Cost(o), ""
	}
	if !decode {
		*p = product(op.GEMM, f, o.Expanded, o.Heads*(latentHead-latentRope+latentValue), latentRank, 1)
		x, other := m.product(p)
		return join(e, from, x, other)
	}
	tokens := o.Decode.Tokens
	for i, family := range [...]family{absorptions, expansions} {
		*p = absorbed(i == 1, tokens, o.Heads, f)
		x, other := m.measured(p, key{group: group{family: family, in: f}, place: place}, point{x: math.Log2(tokens)})
		e, from = join(e, from, x, other)
	}
	return e, from
}

// collective prices communication inside a node, where alone it was measured.
func (m *Model) collective(o *op.Op) (cost.Estimate, string) {
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
		return m.base.Cost(o), ""
	}
	if (o.Group.Size-1)*o.Group.Stride >= m.tables.light.node || o.Payload <= 0 {
		return m.base.Cost(o), ""
	}
	return m.measured(o,
		key{group: group{family: f}, place: [2]float64{math.Log2(float64(o.Group.Size)), 0}},
		point{x: math.Log2(float64(o.Payload))})
}
