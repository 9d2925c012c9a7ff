package optimize_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// searched are the searches of [optimized]: tests only read them.
var searched sync.Map

// optimized searches Qwen3-32B on a device, once for all tests.
func optimized(t *testing.T, device string, tpot units.Seconds) *optimize.Search {
	t.Helper()
	type question struct {
		device string
		tpot   units.Seconds
	}
	find, _ := searched.LoadOrStore(question{device, tpot}, sync.OnceValues(func() (*optimize.Response, error) {
		q := search32B(device)
		q.Limits.TPOT = tpot
		return optimize.Run(context.Background(), new(session.Session), q) // another test may wait for it when this one ends
	}))
	r, err := find.(func() (*optimize.Response, error))()
	if err != nil {
		t.Fatal(err)
	}
	return &r.Devices[0].Searches[0]
}

// TestSafeChoice: it meets the limits with the probability it is named for, and
// no row that does carries more.
func TestSafeChoice(t *testing.T) {
	t.Parallel()
	p := optimized(t, "h200_sxm", 30*units.Millisecond)
	safe := p.Safe
	if safe == nil {
		t.Fatal("none")
	}
	if safe.Chance < optimize.SafeChance {
		t.Errorf("it meets the limits with %.3f", safe.Chance)
	}
	for i := range p.Candidates {
		if r := p.Candidates[i].Best; r != nil && *r.Judged.Chance >= optimize.SafeChance && r.Best.Throughput > safe.Throughput {
			t.Errorf("%s at batch %d is as safe and carries more", r.Label, r.Batch)
		}
	}
	best := &p.Rows[0]
	if *best.Judged.Chance >= safe.Chance || best.Best.Throughput <= safe.Throughput {
		t.Errorf("the best row, at its limit, keeps it with %.2f at %.0f tokens/s", *best.Judged.Chance, best.Best.Throughput)
	}
	if got := optimized(t, "h200_sxm", units.Microsecond); got.Safe != nil || len(got.Rows) != 0 || got.Nearest == nil {
		t.Errorf("of a limit nothing keeps: %+v, nearest %+v", got.Safe, got.Nearest)
	}
}

// TestNothingToKeep: without limits nothing is called safe.
func TestNothingToKeep(t *testing.T) {
	t.Parallel()
	if got := optimized(t, "h200_sxm", 0).Safe; got != nil {
		t.Errorf("%s at batch %d is safe from no limit", got.Label, got.Batch)
	}
}

// TestFrontier: no point of the frontier is beaten by a row, and the best row
// stands on it.
func TestFrontier(t *testing.T) {
	t.Parallel()
	p := optimized(t, "h200_sxm", 0)
	if len(p.Frontier) < 2 {
		t.Fatalf("%d points", len(p.Frontier))
	}
	if best := &p.Rows[0]; p.Frontier[0].PerDevice < best.PerDevice() {
		t.Errorf("the frontier begins at %.1f tokens/s, the best row has %.1f", p.Frontier[0].PerDevice, best.PerDevice())
	}
	for i := 1; i < len(p.Frontier); i++ {
		if a, b := p.Frontier[i-1], p.Frontier[i]; a.PerDevice <= b.PerDevice || a.User >= b.User {
			t.Errorf("%+v before %+v", a, b)
		}
	}
}

// TestPairs: matched phases take each latency from the phase that decides it, and
// meet both limits less surely than either.
func TestPairs(t *testing.T) {
	t.Parallel()
	var w session.Session
	q := search32B("h200_sxm")
	q.Limits = workload.Limits{TTFT: 400 * units.Millisecond, TPOT: 30 * units.Millisecond}
	q.PDRatio, q.PrefillDevices, q.DecodeDevices = true, 4, 4
	r, err := optimize.Run(t.Context(), &w, q)
	if err != nil {
		t.Fatal(err)
	}
	d := &r.Devices[0]
	if len(d.Ratio.Pairs) == 0 || !d.Limited() {
		t.Fatalf("%d pairs, limited: %v", len(d.Ratio.Pairs), d.Limited())
	}
	for i := range d.Ratio.Pairs {
		x := &d.Ratio.Pairs[i]
		e, p, q := &x.Expected, &x.P.Expected, &x.D.Expected
		if e.TTFT != p.TTFT || e.TPOT != q.TPOT || e.Throughput != q.Throughput || e.Basis != q.Basis {
			t.Errorf("pair %d: %+v of %+v and %+v", i, e, p, q)
		}
		if a, b := *x.P.Judged.Chance, *x.D.Judged.Chance; *x.Chance != a*b || *x.Chance <= 0 || *x.Chance >= min(a, b) {
			t.Errorf("pair %d: both limits are met with %.3f, each with %.3f and %.3f", i, *x.Chance, a, b)
		}
	}
}

// TestLessKnownDevices: the less is known of a device, the wider its intervals,
// in searches and in single steps.
func TestLessKnownDevices(t *testing.T) {
	t.Parallel()
	var w session.Session
	lastSearch, lastStep := 0.0, 0.0
	for _, device := range []string{"h200_sxm", "a100_sxm", "ATLAS_800_A3_752T_128G_DIE"} {
		p := optimized(t, device, 0)
		if p.Limited() || p.Mode != search.Aggregated {
			t.Errorf("%s: a search without limits has some", device)
		}
		e := &p.Rows[0].Expected
		if width := e.TPOT.High - e.TPOT.Low; width <= lastSearch {
			t.Errorf("%s: a search's TPOT is as sure as on the device before: %.2f", device, width)
		} else {
			lastSearch = width
		}
		s, err := step.Run(t.Context(), &w, step.Request{Deployment: on("Qwen/Qwen3-32B", device, parallel.Layout{}), Queries: 4, Decode: true})
		if err != nil {
			t.Fatal(err)
		}
		if width := s.Error.High - s.Error.Low; width <= lastStep {
			t.Errorf("%s: a step is as sure as on the device before: %.2f", device, width)
		} else {
			lastStep = width
		}
		if device != "h200_sxm" && !strings.Contains(s.Basis, "; widened because ") {
			t.Errorf("%s: the basis does not say why it is wide: %s", device, s.Basis)
		}
	}
}
