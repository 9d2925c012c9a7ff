package table_test

import (
	"math"
	"testing"

	"plimsoll/internal/cost"
	"plimsoll/internal/cost/calibrated"
	"plimsoll/internal/cost/table"
	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/op"
	"plimsoll/internal/parallel"
	"plimsoll/internal/units"
)

// every trusts all families.
func every(string) bool { return true }

// shipped are the surfaces of a device that come with the program, and its forms.
func shipped(tb testing.TB, system string) (*table.Model, *calibrated.Model) {
	tb.Helper()
	d, err := device.Lookup(system)
	if err != nil {
		tb.Fatal(err)
	}
	base, ok := calibrated.New(d)
	if !ok {
		tb.Fatalf("no forms of %s", system)
	}
	for _, f := range table.Shipped().Systems {
		if f.System == system {
			return table.NewFitted(f, every, d, base).On(base), base
		}
	}
	tb.Fatalf("no surfaces of %s", system)
	return nil, nil
}

// bench are operators of decodes and prefills, as a graph makes them.
func bench() map[string]op.Op {
	const rows, b, s = 48., 48., 3000.
	decode := op.Span{Requests: b, Tokens: b, Pairs: b * s, Context: b * s}
	prefill := op.Span{Requests: 2, Tokens: 2 * s, Pairs: s * s, Context: 2 * s}
	block := op.Op{
		Kind: op.GEMM, In: dtype.FP8, Weight: dtype.FP8, Out: dtype.BF16, VectorIn: dtype.BF16, Rows: rows, Cols: 5120, Depth: 3200,
		Bytes: 100000,
	}
	return map[string]op.Op{
		"product":       {Kind: op.GEMM, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, VectorIn: dtype.BF16, Rows: rows, Cols: 5120, Depth: 3200},
		"block product": block,
		"decode": {
			Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16,
			Heads: 8, KVHeads: 1, HeadDim: 128, ValueDim: 128, Decode: decode,
		},
		"prefill": {
			Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16,
			Heads: 8, KVHeads: 1, HeadDim: 128, ValueDim: 128, Prefill: prefill,
		},
		"latent decode": {
			Kind: op.Latent, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, KV: dtype.FP8, VectorIn: dtype.BF16,
			Heads: 16, HeadDim: 192, ValueDim: 128, Rank: 512, Rope: 64, Decode: decode,
		},
		"experts": {
			Kind: op.GroupedGEMM, In: dtype.FP8, Weight: dtype.FP8, Out: dtype.BF16, VectorIn: dtype.BF16,
			Rows: 512, Cols: 4096, Depth: 7168, OutCols: 2048, Experts: 28.0, Bytes: 100000,
		},
		"all-reduce": {Kind: op.Collective, Comm: op.AllReduce, Group: parallel.Group{Size: 8, Stride: 1}, Payload: units.Bytes(rows * 10240), Bytes: units.Bytes(2 * rows * 10240)},
	}
}

// BenchmarkSurfaces compares the price of an operator by its form alone and with surfaces.
func BenchmarkSurfaces(b *testing.B) {
	surfaces, forms := shipped(b, "h200_sxm")
	for name, o := range bench() {
		for _, by := range []struct {
			name string
			cost.Coster
		}{{"forms", forms}, {"surfaces", surfaces}} {
			b.Run("op="+name+"/by="+by.name, func(b *testing.B) {
				b.ReportAllocs()
				sum := by.Cost(&o).Total // which decodes what it needs
				b.ResetTimer()
				for b.Loop() {
					sum += by.Cost(&o).Total
				}
				if math.IsNaN(float64(sum)) || sum == 0 {
					b.Fatal(sum)
				}
			})
		}
		if surfaces.Source(&o) == "" {
			b.Logf("%s is not covered", name)
		}
	}
}
