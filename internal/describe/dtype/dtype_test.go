package dtype_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

func TestFormats(t *testing.T) {
	want := map[dtype.Format]struct {
		name  string
		width float64
	}{
		dtype.F32: {"f32", 4}, dtype.BF16: {"bf16", 2}, dtype.F16: {"f16", 2}, dtype.FP8: {"fp8", 1},
		dtype.INT8: {"int8", 1}, dtype.FP4: {"fp4", 0.5}, dtype.INT4: {"int4", 0.5},
	}
	if len(want) != int(dtype.Formats)-1 {
		t.Fatalf("%d formats, want %d", dtype.Formats-1, len(want))
	}
	for f, w := range want {
		if f.String() != w.name || f.Width() != w.width || f.Bytes(3) != units.Bytes(3*w.width) {
			t.Errorf("%s: got %v, %g bytes, three in %v", w.name, f, f.Width(), f.Bytes(3))
		}
		if got, ok := dtype.Parse(w.name); !ok || got != f {
			t.Errorf("Parse(%q): got %v, %t", w.name, got, ok)
		}
	}
	for _, name := range []string{"", "?", "BF16", "fp16"} {
		if f, ok := dtype.Parse(name); ok {
			t.Errorf("Parse(%q): got %v", name, f)
		}
	}
	if dtype.None.String() != "" || dtype.None.Width() != 0 || dtype.Formats.String() != "?" {
		t.Errorf("no format: got %q, %g, %q", dtype.None, dtype.None.Width(), dtype.Formats)
	}
}

// TestSchemes: what each action stores, computes in and is called; the bytes are
// those of a weight of 256 × 512 elements.
func TestSchemes(t *testing.T) {
	const n = 256 * 512
	for _, c := range []struct {
		action           dtype.Action
		weight, act      dtype.Format
		bytes            units.Bytes
		name             string
		static, narrowed bool
	}{
		{dtype.Auto, dtype.BF16, dtype.BF16, 2 * n, "bf16", false, false},
		{dtype.Disabled, dtype.BF16, dtype.BF16, 2 * n, "bf16", false, false},
		{dtype.W8A16Static, dtype.INT8, dtype.BF16, n, "w8a16 int8", true, true},
		{dtype.W8A8Static, dtype.INT8, dtype.INT8, n, "w8a8 int8", true, true},
		{dtype.W4A8Static, dtype.INT4, dtype.INT8, n / 2, "w4a8 int4", true, true},
		{dtype.W8A16Dynamic, dtype.INT8, dtype.BF16, n, "w8a16 int8", false, true},
		{dtype.W8A8Dynamic, dtype.INT8, dtype.INT8, n, "w8a8 int8", false, true},
		{dtype.W4A8Dynamic, dtype.INT4, dtype.INT8, n / 2, "w4a8 int4", false, true},
		{dtype.FP8Action, dtype.FP8, dtype.FP8, n, "fp8", false, true},
		{dtype.MXFP4Action, dtype.FP4, dtype.FP4, n/2 + n/32, "mxfp4", false, true},
	} {
		s := c.action.Scheme(dtype.BF16, 32)
		if s.Weight != c.weight || s.Activation != c.act || s.Static != c.static || s.Quantized() != c.narrowed || s.Action != c.action {
			t.Errorf("%s: got %+v", c.action, s)
		}
		if s.WeightOnly() != (c.narrowed && c.act == dtype.BF16) {
			t.Errorf("%s: weight-only %t", c.action, s.WeightOnly())
		}
		if got := s.WeightBytes(256, 512); got != c.bytes {
			t.Errorf("%s: want %v, got %v", c.action, c.bytes, got)
		}
		if got := s.Name(); got != c.name {
			t.Errorf("%s: want %q, got %q", c.action, c.name, got)
		}
	}
	if got := len(dtype.LinearActions()); got != 10 {
		t.Errorf("%d linear actions, want those ten", got)
	}
}

// TestCheckpointSchemes are the storage forms that no action names.
func TestCheckpointSchemes(t *testing.T) {
	const n = 256 * 512
	for _, c := range []struct {
		scheme dtype.Scheme
		name   string
		bytes  units.Bytes
	}{
		{dtype.Unquantized(dtype.F16), "f16", 2 * n},
		{dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8, Group: 128, Rows: 128, Scale: dtype.F32}, "fp8 block", n + n/128/128*4},
		{dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8, Group: 32, Scale: dtype.FP8}, "fp8 block", n + n/32},
		{dtype.Scheme{Weight: dtype.FP8, Activation: dtype.BF16, Group: 32, Scale: dtype.FP8}, "w8a16 fp8", n + n/32},
		{dtype.Scheme{Weight: dtype.FP4, Activation: dtype.FP4, Group: 16, Scale: dtype.FP8}, "nvfp4", n/2 + n/16},
		{dtype.Scheme{Weight: dtype.FP4, Activation: dtype.BF16, Group: 16, Scale: dtype.FP8}, "nvfp4 w4a16", n/2 + n/16},
		{dtype.Scheme{Weight: dtype.FP4, Activation: dtype.BF16, Group: 32, Scale: dtype.FP8}, "mxfp4 w4a16", n/2 + n/32},
		{dtype.Scheme{Weight: dtype.INT4, Activation: dtype.BF16, Group: 128, Scale: dtype.BF16}, "w4a16 int4", n/2 + n/128*2},
		{dtype.Scheme{Weight: dtype.INT4, Activation: dtype.FP8, Group: 128, Scale: dtype.BF16}, "w4a8 int4 fp8", n/2 + n/128*2},
	} {
		if got := c.scheme.Name(); got != c.name {
			t.Errorf("want %q, got %q", c.name, got)
		}
		if got := c.scheme.WeightBytes(256, 512); got != c.bytes {
			t.Errorf("%s: want %v, got %v", c.name, c.bytes, got)
		}
	}
}

// TestScalesOnlyAdd: scales add to the weights, and twice the rows weigh twice
// as much.
func TestScalesOnlyAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := func(name string) dtype.Format {
			return dtype.Format(rapid.IntRange(int(dtype.F32), int(dtype.INT4)).Draw(t, name))
		}
		s := dtype.Scheme{
			Weight: format("weight"), Activation: format("activation"), Scale: format("scale"),
			Group: rapid.IntRange(0, 256).Draw(t, "group"), Rows: rapid.IntRange(0, 256).Draw(t, "rows"),
		}
		rows, depth := float64(rapid.IntRange(1, 9999).Draw(t, "out")), float64(rapid.IntRange(1, 9999).Draw(t, "in"))
		got := s.WeightBytes(rows, depth)
		if got < s.Weight.Bytes(rows*depth) {
			t.Errorf("%+v: %v is less than the weights alone", s, got)
		}
		if twice := s.WeightBytes(2*rows, depth); twice-2*got > 1e-6 || 2*got-twice > 1e-6 {
			t.Errorf("%+v: %v, of twice the rows %v", s, got, twice)
		}
	})
}
