package plimsoll

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Question asks for the deployments with the most throughput: one replica on a
// number of devices, aggregated. Only Model is required.
type Question struct {
	Model string `json:"model"`
	// AsFamily is as in [Deployment].
	AsFamily string  `json:"as_family,omitempty"`
	System   string  `json:"system,omitempty"`      // "" is h200_sxm
	Devices  int     `json:"num_devices,omitempty"` // 0 is 1
	Engine   Engine  `json:"engine,omitzero"`
	Formats  Formats `json:"formats,omitzero"`
	// Lengths are those of the requests; plans do not support OutputBins.
	Lengths
	// Limits apply to means.
	Limits Limits `json:"limits,omitzero"`
	// Sizes are the layouts to try.
	Sizes Sizes `json:"sizes,omitzero"`
	// AcceptanceRates are the probabilities that draft tokens are accepted; nil is as in
	// [Deployment].
	AcceptanceRates []float64 `json:"mtp_acceptance_rates,omitempty"`
}

// Sizes are the sizes to try in each dimension of a [Layout]; DP and MoETP follow
// from them and the number of devices. If TP or EP is empty, every power of two is
// tried; the others are then 1 (MTP the engine's default).
type Sizes struct {
	TP    []int `json:"tp_sizes,omitempty"`
	PP    []int `json:"pp_sizes,omitempty"`
	EP    []int `json:"ep_sizes,omitempty"`
	MoEDP []int `json:"moe_dp_sizes,omitempty"`
	DCP   []int `json:"dcp_sizes,omitempty"`
	MTP   []int `json:"num_mtp_tokens,omitempty"`
}

// Plan is the result of a [Question].
type Plan struct {
	// Options are the layouts that meet the limits, each at its best concurrency,
	// most throughput first.
	Options []Option
	// Frontier is the Pareto frontier of throughput and TPOT over all simulated
	// loads, regardless of the limits, most throughput first.
	Frontier []Point
	// Safe is the point with the most throughput that meets the limits with a
	// probability of at least 90 %; nil without limits, and if there is none.
	Safe *Point
	// Nearest is the point nearest to the limits if no option meets them; its times
	// are limits that can be met. It is nil if no layout fits in memory.
	Nearest *Point
	// Rejected are the layouts without an option.
	Rejected []Rejection
	// Tier says where the operator times come from, as in [Prediction].
	Tier  string
	Notes []string
}

// Option is a deployment at its best concurrency. [Planner.Predict] gives the same
// figures for them, and more.
type Option struct {
	Deployment  Deployment
	Concurrency int
	TTFT, TPOT  Time
	OutputRate  Rate    // generated tokens per second
	Chance      float64 // probability that a measurement meets the limits
	Basis       string  // the measurements the intervals come from
	// Binds is what limits the concurrency: "TTFT limit", "TPOT limit", "memory",
	// or "saturation" if a higher one has no more throughput.
	Binds string
}

// Point is a deployment at a load.
type Point struct {
	Deployment  Deployment
	Concurrency int
	TTFT, TPOT  time.Duration // means
	OutputRate  float64       // generated tokens per second
}

// Rejection is a layout that cannot be used within the limits.
type Rejection struct {
	Layout Layout
	MTP    int
	Reason string
}

// Best is the option with the most throughput, nil if nothing meets the limits.
func (p *Plan) Best() *Option {
	if len(p.Options) == 0 {
		return nil
	}
	return &p.Options[0]
}

// Plan ranks the layouts of a model on a number of devices by simulation.
func (p *Planner) Plan(ctx context.Context, q Question) (*Plan, error) {
	request, err := p.optimize(&q)
	if err != nil {
		return nil, mistake(err)
	}
	w := p.world()
	if p.DeviceFile != "" { // the operation would take a name beside the file for a second device
		if _, err := w.Device(q.System, p.DeviceFile); err != nil {
			return nil, failure(err)
		}
	}
	r, err := ops.On(w).Optimize(ctx, request)
	if err != nil {
		return nil, failure(err)
	}
	return planOf(&request, r), nil
}

