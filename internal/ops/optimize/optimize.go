package optimize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/ops/trial"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Response is the result of a search.
type Response struct {
	Request Request
	Model   string
	Experts bool // the model has experts, and labels show their dimensions
	Devices []DeviceResult
	// Explanations and Traces are present if requested.
	Explanations []Explanation
	Traces       []NamedTrace
	// Tables are the measured kernels used, nil without any.
	Tables *prices.Use
	Notes  []string // on how the model is modelled
}

// DeviceResult is the search on one device.
type DeviceResult struct {
	Device device.Profile
	// Searches are the phases searched: one aggregated, or prefill, decode or both.
	Searches []Search
	// Ratio is the matching of prefill and decode, where asked for.
	Ratio *Ratio
}

// Search is the search of one phase on one device.
type Search struct {
	Mode search.Mode
	// Evaluation is how candidates were evaluated, under Engine where simulated and
	// so that limits are met with a probability of Confidence.
	Evaluation Evaluation
	Engine     string
	Confidence float64

	NumDevices int
	Limits     workload.Limits
	Policy     string
	Pricing    prices.Pricing
	Compiled   bool
	// Linear and Attention are the quantization actions, as the vendor's header
	// names them.
	Linear, Attention string
	ReservedGiB       float64
	Experts           bool
	// Tier says where the operator times come from, Measured which share of the best
	// row's step time is from kernel tables.
	Tier     device.Tier
	Measured float64
	// Candidates are all in the order of enumeration, Rows the feasible ones, best
	// first.
	Candidates []Row
	Rows       []Row
	// Frontier is the Pareto frontier of throughput and TPOT over all batches that
	// were sampled, most throughput first. Aggregated only.
	Frontier []Point
	// Nearest is the candidate nearest to the limits if no row meets them.
	Nearest *Nearest
	// Safe is the deployment with the most throughput that meets the limits with a
	// probability of [Safe]; nil if there is none, or no limit.
	Safe *Row
	// Artefacts are those of the policy that change the best row's step.
	Artefacts []step.Effect
	Notes     []string
	// Shape is what the deployments of rows have in common that were simulated.
	Shape trial.Shape
}

// Deployment is that of a row at a batch of its ranks. Simulating it gives the figures of
// a row that was evaluated by simulation.
func (s *Search) Deployment(r *Row, batch int) deployment.Deployment {
	return s.Shape.Deployment(r.Candidate, batch)
}

// Phase names a mode as programs read it.
func Phase(m search.Mode) string { return [...]string{"aggregated", "prefill", "decode"}[m] }

// Limited reports whether there is a limit.
func (s *Search) Limited() bool { return s.Limits.Any() }

// Row is the result of a candidate.
type Row struct {
	Candidate search.Candidate
	Label     string
	// Settings are those of the engine that belong to the row, as "key=value"; nil of
	// rows by formulas.
	Settings []string
	Layout   parallel.Layout // of one replica
	Replicas int
	MTP      int
	// Best is the outcome with the most throughput within the limits, if OK.
	OK   bool
	Best formulas.Outcome
	// Binds is what limits the batch, or why there is no best; Reason is the same as
	// a sentence.
	Binds  search.Verdict
	Reason string
	// Points are the batches that were sampled, whatever their latency.
	Points []formulas.Outcome

	QPS       float64          // of a disaggregated phase
	Cost      float64          // USD for a million tokens of the throughput; 0 = unknown
	Energy    *simulate.Energy // nil where it is unknown, and of rows by formulas
	Budget    int              // tokens of a step and DP rank
	Effective int              // tokens to compute of a prompt, on average
	// Expected are the errors to expect of Best, Chance the probability that it
	// meets the limits.
	Expected calibration.Expected
	Chance   float64
	// Composition is the prompts in the batch of one data-parallel rank, shortest
	// first; nil where all are equal.
	Composition []workload.Row
}

// Devices is how many devices a row uses.
func (r *Row) Devices() int { return max(1, r.Replicas) * r.Layout.Devices }

// Nearest is a candidate at its smallest batch, and the limits it would meet.
type Nearest struct {
	Candidate  search.Candidate
	Label      string
	Batch      int
	TTFT, TPOT units.Seconds
	Latency    units.Seconds
}

