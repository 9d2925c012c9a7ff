package table_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// every trusts all families.
func every(string) bool { return true }

// shipped are the prices of a device by the surfaces that come with the program, and by
// its forms.
func shipped(tb rapid.TB, f *table.Fitted) (*table.Model, *calibrated.Model, *device.Profile) {
	tb.Helper()
	d, err := device.Lookup(f.System)
	if err != nil {
		tb.Fatal(err)
	}
	base, ok := calibrated.New(d)
	if !ok {
		tb.Fatalf("no forms of %s", f.System)
	}
	return table.NewFitted(f, every, d, base).On(base), base, d
}

// check decodes everything.
func check(s *table.Surfaces) error {
	var errs []error
	for _, f := range s.Systems {
		errs = append(errs, f.Check())
	}
	return errors.Join(errs...)
}

// TestShippedSurfaces: they can be read, are of the systems they name, and are relative
// to what the forms say today.
func TestShippedSurfaces(t *testing.T) {
	s := table.Shipped()
	if err := check(s); err != nil {
		t.Fatal(err)
	}
	var systems []string
	for _, f := range s.Systems {
		systems = append(systems, f.System)
		_, _, d := shipped(t, f)
		if f.Base != calibrated.Fingerprint(d) {
			t.Errorf("%s: coefficients.yaml or the profile has changed since surfaces.bin was made: run \"make data KERNELS=DIR\"", f.System)
		}
		if got := table.MeasuredOn(d); got != f.Measured {
			t.Errorf("%s: want %+v, got %+v", f.System, got, f.Measured)
		}
	}
	if want := []string{"a100_sxm", "b200_sxm", "b300_sxm", "h100_sxm", "h200_sxm", "l40s"}; !slices.Equal(want, systems) {
		t.Errorf("want surfaces of %v, got %v", want, systems)
	}
}

// span is requests of equal length in one phase.
func span(requests, tokens, cached float64) op.Span {
	return op.Span{Requests: requests, Tokens: requests * tokens, Pairs: requests * tokens * (cached + tokens/2), Context: requests * (cached + tokens)}
}

// operators are some of decodes and prefills, as a graph makes them, of a size.
func operators(size float64) map[string]op.Op {
	b16, f8 := dtype.BF16, dtype.FP8
	attention := op.Op{Kind: op.Attention, In: b16, Out: b16, KV: b16, VectorIn: b16, Heads: 8, KVHeads: 2, HeadDim: 128, ValueDim: 128}
	prefill, decode := attention, attention
	prefill.Prefill, decode.Decode = span(2, size, 0), span(32, 1, size)
	latent := op.Op{
		Kind: op.Latent, In: b16, Weight: b16, Out: b16, KV: b16, VectorIn: b16,
		Heads: 16, HeadDim: 192, ValueDim: 128, Rank: 512, Rope: 64, Decode: span(32, 1, size),
	}
	const experts, choice, ranks = 256, 8, 8
	deal := op.Deal{Experts: experts, Choice: choice, Ranks: ranks}
	rows, active := deal.Dealt(false).Busiest(size * ranks / choice)
	reduce := op.Op{
		Kind: op.Collective, Comm: op.AllReduce, Group: parallel.Group{Size: 4, Stride: 1},
		Payload: units.Bytes(size * 10240), Bytes: units.Bytes(2 * size * 10240),
	}
	return map[string]op.Op{
		"product": {Kind: op.GEMM, In: b16, Weight: b16, Out: b16, VectorIn: b16, Rows: size, Cols: 5120, Depth: 3200},
		"prefill": prefill, "decode": decode, "latent decode": latent, "all-reduce": reduce,
		"experts": {
			Kind: op.GroupedGEMM, In: f8, Weight: f8, Out: b16, VectorIn: b16, Rows: rows, Cols: 4096, Depth: 7168, OutCols: 2048,
			Experts: active, Deal: deal, Bytes: units.Bytes(16 * rows),
		},
	}
}

