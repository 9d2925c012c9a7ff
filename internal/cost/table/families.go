package table

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/perfdata"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
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
	if f <= bf16 {
		return dtype.Unquantized(dtype.BF16)
	}
	s, _ := dtype.Weights(f.String(), dtype.BF16)
	return s
}

// wide reports 16-bit formats, which kernels treat alike.
func wide(f dtype.Format) bool { return f == dtype.BF16 || f == dtype.F16 }

// formatOf is the format of a product.
func formatOf(o *op.Op) format {
	switch w := o.Weight; {
	case wide(o.In):
		return wideInputs(w)
	case o.In == dtype.FP8 && o.BlockScaled():
		return fp8Block
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
	deal    op.Deal
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
