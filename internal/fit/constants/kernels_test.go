package constants_test

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/fit/constants"
)

// kernelsOf measures a device whose kernels follow the forms with constants of
// their own, but for two in twenty-one, one three times as slow and one as fast.
func kernelsOf(t *testing.T, name string, truth *calibrated.Constants) constants.Kernels {
	t.Helper()
	d, err := device.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	m := calibrated.With(d, truth)
	out := constants.Kernels{Device: d}
	add := func(form, format string, o *op.Op) {
		s := m.Cost(o).Total
		switch len(out.Samples) % 21 {
		case 0:
			s *= 3
		case 10:
			s /= 3
		}
		out.Samples = append(out.Samples, table.Sample{Form: form, Format: format, Ops: []op.Op{*o}, Seconds: s})
	}
	for rows := 1.0; rows <= 1<<14; rows *= 2 {
		for cols := 128.0; cols <= 1<<15; cols *= 4 {
			for depth := 512.0; depth <= 1<<14; depth *= 2 {
				o := op.Op{Kind: op.GEMM, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, VectorIn: dtype.BF16, Rows: rows, Cols: cols, Depth: depth}
				add(table.FormProduct, "bfloat16", &o)
			}
		}
	}
	for _, n := range []int32{2, 4, 8} {
		for payload := 256.0; payload <= 1<<28; payload *= 2 {
			o := op.Op{Kind: op.Collective, Comm: op.AllReduce, Group: parallel.Group{Size: n, Stride: 1}, Payload: units.Bytes(payload), Bytes: units.Bytes(2 * payload)}
			add(table.FormComm, "all_reduce", &o)
		}
	}
	return out
}

