package step

import (
	"math"
	"sort"

	"plimsoll/internal/cost"
	"plimsoll/internal/graph"
	"plimsoll/internal/model"
	"plimsoll/internal/op"
	"plimsoll/internal/units"
)

// Part is a group of operators whose prices a calibration may scale together.
type Part uint8

// The parts of a step.
const (
	Products    Part = iota // matrix products outside experts
	Experts                 // grouped products
	Exchange                // collectives
	Elementwise             // everything else inside the layers
	Head                    // everything outside the layers
	Attention               // attention and recurrences
	Parts
)

// Mixed sums a step of an engine that may hold prefill chunks and decodes.
type Mixed struct {
	PrefillRequests, PrefillTokens float64
	PrefillPairs                   float64 // query-key pairs of the chunks
	PrefillContext                 float64 // cached tokens the chunks attend to, themselves included
	Decode                         float64 // requests in decode, one query each
	Query                          float64 // tokens of each decode query
	DecodeContext                  float64 // their cached tokens together
}

// Times is a step's time by part.
type Times [Parts]units.Seconds

// Sum is the whole step.
func (t *Times) Sum() units.Seconds {
	var s units.Seconds
	for _, x := range t {
		s += x
	}
	return s
}

// Curve prices steps of any mixture quickly: what depends on the number of
// tokens alone is tabulated once, attention is priced from its sums. It is
// immutable and safe for concurrent use.
type Curve struct {
	coster cost.Coster
	tokens []float64
	table  [][Parts]units.Seconds
	attend []attendance
}

// attendance is an attention operator of the graph with its repeat count.
type attendance struct {
	op    op.Op
	kind  model.Attention
	count units.Seconds
}

// grid is the token counts tabulated; between them time is nearly linear.
func grid() []float64 {
	return []float64{
		1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
		6144, 8192, 12288, 16384, 24576, 32768, 65536,
	}
}

// NewCurve tabulates a graph's steps on a device.
func NewCurve(g *graph.Graph, c cost.Coster) *Curve {
	out := &Curve{coster: c, tokens: grid()}
	var items []op.Item
	for _, t := range out.tokens {
		b := graph.Batch{Segments: []graph.Segment{{Requests: int(t), Query: 1, Seq: 1, Decode: true}}}
		items = g.Append(items[:0], b)
		var row [Parts]units.Seconds
		for i := range items {
			it := &items[i]
			if p := part(it); p != Attention {
				e := c.Cost(&it.Op)
				row[p] += units.Seconds(it.Count) * e.Total
			}
		}
		out.table = append(out.table, row)
	}
	kinds := g.Kinds()
	for i := range items {
		if it := &items[i]; part(it) == Attention {
			a := attendance{op: it.Op, count: units.Seconds(it.Count)}
			if it.Run > 0 && int(it.Run) <= len(kinds) {
				a.kind = kinds[it.Run-1]
			}
			out.attend = append(out.attend, a)
		}
	}
	return out
}

// part is the group an operator belongs to.
func part(it *op.Item) Part {
	switch {
	case it.Op.Kind == op.Attention, it.Op.Kind == op.Latent, it.Op.Kind == op.Recurrent:
		return Attention
	case it.Run == 0:
		return Head
	}
	switch it.Op.Kind {
	case op.GEMM, op.LatentPrologue:
		return Products
	case op.GroupedGEMM:
		return Experts
	case op.Collective, op.Transfer:
		return Exchange
	case op.Elementwise, op.Attention, op.Latent, op.Recurrent:
	}
	return Elementwise
}

// Times prices a step.
func (c *Curve) Times(m Mixed) Times {
	decode := m.Decode * math.Max(1, m.Query)
	t := Times(c.at(m.PrefillTokens + decode))
	rows := c.at(m.PrefillRequests + decode)
	t[Head] = rows[Head]
	for i := range c.attend {
		a := &c.attend[i]
		o := a.op
		o.Prefill, o.Decode, o.Expanded = op.Span{}, op.Span{}, 0
		if m.PrefillTokens > 0 {
			o.Prefill = span(&a.kind, m.PrefillRequests, m.PrefillTokens, m.PrefillPairs, m.PrefillContext)
			o.Expanded = o.Prefill.Context
		}
		if m.Decode > 0 {
			o.Decode = span(&a.kind, m.Decode, decode, m.DecodeContext*math.Max(1, m.Query), m.DecodeContext)
		}
		t[Attention] += a.count * c.coster.Cost(&o).Total
	}
	return t
}

// span limits sums to what a windowed or sparse attention looks at, by the mean
// length of the requests.
func span(a *model.Attention, requests, tokens, pairs, context float64) op.Span {
	s := op.Span{Requests: requests, Tokens: tokens, Pairs: pairs, Context: context}
	limit := float64(a.Window)
	if k := float64(a.Indexer.TopK); k > 0 && (limit == 0 || k < limit) {
		limit = k
	}
	if c := float64(a.Compress); c > 1 {
		s.Pairs, s.Context = pairs/c, context/c
	}
	if limit > 0 {
		s.Context = math.Min(s.Context, (limit+tokens/math.Max(1, requests))*requests)
		s.Pairs = math.Min(s.Pairs, limit*tokens)
	}
	if l := float64(a.Local); l > 0 {
		s.Context += math.Min(context, l*requests)
		s.Pairs += math.Min(pairs, l*tokens)
	}
	return s
}

// at interpolates the table.
func (c *Curve) at(tokens float64) [Parts]units.Seconds {
	n := len(c.tokens)
	i := sort.SearchFloat64s(c.tokens, tokens)
	switch {
	case tokens <= 0:
		return [Parts]units.Seconds{}
	case i == 0:
		return c.table[0]
	case i == n: // beyond the table time is linear in tokens
		i = n - 1
	}
	lo, hi := c.tokens[i-1], c.tokens[i]
	w := units.Seconds((tokens - lo) / (hi - lo))
	var out [Parts]units.Seconds
	for p := range out {
		out[p] = c.table[i-1][p] + w*(c.table[i][p]-c.table[i-1][p])
	}
	return out
}