// Point is a batch of a layout.
type Point struct {
	Label      string
	Batch      int
	Throughput float64 // tokens per second
	User       float64 // tokens per second that one user gets
}

// Ratio is how prefill and decode instances are matched.
type Ratio struct {
	// Pairs are counted as the guide does.
	Pairs []Pair
	// Sustained is what instances carry without end; nil where a phase has no row.
	Sustained *Sustained
}

// Sustained is the best row of each phase, the requests per second that one
// instance of each carries without end, and how many instances carry the most.
type Sustained struct {
	P, D                  Row
	PrefillQPS, DecodeQPS float64
	// Split divides the device budget for the most requests per second. Nearest is
	// the split closest to the ratio of the best pair, as the guide has it. Both are
	// zero when not one instance of each fits.
	Split, Nearest formulas.Instances
}

// QPS is the requests per second of a number of instances.
func (s *Sustained) QPS(n formulas.Instances) float64 { return n.QPS(s.PrefillQPS, s.DecodeQPS) }

// Pair is a prefill and a decode layout matched to one another.
type Pair struct {
	formulas.Pair
	P, D Row
	// Sustained is the requests per second that one prefill instance of this layout
	// carries without end, at the batch with the most throughput.
	Sustained float64
	// Expected are the errors to expect, Chance the probability that both meet their
	// limits.
	Expected calibration.Expected
	Chance   float64
}

// Limited reports whether a search has a limit.
func (d *DeviceResult) Limited() bool {
	return slices.ContainsFunc(d.Searches, func(s Search) bool { return s.Limited() })
}

// Run finds the deployments with the most throughput within the limits.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	m, devices, err := asked(w, &r)
	if err != nil {
		return nil, err
	}
	run := &optimization{world: w, r: &r, model: m}
	if run.overlay, err = w.Overlay(r.Calibration); err != nil {
		return nil, err
	}
	if run.prices, err = prices.Open(w.Dir, r.PerfData); err != nil {
		return nil, session.BadInput(err)
	}
	if run.engine, err = engine.LookupVersion(r.Engine.Name, r.Engine.Version); err != nil {
		return nil, session.BadInput(err)
	}
	if _, err = run.engine.With(r.Engine.Settings...); err != nil {
		return nil, session.BadInput(err)
	}
	out := &Response{Request: r, Model: m.Name(), Experts: m.HasExperts(), Notes: m.Notes}
	if len(r.Space.MTP) > 0 && slices.Max(r.Space.MTP) > 0 && m.MTP.Layers == 0 {
		out.Notes = append(slices.Clone(out.Notes), m.Name()+" has no MTP modules: each draft token adds a decoder layer")
	}
	out.Notes = append(slices.Clone(out.Notes), r.onLength(m)...)
	run.out = out
	for _, d := range devices {
		if err := run.on(ctx, d); err != nil {
			return nil, err
		}
	}
	out.Tables, err = run.prices.Used()
	return session.Finish(ctx, out, session.BadInput(err))
}

// Check completes a request with its defaults, and reports everything that is wrong with it.
func Check(w *session.Session, r Request) (Request, error) {
	_, _, err := asked(w, &r)
	return r, err
}

// asked completes and checks a request, and finds its model and its devices.
func asked(w *session.Session, r *Request) (*model.Model, []*device.Profile, error) {
	r.complete()
	m, unknown := w.Model(r.Model, r.AsFamily)
	all, err := devices(w, r)
	return m, all, errors.Join(unknown, session.BadInput(r.check(m)), err)
}

// on runs the phases of a request on one device.
func (o *optimization) on(ctx context.Context, d *device.Profile) error {
	out := DeviceResult{Device: *d}
	out.Device.Links = slices.Clone(d.Links)
	if o.r.Price > 0 {
		out.Device.Price = device.Price{USDPerHour: o.r.Price, Source: "as given"}
	}
	var tasks []*task
	for _, p := range o.r.phases() {
		t, err := o.task(d, p)
		if err != nil {
			return session.BadInput(err)
		}
		for _, n := range t.base.Notes {
			if !slices.Contains(o.out.Notes, n) {
				o.out.Notes = append(o.out.Notes, n)
			}
		}
		if err := t.run(ctx); err != nil {
			return err
		}
		out.Searches = append(out.Searches, t.out)
		tasks = append(tasks, t)
	}
	if o.r.PDRatio {
		out.Ratio = o.match(tasks[0], tasks[1])
	}
	o.out.Devices = append(o.out.Devices, out)
	for _, t := range tasks {
		if len(t.rows) == 0 {
			continue
		}
		if o.r.Explain {
			o.out.Explanations = append(o.out.Explanations, t.explain(ctx))
		}
		if o.r.Traces {
			o.out.Traces = append(o.out.Traces, t.traces(len(tasks) > 1)...)
		}
	}
	return nil
}

