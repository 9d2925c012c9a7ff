package calibrate_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/device"
	"plimsoll/internal/engine"
	"plimsoll/internal/serving"
	"plimsoll/internal/units"
)

// served is a deployment the shipped fit has seen.
func served(t *testing.T) calibrate.Case {
	t.Helper()
	for system, models := range calibrate.Shipped().Cells["vllm"] {
		if system == "h200_sxm" {
			return calibrate.Case{
				Subject: calibrate.Subject{Generation: "hopper", Class: engine.Dense, Model: models[0], System: system, Engine: "vllm"},
				Tier:    device.Calibrated, Vendor: device.NVIDIA, Devices: 1, Concurrency: 16, Input: 1024,
			}
		}
	}
	t.Fatal("the shipped fit has no vLLM on an H200")
	return calibrate.Case{}
}

// wider says how much wider an error is than another one: their half-widths'
// ratio.
func wider(a, b calibrate.Error) float64 { return (a.High - a.Low) / (b.High - b.Low) }

// TestWiderWithLessKnown: an interval only grows as less is known.
func TestWiderWithLessKnown(t *testing.T) {
	t.Parallel()
	o := calibrate.Shipped()
	near := served(t)
	for _, c := range []struct {
		name   string
		change func(*calibrate.Case)
	}{
		{"a model it has not seen", func(s *calibrate.Case) { s.Model = "nobody/nothing" }},
		{"disaggregated", func(s *calibrate.Case) { s.Apart = true }},
		{"constants of another generation", func(s *calibrate.Case) { s.Tier, s.System = device.Transferred, "a100_sxm" }},
		{"the data sheet", func(s *calibrate.Case) { s.Tier, s.System = device.Datasheet, "x" }},
		{"another vendor", func(s *calibrate.Case) { s.Tier, s.Vendor, s.System = device.Transferred, device.AMD, "mi300x" }},
		{"more requests than measured", func(s *calibrate.Case) { s.Concurrency = 64 * o.Reach.Concurrency }},
		{"longer prompts than measured", func(s *calibrate.Case) { s.Input = 4 * o.Reach.Input }},
		{"more devices than measured", func(s *calibrate.Case) { s.Devices = 4 * o.Reach.Devices }},
		{"lengths nobody told", func(s *calibrate.Case) { s.Untold = []string{"num_prompts", "length_ratio_low"} }},
	} {
		far := near
		c.change(&far)
		a, b := o.Expect(&far), o.Expect(&near)
		for what, r := range map[string]float64{"TTFT": wider(a.TTFT, b.TTFT), "TPOT": wider(a.TPOT, b.TPOT), "throughput": wider(a.Throughput, b.Throughput)} {
			if r <= 1 {
				t.Errorf("%s: %s is no less sure than of a known deployment: %.2f times as wide", c.name, what, r)
			}
		}
		if a.Basis == b.Basis {
			t.Errorf("%s: the basis does not say so: %s", c.name, a.Basis)
		}
	}
}

// TestPasses: single passes were measured on an H200; everything else is less
// sure, data sheets and other vendors least.
func TestPasses(t *testing.T) {
	t.Parallel()
	o := calibrate.Shipped()
	last := 0.0
	for _, s := range []calibrate.Case{
		{Tier: device.Calibrated, Vendor: device.NVIDIA, Subject: calibrate.Subject{Generation: "hopper", Class: engine.Dense}, Devices: 1},
		{Tier: device.Calibrated, Vendor: device.NVIDIA, Subject: calibrate.Subject{Generation: "hopper", Class: engine.Dense}, Devices: 8},
		{Tier: device.Transferred, Vendor: device.NVIDIA, Subject: calibrate.Subject{Generation: "ampere", Class: engine.Dense}, Devices: 8},
		{Tier: device.Transferred, Vendor: device.AMD, Subject: calibrate.Subject{Generation: "cdna3", Class: engine.Dense}, Devices: 8},
		{Tier: device.Datasheet, Vendor: device.Ascend, Subject: calibrate.Subject{Generation: "ascend-a3", Class: engine.Dense}, Devices: 8},
	} {
		s.Method, s.Decode, s.Concurrency = calibrate.Pass, true, 8
		e := o.Expect(&s)
		if half := (e.TPOT.High - e.TPOT.Low) / 2; half <= last {
			t.Errorf("%s %s, %d devices: half-width %.3f after %.3f", s.Vendor, s.Tier, s.Devices, half, last)
		} else {
			last = half
		}
		if e.TTFT != e.TPOT || e.Throughput != e.TPOT.Inverse() {
			t.Errorf("a pass has one time, got %+v", e)
		}
	}
}

