package plan

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// TestArrivals: requests that come in bursts need more devices than those that come at random, and those that come evenly wait least;
// what is remembered of one kind of arrivals is not taken for another.
func TestArrivals(t *testing.T) {
	memo := &session.Session{Memo: &session.Memo{}}
	ask := func(p sim.Process, variation float64) *Response {
		r := loadPlan()
		r.Process, r.Variation, r.Percentile = p, variation, 95
		out, err := Run(t.Context(), memo, r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	even, random, bursts := ask(sim.Constant, 0), ask(sim.Poisson, 0), ask(sim.Gamma, 5)
	a, b, c := &even.Contenders[0], &random.Contenders[0], &bursts.Contenders[0]
	if a.GPUs > b.GPUs || b.GPUs >= c.GPUs {
		t.Errorf("%d GPUs for even arrivals, %d for random ones, %d for bursts", a.GPUs, b.GPUs, c.GPUs)
	}
	if a.GPUs == b.GPUs && a.Judged.TTFT.Value >= b.Judged.TTFT.Value {
		t.Errorf("p95 TTFT %g ms of even arrivals, %g of random ones", a.Judged.TTFT.Value, b.Judged.TTFT.Value)
	}
	if notes := strings.Join(bursts.Notes, " "); !strings.Contains(notes, "gamma arrivals, whose coefficient of variation is 5") {
		t.Errorf("notes: %s", notes)
	}
	if len(random.Notes) > 0 && strings.Contains(strings.Join(random.Notes, " "), "arrivals") {
		t.Errorf("notes of random arrivals: %v", random.Notes)
	}
	r := loadPlan()
	r.Rate, r.Devices, r.Process, r.Variation = 0, 2, sim.Gamma, 2
	if _, err := Run(t.Context(), memo, r); err == nil {
		t.Error("bursts without a rate are taken")
	}
}
