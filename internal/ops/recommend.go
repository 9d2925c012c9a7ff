package ops

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/trial"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// RecommendRequest asks for the fewest devices that carry a load within limits. The
// devices of its experiments are not given.
type RecommendRequest struct {
	Experiments []Experiment `json:"experiments"`
	Sources

	// One of these is the load: requests per second, or in flight.
	Rate        float64 `json:"target_request_rate,omitempty"`
	Concurrency int     `json:"target_concurrency,omitempty"`

	Top  int `json:"top_n,omitempty"` // rows of each experiment; 0 = 5
	Jobs int `json:"-"`               // workers, which no answer depends on; 0 = 8
}

// RecommendResponse is what was found.
type RecommendResponse struct {
	Request RecommendRequest
	Results []Recommended // of the experiments, in their order
	// Best is the index of the experiment that needs the fewest devices, or -1.
	Best int
}

// Recommended is the result of one experiment.
type Recommended struct {
	Experiment Experiment // complete, with the most devices that a unit was looked for on
	// Failure is why the experiment could not be run; "" if it was.
	Failure string
	Experts bool
	Tier    device.Tier
	// Rows are the deployments that carry the load, the fewest devices first.
	Rows []Need
	// Near is the deployment nearest to the limits where none is within them, and
	// Nearest limits that it meets.
	Near    *Option
	Nearest workload.Limits
	Notes   []string
}

// Need is a unit of workers, and the copies of it that a load needs.
type Need struct {
	// Option has all copies; its figures are those at the load. Throughput and rate are
	// what it can carry.
	Option

	Least int     // copies by what one carries, before they were simulated at the load
	Load  float64 // share of what all carry
}

// Options are the rows as those of a search among deployments.
func (r *Recommended) Options() *ExperimentResult {
	out := &ExperimentResult{
		Experiment: r.Experiment, Failure: r.Failure, Experts: r.Experts, Tier: r.Tier, Near: r.Near, Nearest: r.Nearest, Notes: r.Notes,
	}
	for i := range r.Rows {
		out.Rows = append(out.Rows, r.Rows[i].Option)
	}
	return out
}

// PerDevice is the throughput per device.
func (n *Need) PerDevice() float64 { return n.Throughput / float64(n.Used) }

// Recommend finds the fewest devices for a load: for units of workers of every size, as
// many copies as the load needs. An experiment that fails is reported and the others
// finish; that all fail is an error.
func (w *World) Recommend(ctx context.Context, r RecommendRequest) (*RecommendResponse, error) {
	if err := r.check(); err != nil {
		return nil, badInput(err)
	}
	r.Top = cmp.Or(r.Top, defaultTop)
	out := &RecommendResponse{Request: r, Results: make([]Recommended, len(r.Experiments)), Best: -1}
	failed := make([]error, len(r.Experiments))
	err := pool.Each(ctx, len(r.Experiments), experimentsAtATime, func(i int) {
		n := &needs{world: w, r: &r}
		if failed[i] = n.run(ctx, r.Experiments[i]); failed[i] != nil {
			n.out.Failure = failed[i].Error()
		}
		out.Results[i] = n.out
	})
	if err = cmp.Or(err, pool.Bug(failed...)); err == nil && !slices.Contains(failed, nil) {
		err = allFailed(r.Experiments, failed)
	}
	if err != nil {
		return nil, err
	}
	for i := range out.Results {
		if rows := out.Results[i].Rows; len(rows) > 0 && (out.Best < 0 || fewer(&rows[0], &out.Results[out.Best].Rows[0]) < 0) {
			out.Best = i
		}
	}
	return out, ctx.Err()
}