// TestOn: ranks of a dense model are replicas, those of a mixture share experts.
func TestOn(t *testing.T) {
	t.Parallel()
	var dense, mixture calibrate.Case
	dense.On(8, 100, 8, false)
	mixture.On(8, 100, 8, true)
	if dense.Devices != 1 || dense.Concurrency != 13 || mixture.Devices != 8 || mixture.Concurrency != 100 {
		t.Errorf("dense %+v, mixture %+v", dense, mixture)
	}
}

// TestInterval: an interval holds 80 % of what a lognormal draws, and Within is
// the share of draws below a limit.
func TestInterval(t *testing.T) {
	t.Parallel()
	e := calibrate.Error{Low: -0.1, High: 0.3}
	const middle, sigma, draws = 0.1, 0.2 / 1.2815515655, 200000
	random := rand.New(rand.NewPCG(1, 2))
	low, high := e.Times(0.050)
	in, kept := 0, 0
	for range draws {
		x := 0.050 * units.Seconds(math.Exp(middle+sigma*random.NormFloat64()))
		if x >= low && x <= high {
			in++
		}
		if x <= 0.060 {
			kept++
		}
	}
	if share := float64(in) / draws; math.Abs(share-0.8) > 0.005 {
		t.Errorf("the interval holds %.3f of the draws", share)
	}
	if share := float64(kept) / draws; math.Abs(share-e.Within(0.050, 0.060)) > 0.005 {
		t.Errorf("want %.3f of the draws within the limit, got %.3f", e.Within(0.050, 0.060), share)
	}
}

// TestWithin: the probability is one without a limit, and grows with it.
func TestWithin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-3, 3).Draw(t, "low")
		e := calibrate.Error{Low: low, High: low + rapid.Float64Range(0, 3).Draw(t, "width")}
		x := units.Seconds(rapid.Float64Range(1e-6, 1e3).Draw(t, "predicted"))
		limit := units.Seconds(rapid.Float64Range(1e-6, 1e3).Draw(t, "limit"))
		p, more := e.Within(x, limit), e.Within(x, 1.5*limit)
		if !(p >= 0 && p <= more && more <= 1) {
			t.Fatalf("%g at the limit and %g above it", p, more)
		}
		if e.Within(x, 0) != 1 || e.Within(x, units.Seconds(math.Inf(1))) != 1 {
			t.Fatal("no limit is not always kept")
		}
		if got := e.Inverse().Inverse(); got != e {
			t.Fatalf("the inverse of the inverse is %v, not %v", got, e)
		}
	})
}

// compared are predictions that lie off by a known spread: narrow below a
// concurrency of 64 and wide above.
func compared(n int) []calibrate.Compared {
	random := rand.New(rand.NewPCG(3, 4))
	out := make([]calibrate.Compared, n)
	for i := range out {
		c, sigma := 16, 0.1
		if i%3 == 0 {
			c, sigma = 256, 0.4
		}
		off := func() units.Seconds { return units.Seconds(math.Exp(sigma * random.NormFloat64())) }
		row := calibrate.Row{Output: 100, LengthLow: 1, Concurrency: c, TTFT: off(), TPOT: 0.01 * off()}
		out[i] = calibrate.Compared{Row: &row, Pred: calibrate.Prediction{
			TTFT: 1, TPOT: 0.01, Throughput: float64(c) * 100 / (1 + 0.99),
			Case: calibrate.Case{
				Subject: calibrate.Subject{Generation: "hopper", Class: engine.Dense, Engine: "vllm", Model: "a/b", System: "h200_sxm"},
				Tier:    device.Calibrated, Vendor: device.NVIDIA, Concurrency: c,
			},
		}}
	}
	return out
}

// TestLearn: what is learned covers as much as it says, in each kind and in all,
// on predictions it has not learned from, and comes back from a file.
func TestLearn(t *testing.T) {
	t.Parallel()
	all := compared(3000)
	learn, try := all[:1500], all[1500:]
	o := &calibrate.Overlay{
		Cells: map[string]map[string][]string{"vllm": {"h200_sxm": {"a/b"}}},
	}
	o.Learn(&calibrate.Evidence{Seen: learn})
	var b bytes.Buffer
	if err := o.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := calibrate.ReadOverlay(b.Bytes(), "x.yaml")
	if err != nil {
		t.Fatal(err)
	}
	parts := calibrate.By(try, func(r *calibrate.Row) string { return fmt.Sprint(r.Concurrency) })
	for _, p := range append(parts, calibrate.Part{Name: "all", Rows: try}) {
		ttft, tpot := back.Coverage(p.Rows)
		if math.Abs(ttft-0.8) > 0.05 || math.Abs(tpot-0.8) > 0.05 {
			t.Errorf("%s: the 80 %% intervals hold %.2f and %.2f", p.Name, ttft, tpot)
		}
	}
	few := &calibrate.Overlay{Cells: o.Cells}
	few.Learn(&calibrate.Evidence{Seen: learn[:3]})
	if a, b := few.Expect(&learn[1].Pred.Case), back.Expect(&learn[1].Pred.Case); wider(a.TPOT, b.TPOT) < 1 {
		t.Errorf("three rows are surer than 1,500: %+v, %+v", a, b)
	}
	unknown := learn[0].Pred.Case
	unknown.Engine = "mindie"
	if e := back.Expect(&unknown); e.TTFT.High < 0.5 {
		t.Errorf("of an engine without residuals: %+v", e)
	}
}