// optimize is the question in the form of package app.
func (p *Planner) optimize(q *Question) (ops.OptimizeRequest, error) {
	formats, err := q.Formats.internal()
	out := ops.OptimizeRequest{
		Model: q.Model, AsFamily: q.AsFamily, NumDevices: cmp.Or(q.Devices, 1), Sources: p.sources(), Formats: formats,
		// As Predict models steps.
		Modelling:    deployment.Modelling{Policy: "physical", Fusion: deployment.Compiled},
		Distribution: distribution(q.InputBins), Output: cmp.Or(q.Output, simulate.DefaultOutput), LengthLow: q.Low,
		Limits: q.Limits.internal(), Space: q.Sizes.internal(), AcceptanceRates: slices.Clone(q.AcceptanceRates),
		Evaluate: ops.BySimulation, Engine: q.Engine.internal(),
	}
	out.Engine.Name = cmp.Or(out.Engine.Name, simulate.DefaultEngine)
	if out.Distribution == nil {
		out.Input = cmp.Or(q.Input, simulate.DefaultInput)
	}
	if p.DeviceFile == "" {
		out.Devices = []string{cmp.Or(q.System, simulate.DefaultSystem)}
	}
	errs := []error{err, q.checkLengths(), q.Limits.check()}
	if q.OutputBins != nil {
		errs = append(errs, field.Errorf("plans do not support %s; give %s", field.Name("output_distribution"), field.Name("output_length")))
	}
	return out, errors.Join(errs...)
}

// internal is the sizes in the form of package search: empty is every power of two,
// and all empty is the layouts that engines run, including replicas of smaller ones.
func (s *Sizes) internal() search.Space {
	if len(s.TP)+len(s.EP)+len(s.MoEDP)+len(s.PP)+len(s.DCP) == 0 {
		return search.Space{MTP: some(s.MTP)}
	}
	all := func(sizes []int) []int { return append([]int{}, sizes...) }
	return search.Space{TP: all(s.TP), EP: all(s.EP), MoEDP: some(s.MoEDP), PP: some(s.PP), DCP: some(s.DCP), MTP: some(s.MTP)}
}

// some is sizes, nil without any.
func some(sizes []int) []int {
	if len(sizes) == 0 {
		return nil
	}
	return slices.Clone(sizes)
}

func planOf(q *ops.OptimizeRequest, r *ops.OptimizeResponse) *Plan {
	d := &r.Devices[0]
	s := &d.Searches[0]
	asked := deployment.Deployment{Model: q.Model, AsFamily: q.AsFamily, System: d.Device.Name, Engine: q.Engine, Formats: q.Formats}
	out := &Plan{Tier: string(s.Tier), Notes: slices.Concat(r.Notes, s.Notes)}
	if r.Tables != nil {
		out.Notes = append(out.Notes, r.Tables.Notes()...)
	}
	deployed := func(c *ops.Row, batch int) Deployment {
		asked.Pools = s.Deployment(c, batch).Pools
		return fromInternal(&asked)
	}
	for i := range s.Rows {
		row := &s.Rows[i]
		out.Options = append(out.Options, optionOf(row, deployed(row, row.Best.Batch)))
	}
	layouts := map[string]*ops.Row{}
	for i := range s.Candidates {
		c := &s.Candidates[i]
		layouts[c.Label] = c
		if !c.OK {
			out.Rejected = append(out.Rejected, Rejection{layoutOf(&c.Layout), c.MTP, c.Reason})
		}
	}
	for _, f := range s.Frontier {
		c := layouts[f.Label]
		out.Frontier = append(out.Frontier, *pointOf(at(c, f.Batch, f.Throughput), deployed(c, f.Batch)))
	}
	if x := s.Safe; x != nil {
		out.Safe = pointOf(&x.Best, deployed(x, x.Best.Batch))
	}
	if x := s.Nearest; x != nil {
		c := layouts[x.Label]
		out.Nearest = pointOf(at(c, x.Batch, 0), deployed(c, x.Batch))
		// As limits they are met in spite of rounding.
		out.Nearest.TTFT, out.Nearest.TPOT = duration(x.TTFT)+time.Nanosecond, duration(x.TPOT)+time.Nanosecond
	}
	return out
}

func optionOf(r *ops.Row, d Deployment) Option {
	o, e := &r.Best, &r.Expected
	return Option{
		Deployment: d, Concurrency: o.Concurrency, TTFT: timeOf(o.TTFT, e.TTFT), TPOT: timeOf(o.TPOT, e.TPOT),
		OutputRate: rateOf(o.Throughput, e.Throughput), Chance: r.Chance, Basis: e.Basis, Binds: string(r.Binds),
	}
}

func pointOf(o *formulas.Outcome, d Deployment) *Point {
	return &Point{d, o.Concurrency, duration(o.TTFT), duration(o.TPOT), o.Throughput}
}

// at is the outcome of a layout at a batch that was simulated, with a throughput if that
// is not 0.
func at(c *ops.Row, batch int, throughput float64) *formulas.Outcome {
	for i := range c.Points {
		if c.Points[i].Batch == batch && (throughput == 0 || c.Points[i].Throughput == throughput) {
			return &c.Points[i]
		}
	}
	return &c.Best
}
