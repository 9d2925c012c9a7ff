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

// The units that are looked for: on up to a node and on up to larger times the devices of
// the smallest that runs, which may be better; the layouts of each that are compared.
const (
	leastNode   = 8
	mostDevices = 64
	larger      = 2
	leastUnits  = 5
)

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
		if failed[i] = n.run(ctx, r.Experiments[i]); failed[i] == nil {
			failed[i] = n.meter(ctx)
		}
		if failed[i] != nil {
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
	seen  map[unitOf]bool
	last  *experiment
	found []search.Found // of the last search
}

// unitOf tells units apart.
type unitOf struct {
	prefill, decode parallel.Layout
	x, y            int
}

// run looks for units on growing numbers of devices.
func (n *needs) run(ctx context.Context, e Experiment) error {
	e.Devices = 2 // to begin with: what it names decides
	x, err := n.world.experiment(&ConfigureRequest{Sources: n.r.Sources}, e)
	n.out.Experiment = *x.e
	if err != nil {
		return err
	}
	n.out.Experts, n.seen = x.out.Experts, map[unitOf]bool{}
	node := max(leastNode, x.stage.Device.Node)
	first := node // the workers of fewer devices are among those of a node
	if e.Mode == Disaggregated {
		first = 2
	}
	var rows []Need
	most := max(node, mostDevices)
	for devices := first; devices <= most; devices = following(devices, node) {
		e.Devices = devices
		more, failed := n.size(ctx, e, n.least(rows, devices))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(rows) == 0 && len(more) > 0 {
			most = min(most, max(node, larger*devices))
			if e.Mode == Aggregated && !n.out.Experts {
				most = max(node, devices) // larger units are copies of these
			}
		}
		rows, err = append(rows, more...), failed
	}
	if n.last == nil {
		return err
	}
	if len(rows) == 0 {
		n.out.Near = n.last.near(n.found)
		n.out.Nearest = n.last.feasible(n.out.Near)
	}
	if t := n.last.first(); t != nil {
		n.out.Tier, n.out.Notes = t.response.Tier, e.notes(n.last.stage, t.response.Notes)
	}
	slices.SortStableFunc(rows, func(a, b Need) int { return fewer(&a, &b) })
	n.out.Rows = rows[:min(len(rows), n.r.Top)]
	return nil
}

// following is the number of devices to look at after one: each up to a node, where a unit
// of a few workers for prompts and one that decodes may have any; beyond it every doubling.
func following(devices, node int) int {
	if devices < node {
		return devices + 1
	}
	return 2 * devices
}

// meter finds the energy of the rows, under the load.
func (n *needs) meter(ctx context.Context) error {
	e := &n.out.Experiment
	for i := range n.out.Rows {
		o := &n.out.Rows[i].Option
		q := SimulateRequest{Deployment: o.copy(), Traffic: Traffic{Rate: n.r.Rate / float64(o.Copies)}}
		if n.r.Concurrency > 0 {
			q.Concurrency = parallel.Fullest(n.r.Concurrency, o.Copies)
		}
		q.Input, q.Output, q.Prefix, q.Workloads = e.Input, e.Output, e.Prefix, e.Workloads
		q.Complete()
		if err := o.meter(ctx, n.world, n.last.stage, &q); err != nil {
			return err
		}
	}
	return nil
}

// least is the throughput, of all copies that so many devices have room for, below which a
// unit needs more devices for the load than the rows that are wanted.
func (n *needs) least(rows []Need, devices int) float64 {
	if n.r.Concurrency > 0 || len(rows) < n.r.Top {
		return 0
	}
	used := make([]int, len(rows))
	for i := range rows {
		used[i] = rows[i].Used
	}
	slices.Sort(used)
	most := used[n.r.Top-1]
	out := math.Inf(1)
	for each := 1; each <= min(devices, most); each++ {
		out = min(out, float64(devices/each)/float64(most/each))
	}
	return out * n.r.Rate * float64(n.out.Experiment.Output)
}

// size finds units on a number of devices that carry at least some throughput, and how
// many of each the load needs.
func (n *needs) size(ctx context.Context, e Experiment, least float64) ([]Need, error) {
	x, err := n.world.experiment(&ConfigureRequest{Sources: n.r.Sources, Top: max(leastUnits, n.r.Top), Jobs: n.r.Jobs}, e)
	if err != nil {
		return nil, err
	}
	x.least = least
	_, found, err := x.search(ctx)
	if err != nil {
		return nil, err
	}
	n.last, n.found, n.out.Experiment = x, found, *x.e
	var out []Need
	for i := range found {
		f := &found[i]
		u := f.Unit
		key := unitOf{decode: x.decode[u.Decode], x: u.X, y: u.Y}
		if e.Mode == Disaggregated {
			key.prefill = x.prefill[u.Prefill]
		}
		if !f.OK || n.seen[key] {
			continue
		}
		n.seen[key] = true
		need, ok, err := n.copies(ctx, x, u, f.Best.Concurrency/u.Copies)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, need)
		}
	}
	return out, nil
}

// copies is how many copies of a unit the load needs: by what one carries with so many
// requests in flight, and more where that is not enough for requests that come at
// random.
func (n *needs) copies(ctx context.Context, x *experiment, u search.Unit, requests int) (Need, bool, error) {
	u.Copies = 1
	alone, err := x.trial(ctx, trialOf{u, requests, true})
	if err != nil || alone.response == nil {
		return Need{}, false, err
	}
	carries := alone.outcome.Throughput / float64(x.e.Output)
	target := n.r.Rate
	if n.r.Concurrency > 0 {
		carries, target = float64(requests), float64(n.r.Concurrency)
	}
	least := int(math.Ceil(target / carries))
	batch := x.batch(u, requests)
	each := x.option(u, requests, "").Used
	for copies := least; copies*each <= maxCluster && copies <= 2*least+2; copies += max(1, copies/64) {
		// Requests are dealt out to copies that know nothing of each other: one tells.
		load := Traffic{Rate: target / float64(copies)}
		if n.r.Concurrency > 0 {
			load = Traffic{Concurrency: parallel.Fullest(n.r.Concurrency, copies)}
		}
		at, err := x.serve(ctx, x.deployment(u, batch, true), load)
		if err != nil {
			return Need{}, false, err
		}
		if at.verdict != search.Fits {
			continue
		}
		u.Copies = copies
		got := &at.response.Result
		out := Need{Option: Option{
			Deployment: x.deployment(u, batch, true), Copies: copies, X: u.X, Y: u.Y, Used: copies * each, Concurrency: requests * copies, Batch: batch,
			TTFT: at.outcome.TTFT, TPOT: at.outcome.TPOT, Latency: x.figure(&got.Latency),
			Throughput: float64(copies) * alone.outcome.Throughput, RequestRate: float64(copies) * alone.outcome.Throughput / float64(x.e.Output),
			Memory: inUse(&at.response.Memory, got.KVPeak()), Expected: at.response.Expected, Chance: at.response.Chance, Budget: at.response.Budget,
		}, Least: least, Load: target / carries / float64(copies)}
		out.tails(at.response)
		if x.e.Mode == Disaggregated {
			out.Prompts = x.e.Workers.MaxBatch
		}
		return out, true, nil
	}
	return Need{}, false, nil
}

// Target is the load in requests per second or in flight.
func (r *RecommendRequest) Target() float64 {
	if r.Concurrency > 0 {
		return float64(r.Concurrency)
	}
	return r.Rate
}
