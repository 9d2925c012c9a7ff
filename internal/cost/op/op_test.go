package op

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// TestOpIsAKey: operators are compared, so equal shapes must be equal values and
// nothing in them may be a reference.
func TestOpIsAKey(t *testing.T) {
	for _, v := range []any{Item{}, Work{}} {
		if !reflect.TypeOf(v).Comparable() {
			t.Errorf("%T cannot be compared", v)
		}
	}
}

// TestWork compares with the formulas of the reference, worked out by hand.
func TestWork(t *testing.T) {
	const f16 = dtype.F16
	plain := Op{In: f16, Weight: f16, Out: f16, KV: f16, VectorIn: f16}
	with := func(change func(*Op)) Op {
		o := plain
		change(&o)
		return o
	}
	span := Span{Requests: 1, Tokens: 3, Pairs: 30, Context: 10}
	latent := func(o *Op) {
		o.Kind, o.Heads, o.HeadDim, o.ValueDim, o.Rank, o.Rope = Latent, 2, 6, 4, 8, 2 // 4 unrotated
	}
	for _, c := range []struct {
		name   string
		op     Op
		bytes  units.Bytes
		matrix units.Ops
		vector units.Ops
	}{
		{"mm", with(func(o *Op) { o.Kind, o.Rows, o.Depth, o.Cols = GEMM, 3, 5, 7 }), 2 * (3*5 + 5*7 + 3*7), 2 * 3 * 5 * 7, 0},
		{"quantized", with(func(o *Op) {
			o.Kind, o.Rows, o.Depth, o.Cols, o.Bytes = GEMM, 3, 5, 7, 8
			o.In, o.Weight = dtype.INT8, dtype.INT4
		}), 3*5 + 5*7/2. + 2*3*7 + 8, 2 * 3 * 5 * 7, 0},
		{"grouped", with(func(o *Op) { o.Kind, o.Rows, o.Depth, o.Cols, o.Experts = GroupedGEMM, 12, 5, 8, 4 }), 2 * (12*5 + 4*5*8 + 12*8), 2 * 12 * 5 * 8, 0},
		{"grouped, fused", with(func(o *Op) {
			o.Kind, o.Rows, o.Depth, o.Cols, o.Experts, o.OutCols, o.Vector = GroupedGEMM, 12, 5, 8, 4, 4, 7*12*4
		}), 2 * (12*5 + 4*5*8 + 12*4), 2 * 12 * 5 * 8, 7 * 12 * 4},
		{"attention", with(func(o *Op) {
			o.Kind, o.Heads, o.KVHeads, o.HeadDim, o.ValueDim, o.Prefill = Attention, 4, 2, 8, 8, span
		}), 2 * (2*3*4*8 + 10*2*2*8), 4 * 30 * 4 * 8, 4 * 30 * 4},
		{"attention over an 8-bit cache", with(func(o *Op) {
			o.Kind, o.Heads, o.KVHeads, o.HeadDim, o.ValueDim, o.Decode, o.KV = Attention, 4, 2, 8, 8, span, dtype.FP8
		}), 2*2*3*4*8 + 10*2*2*8, 4 * 30 * 4 * 8, 4 * 30 * 4},
		{
			"latent decode", with(func(o *Op) { latent(o); o.Decode = span }),
			2 * (8*2*(4+4) + 3*2*6 + 3*2*4 + 10*(8+2)), 2*3*2*4*8 + 2*30*2*(8+2) + 2*30*2*8 + 2*3*2*8*4, 4 * 30 * 2,
		},
		{
			"latent prefill", with(func(o *Op) { latent(o); o.Prefill, o.Expanded = span, 10 }),
			2 * (8*2*(4+4) + 3*2*6 + 3*2*4 + 10*(8+2)), 2*10*2*(4+4)*8 + 2*30*2*6 + 2*30*2*4, 4 * 30 * 2,
		},
		{"elementwise", with(func(o *Op) { o.Bytes, o.Matrix, o.Vector, o.Rows = 9, 8, 7, 100 }), 9, 8, 7},
	} {
		w := c.op.Work()
		if w.Bytes != c.bytes || w.Matrix != c.matrix || w.Vector != c.vector {
			t.Errorf("%s: want %g bytes, %g and %g operations; got %+v", c.name, c.bytes, c.matrix, c.vector, w)
		}
		if w.MatrixIn != c.op.In || w.VectorIn != f16 {
			t.Errorf("%s: works in %v and %v", c.name, w.MatrixIn, w.VectorIn)
		}
	}
}

// TestWorkGrows: no size of an operator makes its work smaller.
func TestWorkGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Op{
			Kind: Kind(rapid.IntRange(int(Elementwise), int(Transfer)).Draw(t, "kind")),
			In:   dtype.FP8, Weight: dtype.FP4, Out: dtype.BF16, KV: dtype.INT8,
		}
		var sizes []reflect.Value
		for _, at := range []reflect.Value{
			reflect.ValueOf(&o).Elem(), reflect.ValueOf(&o.Prefill).Elem(), reflect.ValueOf(&o.Decode).Elem(),
		} {
			for f, v := range at.Fields() {
				// Rope is a part of the width, and without OutCols it is Cols.
				if v.Kind() == reflect.Float64 && f.Name != "Rope" && f.Name != "OutCols" {
					v.SetFloat(float64(rapid.IntRange(1, 100).Draw(t, f.Name)))
					sizes = append(sizes, v)
				}
			}
		}
		before := o.Work()
		size := rapid.SampledFrom(sizes).Draw(t, "size")
		size.SetFloat(size.Float() + 5)
		if w := o.Work(); w.Bytes < before.Bytes || w.Matrix < before.Matrix || w.Vector < before.Vector || w.Vector32 < before.Vector32 {
			t.Errorf("%+v: %+v shrinks to %+v", o, before, w)
		}
	})
}