// match pairs the phases and divides the device budget.
func (o *optimization) match(p, d *task) *Ratio {
	out := &Ratio{}
	for _, x := range search.Pairs(p.rows, d.rows) {
		out.Pairs = append(out.Pairs, newPair(p, d, &x))
	}
	if len(out.Pairs) == 0 {
		return out
	}
	s := &Sustained{P: p.row(p.rows[0]), D: d.row(d.rows[0])}
	s.PrefillQPS, s.DecodeQPS = s.P.Best.Sustained(), s.D.Best.Answers(o.r.Output)
	s.Split = formulas.Split(s.PrefillQPS, s.DecodeQPS, o.r.NumDevices, o.r.PrefillDevices, o.r.DecodeDevices)
	s.Nearest = formulas.Nearest(out.Pairs[0].Ratio, o.r.NumDevices, o.r.PrefillDevices, o.r.DecodeDevices)
	out.Sustained = s
	return out
}

// newPair is a matched pair with its intervals. TTFT is prefill's and TPOT
// decode's. The balanced rate takes the error of decode's throughput: residuals
// are of the output tokens of whole deployments, there are none of prefill alone.
// The phases' errors are taken as independent, as those of TTFT and TPOT are.
func newPair(p, d *task, x *search.Pair) Pair {
	out := Pair{Pair: x.Pair, P: p.rowAt(x.P, &x.Prefill), D: d.row(x.D), Sustained: x.P.Best.Sustained()}
	a, b := &out.P.Expected, &out.D.Expected
	out.Expected = calibration.Expected{TTFT: a.TTFT, TPOT: b.TPOT, Throughput: b.Throughput, Basis: b.Basis}
	out.Chance = out.P.Chance * out.D.Chance
	return out
}

// base is what all candidates of a search have in common.
func (o *optimization) base(d *device.Profile) (*deployment.Base, error) {
	asked, parts := o.asked(d), deployment.Parts{Model: o.model, Device: d}
	if e, _ := o.r.evaluation(d); e == BySimulation {
		parts.Engine = o.engine
	}
	return asked.Base(parts)
}

// asked is the deployment a request describes, but for its layout.
func (o *optimization) asked(d *device.Profile) deployment.Deployment {
	out := deployment.Deployment{
		Model: o.r.Model, AsFamily: o.r.AsFamily, System: d.Name, Engine: o.r.Engine, Formats: o.r.Formats, Modelling: o.r.Modelling,
	}
	if e, _ := o.r.evaluation(d); e != BySimulation {
		return out
	}
	out.Modelling.Policy = cmp.Or(out.Modelling.Policy, graph.Physical().Name)
	settings := slices.Clip(out.Engine.Settings)
	if o.r.Budget > 0 {
		settings = append(settings, fmt.Sprintf("token_budget=%d", o.r.Budget))
	}
	if o.r.ReservedGiB != nil {
		settings = append(settings, fmt.Sprintf("memory_share=%g", 1-*o.r.ReservedGiB/d.Memory.GiB()))
	}
	out.Engine.Settings = settings
	return out
}

// reserved is the memory of a device that the formulas keep free: what was asked
// for, ten GiB where Ascend's tools are at home, elsewhere what the engine leaves.
func (o *optimization) reserved(d *device.Profile) float64 {
	switch {
	case o.r.ReservedGiB != nil:
		return *o.r.ReservedGiB
	case d.Vendor == device.Ascend || d.Vendor == device.Test:
		return DefaultReserved
	}
	return (1 - o.engine.MemoryShare) * d.Memory.GiB()
}
