package table

import (
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/perfdata"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// products reads matrix products: a site is a weight matrix, a curve its time by
// rows of the input.
func (g *group) products() reading {
	return reading{
		table: "gemm",
		query: common(perfdata.Query{
			Text: map[string]string{"gemm_dtype": g.in.String()}, Values: []string{"m", "n", "k"},
		}),
		row: func(v []float64) (measurement, bool) {
			m, n, k := v[1], v[2], v[3]
			return measured(v[0], [2]float64{n, k}, 1, m, product(op.GEMM, g.in, m, n, k, 1)), true
		},
	}
}

// attention reads attention over a head width and a window: a site is a number of
// query and KV heads, a line a batch, a curve the time by length.
func (g *group) attention() reading {
	q := perfdata.Query{
		Text:     map[string]string{"kv_cache_dtype": g.kv.String()},
		Number:   map[string]float64{"head_dim": g.exactly[0], "window_size": g.exactly[1]},
		Values:   []string{"batch_size", "isl", "num_heads", "num_key_value_heads", "step", "head_dim"},
		Optional: []string{"window_size", "step"},
	}
	if g.exactly[0] == 0 { // any
		delete(q.Number, "head_dim")
	}
	return reading{table: g.ofPhase("attention", "attn_dtype", &q), query: common(q), row: func(v []float64) (measurement, bool) {
		b, s, heads, kv, d := v[1], v[2], v[3], v[4], v[6]
		if kv == 0 { // as many as query heads
			kv = heads
		}
		o := op.Op{
			Kind: op.Attention, In: g.in.element(), Out: dtype.BF16, KV: g.kv.element(), VectorIn: dtype.BF16,
			Heads: heads, KVHeads: kv, HeadDim: d, ValueDim: d, Window: g.exactly[1],
		}
		if g.family == decodes {
			o.In = dtype.BF16
			s += v[5]
		}
		return g.phase(&o, b, s, [2]float64{heads, kv}, v[0]), true
	}}
}

// ofPhase is the table of a kind of attention for the phase of the group, and adds to its query what tables of prompts
// have beside: the format of inputs under the given name, and cached tokens in front, of which there are none.
func (g *group) ofPhase(kind, format string, q *perfdata.Query) string {
	if g.generates() {
		return "generation_" + kind
	}
	q.Text[format] = g.in.String()
	q.Number["step"] = 0
	return "context_" + kind
}

// generates reports a group of attention over a cache, token by token.
func (g *group) generates() bool { return g.family == decodes || g.family == latentDecodes }

// measured is an operator that took so many milliseconds, with sizes as tables have them.
func measured(ms float64, place [2]float64, line, x float64, o op.Op) measurement {
	return measurement{
		place: [2]float64{math.Log2(place[0]), math.Log2(place[1])}, line: math.Log2(line), x: math.Log2(x), seconds: ms / 1e3, ops: []op.Op{o},
	}
}

// phase completes a measurement of attention.
func (g *group) phase(o *op.Op, b, s float64, place [2]float64, ms float64) measurement {
	seen := s // of a request's tokens, by its last one
	if o.Window > 0 {
		seen = math.Min(s, o.Window)
	}
	if g.generates() {
		o.Decode = op.Span{Requests: b, Tokens: b, Pairs: b * seen, Context: b * seen}
		s = seen
	} else {
		o.Prefill = op.Span{Requests: b, Tokens: b * s, Pairs: b * seen * (s - (seen-1)/2), Context: b * s}
	}
	return measured(ms, place, b, s, *o)
}

// Widths of DeepSeek's latent attention, the only ones measured.
const (
	latentHead  = 192
	latentValue = 128
	latentRank  = 512
	latentRope  = 64
)

// latentAttention is the attention inside latent attention: over expanded keys
// and values in a prefill, over the latents, keys and values in one, in a decode.
func latentAttention(decode bool, heads float64, in, kv dtype.Format) op.Op {
	o := op.Op{
		Kind: op.Attention, In: in, Out: dtype.BF16, KV: kv, VectorIn: dtype.BF16,
		Heads: heads, KVHeads: heads, HeadDim: latentHead, ValueDim: latentValue,
	}
	if decode {
		o.HeadDim, o.ValueDim = latentRank+latentRope, latentRank
		o.KVHeads = o.HeadDim / (o.HeadDim + o.ValueDim)
	}
	return o
}

// latent reads the attention inside latent attention: a site is a number of
// heads.
func (g *group) latent() reading {
	q := perfdata.Query{
		Text: map[string]string{"kv_cache_dtype": g.kv.String()}, Number: map[string]float64{},
		Values: []string{"batch_size", "isl", "num_heads", "step"}, Optional: []string{"step"},
	}
	return reading{table: g.ofPhase("mla", "mla_dtype", &q), query: common(q), row: func(v []float64) (measurement, bool) {
		b, s, heads := v[1], v[2], v[3]
		if g.generates() {
			s += v[4]
		}
		o := latentAttention(g.generates(), heads, g.in.element(), g.kv.element())
		return g.phase(&o, b, s, [2]float64{heads, 1}, v[0]), true
	}}
}

// projection reads the batched products around a latent decode: a site is a
// number of heads, a curve the time by tokens.
func (g *group) projection() reading {
	name := "mla_gen_pre"
	if g.family == expansions {
		name = "mla_gen_post"
	}
	return reading{
		table: "mla_bmm",
		query: common(perfdata.Query{
			Text: map[string]string{"op_name": name, "bmm_dtype": g.in.String()}, Values: []string{"num_tokens", "num_heads"},
		}),
		row: func(v []float64) (measurement, bool) {
			tokens, heads := v[1], v[2]
			return measured(v[0], [2]float64{heads, 1}, 1, tokens, absorbed(g.family == expansions, tokens, heads, g.in)), true
		},
	}
}

// absorbed is one of the batched products around a latent decode.
func absorbed(post bool, tokens, heads float64, f format) op.Op {
	depth, cols := float64(latentHead-latentRope), float64(latentRank)
	if post {
		depth, cols = latentRank, latentValue
	}
	o := product(op.GroupedGEMM, f, tokens*heads, cols, depth, heads)
	o.Experts = heads
	return o
}

// delta reads the gated delta rule: a site is a number of value and key heads, a
// line of a prefill a batch, a curve the time by length; of a decode by batch. The
// convolutions in the same tables are operators of their own.
func (g *group) delta() reading {
	phase := "context"
	if g.family == updates {
		phase = "generation"
	}
	q := perfdata.Query{
		Text:   map[string]string{"phase": phase},
		Number: map[string]float64{"head_k_dim": g.exactly[0], "head_v_dim": g.exactly[1]},
		Values: []string{"batch_size", "seq_len", "num_k_heads", "num_v_heads", "head_k_dim", "head_v_dim"},
	}
	if g.exactly[0] == 0 { // any
		q.Number = nil
	}
	return reading{table: "gdn", skip: []string{"conv1d"}, query: common(q), row: func(v []float64) (measurement, bool) {
		b, s, keys, values := v[1], v[2], v[3], v[4]
		o := op.Op{
			Name: op.DeltaRule, Kind: op.Recurrent, In: dtype.BF16, KV: dtype.F32, VectorIn: dtype.BF16,
			Heads: values, KVHeads: keys, HeadDim: v[5], ValueDim: v[6],
		}
		place, span := [2]float64{values, keys}, op.Span{Requests: b, Tokens: b * s}
		if g.family == updates {
			o.Decode = span
			return measured(v[0], place, 1, b, o), true
		}
		o.Prefill = span
		return measured(v[0], place, b, s, o), true
	}}
}

// customReduce reads the engines' own all-reduce; eager rows measure the host.
func (g *group) customReduce() reading {
	return reading{
		table: "custom_allreduce", skip: []string{"eager"},
		query: common(perfdata.Query{Values: []string{"num_gpus", "message_size"}}), row: g.message,
	}
}

// collective reads NCCL's collectives.
func (g *group) collective(name string) reading {
	return reading{
		table: "nccl",
		query: common(perfdata.Query{
			Text: map[string]string{"op_name": name, "nccl_dtype": "half"}, Values: []string{"num_gpus", "message_size"},
		}),
		row: g.message,
	}
}

// message makes a collective of a row. Sizes are counted in elements of two
// bytes, and as NCCL's benchmark counts them: of the whole buffer.
func (g *group) message(v []float64) (measurement, bool) {
	n, whole := v[1], units.Bytes(2*v[2])
	if n < 2 || n > 1<<10 {
		return measurement{}, false
	}
	o := op.Op{Kind: op.Collective, Group: parallel.Group{Size: int32(n), Stride: 1}, Payload: whole, Bytes: 2 * whole}
	switch g.family {
	case gathers:
		o.Comm, o.Payload = op.AllGather, whole/units.Bytes(n)
		o.Bytes = o.Payload * units.Bytes(1+n)
	case scatters:
		o.Comm, o.Bytes = op.ReduceScatter, whole*units.Bytes(1+1/n)
	case exchanges:
		o.Comm, o.Payload = op.AllToAll, whole*units.Bytes((n-1)/n)
	default:
		o.Comm = op.AllReduce
	}
	return measured(v[0], [2]float64{n, 1}, 1, float64(o.Payload), o), true
}

// skipped reports whether a kernel source is to be left out.
func (r *reading) skipped(kernel string) bool {
	return slices.ContainsFunc(r.skip, func(part string) bool { return strings.Contains(kernel, part) })
}
