package table

import (
	"math"
	"strings"

	"plimsoll/internal/dtype"
	"plimsoll/internal/op"
	"plimsoll/internal/parallel"
	"plimsoll/internal/perfdata"
	"plimsoll/internal/units"
)

// family is a kind of measurement.
type family uint8

// The families.
const (
	products family = iota
	prefills
	decodes
	latentPrefills // attention over expanded keys and values
	latentDecodes  // attention over latents
	absorptions    // of the key projection into queries
	expansions     // of latent outputs by the value projection
	expertLayers
	scans   // gated delta rule over prompts
	updates // … and by a token
	reduces
	gathers
	scatters
	exchanges
	families
)

// apart is how far, in octaves, a measured site may lie from the one asked for.
func (f family) apart() float64 {
	switch f {
	case products:
		return 2
	case prefills, decodes, latentPrefills, latentDecodes, absorptions, expansions, scans, updates:
		return 1
	default:
		return 0
	}
}

// format is a number format as tables name it.
type format uint8

// The formats.
const (
	noFormat format = iota
	bf16
	fp8
	fp8Block
	nvfp4
	int4Only // weights alone
	int8Only
	mxfp4Wide // weights in MXFP4, activations in bfloat16
	mxfp4FP8  // weights in MXFP4, activations in MXFP8
	formats
)

//nolint:gochecknoglobals // a constant table
var formatNames = [formats]string{
	"", "bfloat16", "fp8", "fp8_block", "nvfp4", "int4_wo", "int8_wo", "w4a16_mxfp4", "w4a8_mxfp4_mxfp8",
}

// String is the format as tables name it.
func (f format) String() string { return formatNames[f] }

// scheme is how operators of a format are quantized.
func (f format) scheme() dtype.Scheme {
	switch f {
	case fp8:
		return dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8}
	case fp8Block:
		return dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8, Group: 128, Rows: 128, Scale: dtype.F32}
	case nvfp4:
		return dtype.Scheme{Weight: dtype.FP4, Activation: dtype.FP4, Group: 16, Scale: dtype.FP8}
	case int4Only:
		return dtype.Scheme{Weight: dtype.INT4, Activation: dtype.BF16, Group: 128, Scale: dtype.BF16}
	case int8Only:
		return dtype.Scheme{Weight: dtype.INT8, Activation: dtype.BF16}
	case mxfp4Wide:
		return dtype.Scheme{Weight: dtype.FP4, Activation: dtype.BF16, Group: 32, Scale: dtype.FP8}
	case mxfp4FP8:
		return dtype.Scheme{Weight: dtype.FP4, Activation: dtype.FP8, Group: 32, Scale: dtype.FP8}
	case noFormat, bf16, formats:
	}
	return dtype.Unquantized(dtype.BF16)
}

// wide reports 16-bit formats, which kernels treat alike.
func wide(f dtype.Format) bool { return f == dtype.BF16 || f == dtype.F16 }

// formatOf is the format of a product.
func formatOf(o *op.Op) format {
	if wide(o.In) {
		return wideInputs(o.Weight)
	}
	switch w := o.Weight; {
	case w == dtype.FP8 && o.In == dtype.FP8 && o.Bytes > units.Bytes(8*o.Rows):
		return fp8Block // scales of blocks, not of rows
	case w == dtype.FP8 && o.In == dtype.FP8:
		return fp8
	case w == dtype.FP4 && o.In == dtype.FP4:
		return nvfp4
	case w == dtype.FP4 && o.In == dtype.FP8:
		return mxfp4FP8
	}
	return noFormat
}

// wideInputs is the format of a product of 16-bit inputs with weights.
func wideInputs(weight dtype.Format) format {
	switch {
	case wide(weight):
		return bf16
	case weight == dtype.FP4:
		return mxfp4Wide
	case weight == dtype.INT4:
		return int4Only
	case weight == dtype.INT8:
		return int8Only
	}
	return noFormat
}

// cacheFormat is the format of a KV cache or of attention.
func cacheFormat(f dtype.Format) format {
	switch {
	case wide(f):
		return bf16
	case f == dtype.FP8:
		return fp8
	}
	return noFormat
}

// element is the element format of attention in a format.
func (f format) element() dtype.Format {
	if f == fp8 {
		return dtype.FP8
	}
	return dtype.BF16
}

// measurement is a row as operators.
type measurement struct {
	place   [2]float64
	line, x float64
	deal    deal
	ops     []op.Op // what was measured
	beside  []op.Op // what was measured with it and is an operator of its own
	surely  []op.Op // what was measured at least, where ops are an average
	seconds float64
}

// least is the work that was done in any case.
func (m *measurement) least() []op.Op {
	if m.surely != nil {
		return m.surely
	}
	return m.ops
}

// reading is how the rows of a group are found and understood.
type reading struct {
	table string
	query perfdata.Query
	// row makes a measurement of the values, in the order of the query; false
	// leaves it out.
	row func(v []float64) (measurement, bool)
	// skip names parts of kernel sources to leave out.
	skip []string
}

// common completes a query: the kernel's name, and the latency in milliseconds
// as the first value.
func common(q perfdata.Query) perfdata.Query {
	q.Labels = []string{"kernel_source"}
	q.Values = append([]string{"latency"}, q.Values...)
	q.Optional = append(q.Optional, "kernel_source")
	return q
}

