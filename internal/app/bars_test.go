package app_test

import (
	"strings"
	"testing"

	"plimsoll/internal/app"
	"plimsoll/internal/search"
	"plimsoll/internal/serving"
	"plimsoll/internal/units"
)

// optimized searches Qwen3-32B on a device.
func optimized(t *testing.T, device string, tpot units.Seconds) *app.Pass {
	t.Helper()
	var w app.World
	r, err := w.Optimize(&app.OptimizeRequest{
		Model: "Qwen/Qwen3-32B", Devices: []string{device}, NumDevices: 8, Input: 2000, Output: 500, TPOTLimit: tpot,
		Budget: 8192, Jobs: 2, MXFP4Group: 32, Accounting: serving.Documented, Modelling: app.Modelling{Compile: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &r.Devices[0].Passes[0]
}

// TestSafeChoice: it keeps the limits with the probability it is named for, and
// nothing that does carries more.
func TestSafeChoice(t *testing.T) {
	t.Parallel()
	p := optimized(t, "h200_sxm", 30*units.Millisecond)
	safe := p.SafeChoice()
	if safe == nil {
		t.Fatal("none")
	}
	if safe.Chance < app.Safe || safe.Chance != p.Chance(safe.Row, safe.Outcome) {
		t.Errorf("it keeps the limits with %.3f", safe.Chance)
	}
	for i := range p.Results {
		r := &p.Results[i]
		for k := range r.Points {
			if o := &r.Points[k]; o.Throughput > safe.Outcome.Throughput && p.Chance(r, o) >= app.Safe {
				t.Errorf("%s at batch %d is as safe and carries more", r.Label, o.Batch)
			}
		}
	}
	best := p.Rows[0]
	if c := p.Chance(best, &best.Best); c >= safe.Chance || best.Best.Throughput <= safe.Outcome.Throughput {
		t.Errorf("the best row, at its limit, keeps it with %.2f at %.0f tokens/s", c, best.Best.Throughput)
	}
	p.Limits.TPOT = units.Microsecond
	if got := p.SafeChoice(); got != nil {
		t.Errorf("of a limit nothing keeps: %+v", got)
	}
}

// TestNothingToKeep: without limits nothing is called safe.
func TestNothingToKeep(t *testing.T) {
	t.Parallel()
	if got := optimized(t, "h200_sxm", 0).SafeChoice(); got != nil {
		t.Errorf("%s at batch %d is safe from no limit", got.Row.Label, got.Outcome.Batch)
	}
}

// TestExpectPair: matched phases take each latency from the phase that decides
// it, and keep both limits less surely than either.
func TestExpectPair(t *testing.T) {
	t.Parallel()
	var w app.World
	r, err := w.Optimize(&app.OptimizeRequest{
		Model: "Qwen/Qwen3-32B", Devices: []string{"h200_sxm"}, NumDevices: 8, Input: 2000, Output: 500,
		TTFTLimit: 400 * units.Millisecond, TPOTLimit: 30 * units.Millisecond,
		PDRatio: true, PrefillDevices: 4, DecodeDevices: 4,
		Budget: 8192, Jobs: 2, MXFP4Group: 32, Accounting: serving.Documented, Modelling: app.Modelling{Compile: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := &r.Devices[0]
	prefill, decode := &d.Passes[0], &d.Passes[1]
	if len(d.Ratio.Pairs) == 0 || !d.Limited() {
		t.Fatalf("%d pairs, limited: %v", len(d.Ratio.Pairs), d.Limited())
	}
	for i := range d.Ratio.Pairs {
		x := &d.Ratio.Pairs[i]
		e, chance := d.ExpectPair(x)
		p, q := prefill.Expect(x.P, &x.Prefill), decode.Expect(x.D, &x.Decode)
		if e.TTFT != p.TTFT || e.TPOT != q.TPOT || e.Throughput != q.Throughput || e.Basis != q.Basis {
			t.Errorf("pair %d: %+v of %+v and %+v", i, e, p, q)
		}
		a, b := prefill.Chance(x.P, &x.Prefill), decode.Chance(x.D, &x.Decode)
		if chance != a*b || chance <= 0 || chance >= min(a, b) {
			t.Errorf("pair %d: both limits are kept with %.3f, each with %.3f and %.3f", i, chance, a, b)
		}
	}
}

// TestLessKnownDevices: the less is known of a device, the wider its intervals,
// in searches and in single steps.
func TestLessKnownDevices(t *testing.T) {
	t.Parallel()
	var w app.World
	lastSearch, lastStep := 0.0, 0.0
	for _, device := range []string{"h200_sxm", "a100_sxm", "mi300x", "ATLAS_800_A3_752T_128G_DIE"} {
		p := optimized(t, device, 0)
		e := p.Expect(p.Rows[0], &p.Rows[0].Best)
		if width := e.TPOT.High - e.TPOT.Low; width <= lastSearch {
			t.Errorf("%s: a search's TPOT is as sure as on the device before: %.2f", device, width)
		} else {
			lastSearch = width
		}
		s, err := w.Step(&app.StepRequest{Model: "Qwen/Qwen3-32B", Device: device, Queries: 4, Decode: true})
		if err != nil {
			t.Fatal(err)
		}
		if width := s.Error.High - s.Error.Low; width <= lastStep {
			t.Errorf("%s: a step is as sure as on the device before: %.2f", device, width)
		} else {
			lastStep = width
		}
		if device != "h200_sxm" && !strings.Contains(s.Basis, "wider: ") {
			t.Errorf("%s: the basis does not say why it is wide: %s", device, s.Basis)
		}
	}
	if p := optimized(t, "h200_sxm", 0); p.Limited() || p.Mode != search.Aggregated {
		t.Error("a search without limits has some")
	}
}