// TestLearnOwn: residuals of a user's rows move the intervals of their cell, and
// of no other.
func TestLearnOwn(t *testing.T) {
	t.Parallel()
	rows := compared(600)
	o := &calibrate.Overlay{Cells: map[string]map[string][]string{"vllm": {"h200_sxm": {"a/b", "c/d"}}}}
	o.Learn(&calibrate.Evidence{Seen: rows})
	mine := slices.Clone(rows[:40])
	for i := range mine { // all but exact
		mine[i].Pred.TTFT, mine[i].Pred.TPOT = 1.01*mine[i].Row.TTFT, 1.01*mine[i].Row.TPOT
	}
	own := *o
	own.LearnOwn(mine)
	cell := mine[0].Pred.Case
	if a, b := own.Expect(&cell), o.Expect(&cell); wider(b.TPOT, a.TPOT) <= 1 {
		t.Errorf("exact rows of the cell leave the interval at %+v, was %+v", a, b)
	}
	other := cell
	other.Model = "c/d"
	if a, b := own.Expect(&other), o.Expect(&other); a != b {
		t.Errorf("rows of a cell move the interval of another from %+v to %+v", b, a)
	}
	if _, known := o.Residuals["own/vllm · h200_sxm · a/b"]; known {
		t.Error("the overlay learned from was changed")
	}
}

// TestFormulas: rows are predicted as throughput-optimizer would, and the two
// accountings differ in throughput alone.
func TestFormulas(t *testing.T) {
	t.Parallel()
	p, r := predictor(), rows(t)
	documented, steady := p.AllFormulas(r, serving.Documented), p.AllFormulas(r, serving.Steady)
	for i := range r {
		a, b := &documented[i].Pred, &steady[i].Pred
		if a.Err != nil || b.Err != nil {
			t.Fatal(a.Err, b.Err)
		}
		if a.TTFT <= 0 || a.TPOT <= 0 || a.TTFT != b.TTFT || a.TPOT != b.TPOT || a.Throughput >= b.Throughput {
			t.Errorf("row %d: documented %+v, steady %+v", i, a, b)
		}
	}
	r[0].System = "nowhere"
	if p.Formulas(&r[0], serving.Steady).Err == nil {
		t.Error("an unknown system is predicted")
	}
}

func TestBadResiduals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"residuals: {vllm: '4 rows, ttft 0 0, tpot 0 0, throughput 0 0'}", `x.yaml: residuals: unknown kind "vllm"; the kinds are seen, unseen, own, disagg, untuned, formulas, steady`},
		{"residuals: {seen: '4 rows, ttft 1 0, tpot 0 1, throughput 0 0'}", "x.yaml: residuals: seen: want rows, and a low and a high quantile in that order"},
		{"residuals: {seen: '4 rows, ttft nan 0, tpot 0 1, throughput 0 0'}", "x.yaml: residuals: seen: want rows"},
		{"residuals: {seen: '0 rows, ttft 0 1, tpot 0 1, throughput 0 0'}", "x.yaml: residuals: seen: want rows"},
		{"residuals: {seen: '4 rows, ttft 0'}", "x.yaml: line 1: residuals: want"},
	} {
		_, err := calibrate.ReadOverlay([]byte(c.text), "x.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: want an error that begins with %q, got %v", c.text, c.want, err)
		}
	}
}

// FuzzReadOverlay: a file is refused or gives finite intervals.
func FuzzReadOverlay(f *testing.F) {
	f.Add([]byte("residuals: {seen: {rows: 40, ttft: [-0.1, 0.2], tpot: [0, 1], throughput: [0, 0]}}"))
	f.Add([]byte("residuals: {seen: {rows: 1, ttft: [.inf, .inf]}}\nreach: {concurrency: -1}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := calibrate.ReadOverlay(data, "fuzz.yaml")
		if err != nil {
			return
		}
		e := o.Expect(&calibrate.Case{Concurrency: 100, Input: 100})
		if e.TTFT.High < e.TTFT.Low || math.IsNaN(e.TPOT.High) {
			t.Errorf("%+v", e)
		}
	})
}