// TestSurfaceLaws: no price is below the speed of light, twice the size is no bargain,
// and a little more size is a little more time.
func TestSurfaceLaws(t *testing.T) {
	for _, f := range table.Shipped().Systems {
		m, forms, d := shipped(t, f)
		limit := table.NewLimit(d)
		covered := map[string]int{}
		rapid.Check(t, func(rt *rapid.T) {
			size := math.Exp2(rapid.Float64Range(4, 12).Draw(rt, "log size"))
			twice, beside := operators(2*size), operators(size*(1+1e-7))
			for name, o := range operators(size) {
				p := m.Cost(&o)
				if m.Source(&o) != "" {
					covered[name]++
				} else if want := forms.Cost(&o); p != want {
					rt.Errorf("%s: not covered, and not what the form says: want %v, got %v", name, want, p)
				}
				if least := limit.Of(&o); p.Total < least*(1-1e-9) {
					rt.Errorf("%s of %g: %v is below the speed of light, %v", name, size, p.Total, least)
				}
				next, same := twice[name], beside[name]
				if x := m.Cost(&next).Total; x < 0.9*p.Total {
					rt.Errorf("%s: %g take %v, twice as many %v", name, size, p.Total, x)
				}
				if x := m.Cost(&same).Total; math.Abs(float64(x/p.Total-1)) > 1e-5 {
					rt.Errorf("%s: jumps at %g from %v to %v", name, size, p.Total, x)
				}
			}
		})
		for _, name := range []string{"product", "prefill", "decode", "latent decode", "all-reduce"} {
			if covered[name] == 0 {
				t.Errorf("%s: no surface of %s", f.System, name)
			}
		}
	}
}

// TestUntrusted: a family that is not trusted is priced by its form.
func TestUntrusted(t *testing.T) {
	f := table.Shipped().Systems[0]
	_, forms, d := shipped(t, f)
	m := table.NewFitted(f, func(family string) bool { return family == "decode.wide" }, d, forms).On(forms)
	for name, o := range operators(1000) {
		if got := m.Cost(&o) != forms.Cost(&o); got != (name == "decode") {
			t.Errorf("%s: priced by surfaces is %v", name, got)
		}
	}
}

// waves is a table of products that differ from the form by a factor that changes
// smoothly.
func waves(t rapid.TB) fstest.MapFS {
	_, base := h200(t)
	var rows []gemmRow
	for n := int64(1024); n <= 8192; n *= 2 {
		for k := int64(1024); k <= 8192; k *= 2 {
			for m := int64(1); m <= 4096; m += 1 + m/4 {
				o := product(float64(m), float64(n), float64(k))
				x := math.Log2(float64(m * n / k))
				rows = append(rows, gemmRow{"a", "bfloat16", m, n, k, 1e3 * float64(base.Cost(&o).Total) * math.Exp(-0.1+0.15*math.Sin(x/3))})
			}
		}
	}
	dir := fstest.MapFS{}
	put(t, dir, "gemm/vllm/1.0/gemm", rows...)
	return dir
}

// fitted are surfaces made of a directory and read back, and their file.
func fitted(t rapid.TB, dir fstest.MapFS) (*table.Surfaces, []table.LeftOut, []byte) {
	t.Helper()
	f, left, err := open(t, dir).tables.Fit()
	if err != nil {
		t.Fatal(err)
	}
	d, _ := h200(t)
	f.Measured, f.Base = table.MeasuredOn(d), "base"
	var b bytes.Buffer
	if err := table.WriteSurfaces(&b, &table.Surfaces{Source: "source", Systems: []*table.Fitted{f}}); err != nil {
		t.Fatal(err)
	}
	s, err := table.ReadSurfaces(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return s, left, b.Bytes()
}

// TestSurfacesOfTables: surfaces say what the tables say, within what is dropped and
// rounded, in a fraction of the points; also of rows left out.
func TestSurfacesOfTables(t *testing.T) {
	dir := waves(t)
	s, left, file := fitted(t, dir)
	if s.Source != "source" || len(s.Systems) != 1 || s.Systems[0].Base != "base" || !slices.Equal(s.Systems[0].Families(), []string{"gemm.wide"}) {
		t.Errorf("got %q, %+v", s.Source, s.Systems[0])
	}
	if len(file) > 1500 {
		t.Errorf("%d bytes for a smooth function", len(file))
	}
	tables := open(t, dir)
	d, base := h200(t)
	m := table.NewFitted(s.Systems[0], every, d, base).On(base)
	for _, o := range []op.Op{product(1, 1024, 1024), product(37, 2048, 8192), product(100, 3000, 5000), product(3000, 8192, 2048), product(9000, 1024, 1024)} {
		want, got := tables.Cost(&o).Total, m.Cost(&o)
		if math.Abs(float64(got.Total/want-1)) > 0.045 {
			t.Errorf("%g×%g×%g: want %v, got %v", o.Rows, o.Cols, o.Depth, want, got.Total)
		}
		if got.Measured != 0 {
			t.Errorf("%g×%g×%g: a surface is no measurement", o.Rows, o.Cols, o.Depth)
		}
	}
	if len(left) != 1 || left[0].Family != "gemm.wide" || left[0].Missed > 0 || len(left[0].Surface) < 20 {
		t.Fatalf("left out: %+v", left)
	}
	var worst, form float64
	for i, x := range left[0].Surface {
		worst, form = math.Max(worst, math.Abs(x-1)), math.Max(form, math.Abs(left[0].Form[i]-1))
	}
	if worst > 0.06 || form < 0.2 {
		t.Errorf("rows left out: off by %g by the surface, by %g by the form", worst, form)
	}
}

// TestSurfacesAreSmooth: a row that takes far longer than larger ones is noise.
func TestSurfacesAreSmooth(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "gemm/vllm/1.0/gemm",
		gemmRow{"a", "bfloat16", 64, 4096, 4096, 0.1}, gemmRow{"a", "bfloat16", 128, 4096, 4096, 0.3}, gemmRow{"a", "bfloat16", 256, 4096, 4096, 0.1})
	s, _, _ := fitted(t, dir)
	d, base := h200(t)
	m := table.NewFitted(s.Systems[0], every, d, base).On(base)
	small, large := product(128, 4096, 4096), product(256, 4096, 4096)
	if a, b := m.Cost(&small).Total, m.Cost(&large).Total; b < 0.9*a {
		t.Errorf("128 rows take %v, 256 rows %v", a, b)
	}
}