// readings are the tables of a group, each with several queries of which the
// first that finds rows counts.
func (g *group) readings() [][]reading {
	switch g.family {
	case products:
		return [][]reading{{g.products()}}
	case prefills, decodes:
		return [][]reading{{g.attention()}}
	case latentPrefills, latentDecodes:
		return [][]reading{{g.latent()}}
	case absorptions, expansions:
		return [][]reading{{g.projection()}}
	case expertLayers:
		return [][]reading{g.experts()}
	case scans, updates:
		return [][]reading{{g.delta()}}
	case reduces:
		return [][]reading{{g.customReduce()}, {g.collective("all_reduce")}}
	case gathers:
		return [][]reading{{g.collective("all_gather")}}
	case scatters:
		return [][]reading{{g.collective("reduce_scatter")}}
	case exchanges:
		return [][]reading{{g.collective("alltoall")}}
	case families:
	}
	return nil
}

// product is a matrix product as the graph emits it: with the traffic of its
// scales.
func product(kind op.Kind, f format, rows, cols, depth, matrices float64) op.Op {
	s := f.scheme()
	o := op.Op{
		Kind: kind, In: s.Activation, Weight: s.Weight, Out: dtype.BF16, VectorIn: dtype.BF16,
		Rows: rows, Cols: cols, Depth: depth,
	}
	if s.Quantized() {
		o.Bytes = units.Bytes(matrices) * (s.WeightBytes(cols, depth) - s.Weight.Bytes(cols*depth))
		switch {
		case s.WeightOnly():
		case s.Group > 0:
			o.Bytes += s.Scale.Bytes(rows * math.Ceil(depth/float64(s.Group)))
		default:
			o.Bytes += units.Bytes(4 * rows)
		}
	}
	return o
}

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
			return measurement{
				place: [2]float64{math.Log2(n), math.Log2(k)}, x: math.Log2(m), seconds: v[0] / 1e3,
				ops: []op.Op{product(op.GEMM, g.in, m, n, k, 1)},
			}, true
		},
	}
}

// attention reads full attention over a head width: a site is a number of query
// and KV heads, a line a batch, a curve the time by length.
func (g *group) attention() reading {
	q := perfdata.Query{
		Text:     map[string]string{"kv_cache_dtype": g.kv.String()},
		Number:   map[string]float64{"head_dim": g.exactly[0], "window_size": 0},
		Values:   []string{"batch_size", "isl", "num_heads", "num_key_value_heads", "step", "head_dim"},
		Optional: []string{"window_size", "step"},
	}
	if g.exactly[0] == 0 { // any
		delete(q.Number, "head_dim")
	}
	table := "generation_attention"
	if g.family == prefills {
		table = "context_attention"
		q.Text["attn_dtype"] = g.in.String()
		q.Number["step"] = 0
	}
	return reading{table: table, query: common(q), row: func(v []float64) (measurement, bool) {
		b, s, heads, kv, d := v[1], v[2], v[3], v[4], v[6]
		if kv == 0 { // as many as query heads
			kv = heads
		}
		o := op.Op{
			Kind: op.Attention, In: g.in.element(), Out: dtype.BF16, KV: g.kv.element(), VectorIn: dtype.BF16,
			Heads: heads, KVHeads: kv, HeadDim: d, ValueDim: d,
		}
		if g.family == decodes {
			o.In = dtype.BF16
			s += v[5]
		}
		return g.phase(&o, b, s, [2]float64{math.Log2(heads), math.Log2(kv)}, v[0]), true
	}}
}

// phase completes a measurement of attention.
func (g *group) phase(o *op.Op, b, s float64, place [2]float64, ms float64) measurement {
	if g.family == decodes || g.family == latentDecodes {
		o.Decode = op.Span{Requests: b, Tokens: b, Pairs: b * s, Context: b * s}
	} else {
		o.Prefill = op.Span{Requests: b, Tokens: b * s, Pairs: b * s * (s + 1) / 2, Context: b * s}
	}
	return measurement{place: place, line: math.Log2(b), x: math.Log2(s), seconds: ms / 1e3, ops: []op.Op{*o}}
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
	decode := g.family == latentDecodes
	q := perfdata.Query{
		Text:   map[string]string{"kv_cache_dtype": g.kv.String()},
		Values: []string{"batch_size", "isl", "num_heads", "step"}, Optional: []string{"step"},
	}
	table := "generation_mla"
	if !decode {
		table = "context_mla"
		q.Text["mla_dtype"] = g.in.String()
		q.Number = map[string]float64{"step": 0}
	}
	return reading{table: table, query: common(q), row: func(v []float64) (measurement, bool) {
		b, s, heads := v[1], v[2], v[3]
		if decode {
			s += v[4]
		}
		o := latentAttention(decode, heads, g.in.element(), g.kv.element())
		return g.phase(&o, b, s, [2]float64{math.Log2(heads), 0}, v[0]), true
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
			return measurement{
				place: [2]float64{math.Log2(heads), 0}, x: math.Log2(tokens), seconds: v[0] / 1e3,
				ops: []op.Op{absorbed(g.family == expansions, tokens, heads, g.in)},
			}, true
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
		out := measurement{place: [2]float64{math.Log2(values), math.Log2(keys)}, seconds: v[0] / 1e3}
		span := op.Span{Requests: b, Tokens: b * s}
		if g.family == updates {
			o.Decode, out.x = span, math.Log2(b)
		} else {
			o.Prefill, out.line, out.x = span, math.Log2(b), math.Log2(s)
		}
		out.ops = []op.Op{o}
		return out, true
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
	return measurement{
		place: [2]float64{math.Log2(n), 0}, x: math.Log2(float64(o.Payload)), seconds: v[0] / 1e3, ops: []op.Op{o},
	}, true
}

// skipped reports whether a kernel source is to be left out.
func (r *reading) skipped(kernel string) bool {
	for _, s := range r.skip {
		if strings.Contains(kernel, s) {
			return true
		}
	}
	return false
}
