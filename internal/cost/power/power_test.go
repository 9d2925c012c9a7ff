package power_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// powered are the devices whose power is known.
func powered() []*device.Profile {
	var all []*device.Profile
	for _, name := range device.Names() {
		if d, err := device.Lookup(name); err == nil && d.Power > 0 {
			all = append(all, d)
		}
	}
	return all
}

// anyDevice is one of them.
func anyDevice(t *rapid.T, all []*device.Profile) (*device.Profile, *power.Model) {
	d := all[rapid.IntRange(0, len(all)-1).Draw(t, "device")]
	m, ok := power.New(d)
	if !ok {
		t.Fatalf("%s has no power model", d.Name)
	}
	return d, m
}

// anyLoad is some work in a second, up to beyond what devices can do.
func anyLoad(t *rapid.T) power.Load {
	l := power.Load{Time: 1}
	for k := range l.Activity {
		l.Activity[k] = math.Pow(10, rapid.Float64Range(6, 16).Draw(t, "work"))
	}
	return l
}

// TestWatts: power lies between idle and the cap, and more work, or the same work in
// less time, never lowers it.
func TestWatts(t *testing.T) {
	all := powered()
	rapid.Check(t, func(t *rapid.T) {
		d, m := anyDevice(t, all)
		l := anyLoad(t)
		w := m.Watts(&l)
		if !(w > m.Idle()) || !(w <= units.Watts(d.Power)) {
			t.Fatalf("%s: %g W is not between %g and %g", d.Name, w, m.Idle(), d.Power)
		}
		more := l
		more.Activity[rapid.IntRange(0, int(power.Kinds)-1).Draw(t, "kind")] *= rapid.Float64Range(1, 10).Draw(t, "times")
		if m.Watts(&more) < w {
			t.Fatalf("%s: %g W, with more work %g W", d.Name, w, m.Watts(&more))
		}
		faster := l
		faster.Time /= units.Seconds(rapid.Float64Range(1, 10).Draw(t, "speed"))
		if m.Watts(&faster) < w || m.Joules(&faster) > m.Joules(&l)*(1+1e-12) {
			t.Fatalf("%s: %g W and %g J, faster %g W and %g J", d.Name, w, m.Joules(&l), m.Watts(&faster), m.Joules(&faster))
		}
		if factor := rapid.Float64Range(1, 3).Draw(t, "factor"); m.Scaled(factor).Watts(&l) < w || m.Scaled(factor).Idle() != m.Idle() {
			t.Fatalf("%s: a factor of %g lowers power or changes idle", d.Name, factor)
		}
	})
}

// TestMean: the mean over a run lies between idle and the power of its fuller phase, and
// the busier a device the more it draws.
func TestMean(t *testing.T) {
	all := powered()
	rapid.Check(t, func(t *rapid.T) {
		_, m := anyDevice(t, all)
		l := power.Loads{Decode: anyLoad(t), Prefill: anyLoad(t)}
		l.Prefill.Time = units.Seconds(rapid.Float64Range(0, 3).Draw(t, "prefill"))
		busy := rapid.Float64Range(0, 1).Draw(t, "busy")
		w := m.Mean(&l, busy)
		if most := max(m.Watts(&l.Decode), m.Watts(&l.Prefill)); w < m.Idle()*0.999999 || w > most*1.000001 {
			t.Fatalf("%g W is not between %g and %g", w, m.Idle(), most)
		}
		if m.Mean(&l, busy/2) > w*1.000001 {
			t.Fatalf("%g W at %g busy, %g W at half of that", w, busy, m.Mean(&l, busy/2))
		}
	})
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := power.New(d)
	if got := m.Mean(&power.Loads{}, 0); got != m.Idle() {
		t.Errorf("nothing to do: want %g W, got %g W", m.Idle(), got)
	}
}

// TestActivity: what operators move and compute, by hand.
func TestActivity(t *testing.T) {
	for _, c := range []struct {
		op   op.Op
		want power.Activity
	}{
		{
			op.Op{Kind: op.GEMM, Rows: 2, Depth: 3, Cols: 5, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16},
			power.Activity{power.Memory: 2 * (6 + 15 + 10), power.Wide: 60},
		},
		{
			op.Op{Kind: op.GEMM, Rows: 2, Depth: 3, Cols: 5, In: dtype.FP8, Weight: dtype.FP8, Out: dtype.BF16},
			power.Activity{power.Memory: 6 + 15 + 20, power.FP8: 60},
		},
		{
			op.Op{Kind: op.GEMM, Rows: 2, Depth: 4, Cols: 5, In: dtype.FP4, Weight: dtype.FP4, Out: dtype.BF16},
			power.Activity{power.Memory: 4 + 10 + 20, power.FP4: 80},
		},
		{
			op.Op{Kind: op.Collective, Comm: op.AllReduce, Group: parallel.Group{Size: 4, Stride: 1}, Payload: 100, Bytes: 200},
			power.Activity{power.Memory: 200, power.Link: 150},
		},
		{
			op.Op{Kind: op.Collective, Comm: op.AllGather, Group: parallel.Group{Size: 4, Stride: 1}, Payload: 100},
			power.Activity{power.Link: 300},
		},
		{
			op.Op{Kind: op.Collective, Comm: op.ReduceScatter, Group: parallel.Group{Size: 4, Stride: 1}, Payload: 100},
			power.Activity{power.Link: 75},
		},
	} {
		if diff := cmp.Diff(c.want, power.Of(&c.op)); diff != "" {
			t.Errorf("%v: want -, got +:\n%s", c.op.Kind, diff)
		}
	}
}