// TestFitKernels: constants are found again in spite of outliers, from both
// devices of a generation; what was not measured stays.
func TestFitKernels(t *testing.T) {
	truth, ok := calibrated.Nearest("hopper")
	if !ok {
		t.Fatal("no constants of hopper")
	}
	truth.GEMM.Wide = calibrated.Product{Launch: 6, Compute: 0.5, Memory: 0.6, Soft: 2, Depth: 0.6}
	truth.Comm.Reduce = calibrated.Link{Launch: 8, PerRank: 0.5, Efficiency: 0.4}
	got, errs, err := constants.FitKernels(t.Context(), []constants.Kernels{kernelsOf(t, "h100_sxm", &truth), kernelsOf(t, "h200_sxm", &truth)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fitted, want := got["hopper"], truth
	forms := want.Forms()
	for i, f := range fitted.Forms() {
		for k, p := range f.Parameters {
			if w := *forms[i].Parameters[k].Value; math.Abs(*p.Value/w-1) > 0.05 {
				t.Errorf("%s %s: want %g, got %g", f.Name, p.Name, w, *p.Value)
			}
		}
	}
	if len(errs) != 2 {
		t.Fatalf("want errors of two forms, got %+v", errs)
	}
	for _, e := range errs {
		if e.Fitted.MedianAPE > 0.02 || e.Shipped.MedianAPE < 0.1 || e.Rows == 0 {
			t.Errorf("%s: %+v", e.Form, e)
		}
	}
}

// TestFitKernelsSelected: of a fit only the chosen forms are taken, the others keep what it started from, and so does a
// generation without kernels.
func TestFitKernelsSelected(t *testing.T) {
	truth, _ := calibrated.Nearest("hopper")
	start := truth
	start.GEMM.Wide.Compute, start.Comm.Reduce.Launch, start.Prefill.Launch = 0.5, 7, 11
	selection := map[string]constants.Choice{
		"hopper": {Start: start, Fitted: []string{"gemm.wide", "prefill"}},
		"ampere": {Start: start, Fitted: []string{"gemm.wide"}},
	}
	got, _, err := constants.FitKernels(t.Context(), []constants.Kernels{kernelsOf(t, "h200_sxm", &truth)}, selection)
	if err != nil {
		t.Fatal(err)
	}
	hopper := got["hopper"]
	if c := hopper.GEMM.Wide.Compute; math.Abs(c/truth.GEMM.Wide.Compute-1) > 0.02 {
		t.Errorf("chosen: want about %g, got %g", truth.GEMM.Wide.Compute, c)
	}
	if hopper.Comm.Reduce != start.Comm.Reduce {
		t.Errorf("not chosen: want %+v, got %+v", start.Comm.Reduce, hopper.Comm.Reduce)
	}
	if hopper.Prefill != start.Prefill {
		t.Errorf("chosen, not measured: want %+v, got %+v", start.Prefill, hopper.Prefill)
	}
	if got["ampere"] != start {
		t.Error("a generation without kernels does not keep its start")
	}
}

// TestFitKernelsUnknown: a generation the forms do not price is left alone.
func TestFitKernelsUnknown(t *testing.T) {
	d, err := device.Lookup("TEST_DEVICE")
	if err != nil {
		t.Fatal(err)
	}
	if got, errs, err := constants.FitKernels(t.Context(), []constants.Kernels{{Device: d}}, nil); err != nil || len(got)+len(errs) != 0 {
		t.Errorf("fitted %v, %v", got, errs)
	}
}

// TestUsualShapes: products with a side below 256 are of no model, and do not count.
func TestUsualShapes(t *testing.T) {
	t.Parallel()
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	set := constants.Kernels{Device: d}
	for _, side := range [][2]float64{{256, 256}, {255, 4096}, {4096, 255}, {4096, 4096}} {
		o := op.Op{Kind: op.GEMM, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, VectorIn: dtype.BF16, Rows: 64, Cols: side[0], Depth: side[1]}
		set.Samples = append(set.Samples, table.Sample{Form: table.FormProduct, Format: "bfloat16", Ops: []op.Op{o}, Seconds: 1e-5})
	}
	_, errs, err := constants.FitKernels(t.Context(), []constants.Kernels{set}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(errs) != 1 || errs[0].Rows != 2 || errs[0].Form != "gemm.wide" {
		t.Errorf("%+v", errs)
	}
}

// TestBelievedConstants: what measurements do not tell apart stays where it was believed to be. Large products alone say
// what share of the peak arithmetic reaches, and little of launches and memory.
func TestBelievedConstants(t *testing.T) {
	t.Parallel()
	shipped, _ := calibrated.Nearest("hopper")
	truth := shipped
	truth.GEMM.Wide.Compute = 0.5
	whole := kernelsOf(t, "h200_sxm", &truth)
	large := constants.Kernels{Device: whole.Device}
	for _, s := range whole.Samples {
		if o := &s.Ops[0]; s.Form == table.FormProduct && o.Rows >= 4096 && o.Cols >= 4096 && o.Depth >= 4096 {
			s.Seconds = calibrated.With(whole.Device, &truth).Cost(o).Total // without outliers
			large.Samples = append(large.Samples, s)
		}
	}
	got, _, err := constants.FitKernels(t.Context(), []constants.Kernels{large}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fitted := got["hopper"].GEMM.Wide
	if math.Abs(fitted.Compute/0.5-1) > 0.03 {
		t.Errorf("%g of the peak, want 0.5", fitted.Compute)
	}
	for name, r := range map[string]float64{"launch": fitted.Launch / shipped.GEMM.Wide.Launch, "memory": fitted.Memory / shipped.GEMM.Wide.Memory} {
		if math.Abs(math.Log(r)) > 0.3 {
			t.Errorf("%s moves by %g", name, r)
		}
	}
	// The other formats that a form serves are not fitted, but their errors are shown.
	for i := range large.Samples {
		large.Samples[i].Format = "int8_wo"
	}
	again, errs, err := constants.FitKernels(t.Context(), []constants.Kernels{large}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again["hopper"].GEMM.Wide != shipped.GEMM.Wide || len(errs) != 1 || errs[0].Format != "int8_wo" || errs[0].Shipped != errs[0].Fitted {
		t.Errorf("%+v, %+v", again["hopper"].GEMM.Wide, errs)
	}
}