func TestDamagedSurfaces(t *testing.T) {
	_, _, file := fitted(t, waves(t))
	for _, n := range []int{0, 10, 30, 100, len(file) - 1} {
		if s, err := table.ReadSurfaces(file[:n]); err == nil && check(s) == nil {
			t.Errorf("the first %d of %d bytes are a file", n, len(file))
		}
	}
	if _, err := table.ReadSurfaces(append(slices.Clone(file), 0)); err == nil {
		t.Error("a byte too many is no mistake")
	}
	other := bytes.Replace(file, []byte("surfaces 3\n"), []byte("surfaces 9\n"), 1)
	if _, err := table.ReadSurfaces(other); err == nil {
		t.Error("another version is read")
	}
}

func FuzzReadSurfaces(f *testing.F) {
	_, _, file := fitted(f, waves(f))
	f.Add(file)
	f.Add(file[:len(file)/2])
	d, base := h200(f)
	f.Fuzz(func(_ *testing.T, data []byte) {
		s, err := table.ReadSurfaces(data)
		if err != nil || check(s) != nil {
			return
		}
		for _, f := range s.Systems {
			m := table.NewFitted(f, every, d, base).On(base)
			for _, o := range operators(100) {
				m.Cost(&o)
			}
		}
	})
}

// TestSurfacesAllocateNothing: once decoded.
func TestSurfacesAllocateNothing(t *testing.T) {
	m, _, _ := shipped(t, table.Shipped().Systems[4])
	for name, o := range operators(1000) {
		if n := testing.AllocsPerRun(100, func() { m.Cost(&o) }); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

// BenchmarkSurfaces compares the price of an operator by its form alone and with
// surfaces.
func BenchmarkSurfaces(b *testing.B) {
	surfaces, forms, _ := shipped(b, table.Shipped().Systems[4])
	for name, o := range operators(1000) {
		for _, by := range []struct {
			name string
			cost.Coster
		}{{"forms", forms}, {"surfaces", surfaces}} {
			b.Run("op="+name+"/by="+by.name, func(b *testing.B) {
				b.ReportAllocs()
				by.Cost(&o) // decodes what it needs
				for b.Loop() {
					by.Cost(&o)
				}
			})
		}
	}
}

// BenchmarkDecode is what a command pays for surfaces: the index, and those of the
// operators it prices.
func BenchmarkDecode(b *testing.B) {
	var file bytes.Buffer
	if err := table.WriteSurfaces(&file, table.Shipped()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := table.ReadSurfaces(file.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		m, _, _ := shipped(b, s.Systems[4])
		for _, o := range operators(1000) {
			m.Cost(&o)
		}
	}
}
