package tensorcast

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// product gives a quantized product its scales: one byte for each block scale of inputs and weights,
// and four-bit weights are dequantized in float32 first. MXFP4 products carry the scales
// of one of the layers joined into them, and for each expert those of all rows.
func (w cast) product(p graph.Part) bool {
	o := w.Emitted()
	if p.Weight == dtype.FP4 && w.does.has(narrowingExperts) && o.Name == op.GroupedMatMulQuant {
		o.Name = op.GroupedMatMulFP4
	}
	if !w.Spec().Policy.QuantizedActivations {
		return false
	}
	matrices := 1.0
	if o.Kind == op.GroupedGEMM {
		matrices = o.Experts
	}
	if p.Weight == dtype.INT4 {
		o.Vector32 = units.Ops(matrices * o.Depth * o.Cols)
	}
	if p.Group == 0 {
		o.Bytes = units.Bytes(2 * scaleBytes * matrices)
		return true
	}
	blocks := math.Ceil(o.Depth / float64(p.Group))
	if p.Weight == dtype.FP4 {
		o.Bytes = units.Bytes(matrices * (o.Rows + o.Cols/float64(p.Joined)) * blocks)
	} else {
		o.Bytes = units.Bytes((o.Rows + matrices*o.Cols) * blocks)
	}
	return true
}

// narrowOutput quantizes what the first product of MXFP4 experts yields, in it.
func (w cast) narrowOutput(graph.Part) bool {
	s, o := w.Spec().Quant.Experts, w.Emitted()
	scales := o.Rows * math.Ceil(o.OutCols/float64(s.Group))
	o.Name, o.Out = op.GroupedMatMulFP4SwiGLUQuant, s.Weight
	o.Bytes += units.Bytes(scales)
	o.Vector += units.Ops(2*o.Rows*o.OutCols + scales)
	return true
}