// check reports what is wrong with the request itself.
func (r *RecommendRequest) check() error {
	const rate, concurrency field.Name = "target_request_rate", "target_concurrency"
	switch {
	case len(r.Experiments) == 0:
		return errors.New("there is no experiment to run")
	case (r.Rate != 0) == (r.Concurrency != 0):
		return field.Errorf("give one of %s and %s", rate, concurrency)
	case !(r.Rate >= 0) || math.IsInf(r.Rate, 1):
		return field.Errorf("%s must be positive and finite, got %g", rate, r.Rate)
	case r.Concurrency != 0:
		return between(concurrency, r.Concurrency, 1, maxTokens)
	}
	return nil
}

// fewer compares by devices, then by throughput per device.
func fewer(a, b *Need) int {
	return cmp.Or(cmp.Compare(a.Used, b.Used), cmp.Compare(b.PerDevice(), a.PerDevice()))
}

// needs is an experiment in progress.
type needs struct {
	world *World
	r     *RecommendRequest
	out   Recommended
}

// run looks for units of all sizes.
func (n *needs) run(ctx context.Context, e Experiment) error {
	e.Devices = 2 // to begin with: what it names decides
	x, err := n.world.experiment(&ConfigureRequest{Sources: n.r.Sources, Top: n.r.Top, Jobs: n.r.Jobs}, e)
	n.out.Experiment = *x.e
	if err != nil {
		return err
	}
	n.out.Experts = x.out.Experts
	// Where a unit of so many devices does not hold the model, larger ones are tried.
	devices := max(mostDevices, x.stage.Device.Node)
	for err = x.workers(devices); err != nil && devices < min(maxCluster, x.stage.Device.Ranks()); err = x.workers(devices) {
		devices *= 2
		x.out.Rejected = nil
	}
	if err != nil {
		return err
	}
	x.e.Devices, n.out.Experiment.Devices = devices, devices
	x.space.Packing = search.Packing{MaxDevices: devices, Sizes: e.Replica.Devices, MaxPrefill: x.e.Replica.MaxPrefill, MaxDecode: x.e.Replica.MaxDecode}
	if m := e.Replica.MaxDevices; m > 0 {
		x.space.Packing.MaxDevices = min(m, devices)
	}
	sized := &search.Sized{Simulated: x.eval, Rate: n.r.Rate, Requests: n.r.Concurrency, MaxDevices: maxCluster}
	if err := x.find(ctx, sized); err != nil {
		return err
	}
	if len(x.rows) == 0 {
		if err := x.summarize(ctx); err != nil {
			return err
		}
		n.out.Near, n.out.Nearest, n.out.Tier, n.out.Notes = x.out.Near, x.out.Nearest, x.out.Tier, x.out.Notes
		return nil
	}
	for i, r := range x.rows[:min(len(x.rows), n.r.Top)] {
		need, about, err := n.need(ctx, x, r)
		if err != nil {
			return err
		}
		if i == 0 {
			n.out.Tier, n.out.Notes = about.tier, about.notes
		}
		n.out.Rows = append(n.out.Rows, need)
	}
	return nil
}

// need is a row, simulated once more under the load.
func (n *needs) need(ctx context.Context, x *experiment, r *search.Result) (Need, about, error) {
	out := Need{Option: x.found(r, &r.Best), Least: r.Least}
	copies := out.Copies
	load := trial.Load{Rate: n.r.Rate}
	if n.r.Concurrency > 0 {
		load = trial.Load{Requests: copies * parallel.Fullest(n.r.Concurrency, copies)}
	}
	got, err := x.show(ctx, r.Candidate, r.Best.Batch, load)
	if err != nil {
		return out, about{}, err
	}
	x.figures(&out.Option, got)
	out.Throughput = r.Best.Throughput
	out.RequestRate = out.Throughput / float64(x.e.Output)
	carries := out.RequestRate
	if n.r.Concurrency > 0 {
		carries = float64(out.Concurrency)
	}
	out.Load = n.r.Target() / carries
	return out, about{got.Tier, x.e.notes(x.stage, got.Notes)}, nil
}

// Target is the load in requests per second or in flight.
func (r *RecommendRequest) Target() float64 {
	if r.Concurrency > 0 {
		return float64(r.Concurrency)
	}
	return r.Rate
}