// TestTiers: which devices' power was measured, and which has none.
func TestTiers(t *testing.T) {
	for name, want := range map[string]device.Tier{
		"h200_sxm": device.Calibrated, "h100_sxm": device.Calibrated, "b200_sxm": device.Calibrated, "mi300x": device.Calibrated, "mi355x": device.Calibrated,
		"b300_sxm": device.Transferred, "a100_sxm": device.Transferred, "l40s": device.Transferred, "mi250x_gcd": device.Transferred, "gaudi3": device.Transferred,
		"rtx_5090": device.Transferred, "TEST_DEVICE": "",
	} {
		d, err := device.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		m, ok := power.New(d)
		if ok != (want != "") || ok && m.Tier() != want {
			t.Errorf("%s: want tier %q, got %v", name, want, m)
		}
	}
}

// TestRelatives: a device without rows draws the share of its cap that its relative's
// reference draws at the same shares of the peaks.
func TestRelatives(t *testing.T) {
	share := func(name string) float64 {
		d, err := device.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := power.New(d)
		l := power.Load{Time: 1, Activity: power.Activity{
			power.Memory: 0.5 * float64(d.Bandwidth), power.Wide: 0.2 * float64(d.Matrix[dtype.BF16]),
		}}
		return float64(m.Watts(&l)) / d.Power
	}
	for name, of := range map[string]string{"a100_sxm": "h200_sxm", "l40s": "h200_sxm", "mi250x_gcd": "mi300x"} {
		if a, b := share(name), share(of); math.Abs(a-b) > 1e-9 {
			t.Errorf("%s draws %g of its cap, %s %g", name, a, of, b)
		}
	}
}

// TestShipped: the shipped constants are possible, and are written as they are read.
func TestShipped(t *testing.T) {
	f := power.Shipped()
	if len(f.Generations) == 0 || len(f.Factors) == 0 {
		t.Fatal("nothing is shipped")
	}
	for name, c := range f.Generations {
		// Shares of the cap; HBM takes 30 to 60 pJ a byte without the way on the chip;
		// no chip computes below 0.1 pJ an operation in 16 bits.
		if c.Idle < 0.03 || c.Idle > 0.25 || c.Active <= 0 || c.Idle+c.Active > 0.7 || c.Memory < 30 || c.Memory > 500 || c.Compute < 0.1 || c.Compute > 3 || c.Link <= 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	for cell, x := range f.Factors {
		if got, known := f.Factor(cell); !known || got != x || x < 0.3 || x > 3 {
			t.Errorf("%s: %g", cell, x)
		}
	}
	if x, known := f.Factor("vllm · h200_sxm · none/nothing · fp8"); known || x != 1 {
		t.Errorf("an unknown cell has the factor %g", x)
	}
	if !(f.Unseen[0] < 0 && f.Unseen[1] > 0 && f.Unseen[1]-f.Unseen[0] >= f.Known[1]-f.Known[0]) {
		t.Errorf("errors of cells without rows %v should be wider than %v", f.Unseen, f.Known)
	}
	var b bytes.Buffer
	if err := f.Write(&b, "a comment"); err != nil {
		t.Fatal(err)
	}
	again, err := power.Read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, again, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestDraw: what draws the mean power of a device adds up to it, and each part is between nothing and the cap.
func TestDraw(t *testing.T) {
	all := powered()
	rapid.Check(t, func(t *rapid.T) {
		d, m := anyDevice(t, all)
		l := power.Loads{Decode: anyLoad(t), Prefill: anyLoad(t)}
		l.Prefill.Time = units.Seconds(rapid.Float64Range(0.1, 5).Draw(t, "time"))
		busy := rapid.Float64Range(0, 1.2).Draw(t, "busy")
		x := m.Draw(&l, busy)
		sum, mean := x.Idle+x.Running+x.Memory+x.Compute+x.Link, m.Mean(&l, busy)
		if math.Abs(float64(sum-mean)) > 1e-9*float64(mean) {
			t.Fatalf("%s: %+v add up to %g W of %g", d.Name, x, sum, mean)
		}
		if x.Idle != m.Idle() || min(x.Running, x.Memory, x.Compute, x.Link) < 0 || max(x.Idle, x.Running, x.Memory, x.Compute, x.Link) > m.Cap() {
			t.Fatalf("%s: %+v", d.Name, x)
		}
	})
}
