package plan

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// loadPlan is a plan for a load that takes little time.
func loadPlan() Request {
	return Request{
		Model: "Qwen/Qwen3-32B", Systems: []string{"h200_sxm"}, Rate: 20, Workloads: []session.Workload{{Input: 1000, Output: 30}},
		Limits:  workload.Limits{TTFT: 2, TPOT: 40 * units.Millisecond},
		Engines: []string{"vllm"}, Modes: []experiment.ServingMode{experiment.Aggregated}, NoChanges: true,
	}
}

// TestSpare: spare replicas are added to those that carry the load alone, and counted in devices and cost.
func TestSpare(t *testing.T) {
	memo := &session.Session{Memo: &session.Memo{}}
	last := 0
	for spare := range 3 {
		r := loadPlan()
		r.Spare = spare
		p, err := Run(t.Context(), memo, r)
		if err != nil {
			t.Fatal(err)
		}
		c := &p.Contenders[0].Found
		each := c.Used / c.Copies
		if c.Spare != spare || c.Used < last+1 || c.Devices() != c.Used {
			t.Errorf("%d spare: %d devices after %d, %d spare copies", spare, c.Used, last, c.Spare)
		}
		replicas := 0
		for i := range c.Deployment.Pools {
			replicas += c.Deployment.Pools[i].Replicas
		}
		if replicas != c.Copies {
			t.Errorf("%d spare: the deployment has %d replicas of %d", spare, replicas, c.Copies)
		}
		// Those that are left carry the load.
		alone := float64(c.Copies - c.Spare)
		if carried := c.Capacity.RequestRate; carried < r.Rate || carried/alone*(alone-1) >= r.Rate {
			t.Errorf("%d spare: %g copies carry %g requests/s, needed %g", spare, alone, carried, r.Rate)
		}
		if least := c.Cost.USDPerHour * float64(c.Used) * 730; c.Cost.PerMonth < least {
			t.Errorf("%d spare: $%g per month for %d devices", spare, c.Cost.PerMonth, c.Used)
		}
		// The power of all, also of spare ones.
		if drawn := c.Energy.PerToken.Value * c.Throughput / float64(c.Energy.Watts); math.Abs(drawn/float64(c.Copies*each)-1) > 0.05 {
			t.Errorf("%d spare: the energy is of %g devices, not %d", spare, drawn, c.Copies*each)
		}
		last = c.Used
	}
}

// TestUtilization: the load takes no more than the share of the capacity, and a smaller share never takes fewer devices.
func TestUtilization(t *testing.T) {
	memo := &session.Session{Memo: &session.Memo{}}
	last := 0
	for _, u := range []float64{1, 0.8, 0.5, 0.2} {
		r := loadPlan()
		r.Utilization = u
		p, err := Run(t.Context(), memo, r)
		if err != nil {
			t.Fatal(err)
		}
		c := &p.Contenders[0].Found
		if c.Load > u || c.Used < last || math.Abs(c.Load*c.Capacity.RequestRate-r.Rate) > 1e-9*r.Rate {
			t.Errorf("utilization %g: load %g of %g requests/s on %d devices, before %d", u, c.Load, c.Capacity.RequestRate, c.Used, last)
		}
		last = c.Used
	}
}

// TestMarginNeedsLoad: a margin is one beyond a load.
func TestMarginNeedsLoad(t *testing.T) {
	for _, edit := range []func(*Request){
		func(r *Request) { r.Spare = 1 }, func(r *Request) { r.Utilization = 0.5 },
		func(r *Request) { r.Devices, r.Rate, r.Spare = 0, 1, -1 }, func(r *Request) { r.Devices, r.Rate, r.Utilization = 0, 1, 1.1 },
		func(r *Request) { r.Devices, r.Rate, r.Utilization = 0, 1, math.NaN() },
	} {
		r := smallPlan()
		edit(&r)
		if _, _, err := Check(&session.Session{}, r); err == nil {
			t.Errorf("accepted: %+v", r)
		}
	}
}

// TestMarginIsSearched: with a margin the search finds the fewest devices of all sizes of workers, each searched alone.
func TestMarginIsSearched(t *testing.T) {
	memo := &session.Session{Memo: &session.Memo{}}
	r := loadPlan()
	e := r.experiment("h200_sxm", "vllm", experiment.Aggregated)
	how := experiment.How{Top: 1, Margin: search.Margin{Spare: 2, Utilization: 0.7}}
	fewest := func(tp []int) int {
		e.Workers.TP = tp
		out, err := experiment.Find(t.Context(), memo, &how, searchrun.Load{Rate: r.Rate}, e, false)
		if err != nil {
			t.Fatal(err)
		}
		return out.Rows[0].Used
	}
	least := math.MaxInt
	for _, tp := range []int{1, 2, 4, 8} {
		least = min(least, fewest([]int{tp}))
	}
	if got := fewest(nil); got != least {
		t.Errorf("%d devices, of single sizes %d", got, least)
	}
}
