package ops_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	serve "github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// figures are what all ways to ask about a deployment must agree on.
type figures struct {
	ttft, tpot         units.Seconds
	throughput, chance float64
	expected           calibration.Expected
	joules             serve.Estimate // of an output token
}

func ofSimulation(s *simulate.Response) figures {
	return figures{s.Result.TTFT.Mean, s.Result.TPOT.Mean, s.Result.OutputRate, s.Judged.Sure(), s.Expected, s.Energy.PerToken}
}

func ofOption(o *experiment.Option) figures {
	return figures{o.TTFT, o.TPOT, o.Throughput, o.Judged.Sure(), o.Run.Expected, o.Energy.PerToken}
}

func ofEstimate(r *estimate.Response) figures {
	return figures{r.TTFT, r.TPOT, r.Throughput, r.Judged.Sure(), r.Expected, r.Energy.PerToken}
}

func ofRow(r *optimize.Row) figures {
	return figures{r.Best.TTFT, r.Best.TPOT, r.Best.Throughput, r.Judged.Sure(), r.Expected, r.Energy.PerToken}
}

// agreement compares the searches with simulations, of the same random deployments.
type agreement struct {
	*testing.T
	random *rand.Rand
	// Deployments that "cli", "throughput-optimizer" and "simulate" all gave figures of,
	// by the search that found them, and those with prefill workers, which only two of
	// them can express.
	byExperiment, byOptimizer, separate int
	// Searches whose requests differ in length.
	varied int
}

// TestSearchesAgreeWithSimulation: experiments ("cli"), "throughput-optimizer" and
// "simulate" give the same figures of the same deployment, to the digit, whichever of the
// searches found it; so do the files of a row. 60 random deployments of all three.
func TestSearchesAgreeWithSimulation(t *testing.T) {
	t.Parallel()
	a := &agreement{T: t, random: rand.New(rand.NewPCG(1, 2))}
	for a.byExperiment+a.byOptimizer < 60 || a.separate < 12 || a.byExperiment < 20 {
		e := anyExperiment(a.random)
		if a.separate >= 12 {
			e.Mode, e.DecodeSystem = experiment.Aggregated, ""
		}
		a.experiment(&e)
		if e.Mode == experiment.Aggregated {
			a.optimizer(&e)
		}
	}
}

// experiment looks at the rows of an experiment.
func (a *agreement) experiment(e *experiment.Experiment) {
	res, err := configure.Run(a.Context(), new(session.Session), configure.Request{Experiments: []experiment.Experiment{*e}})
	if err != nil {
		a.Fatalf("%+v: %v", e, err)
	}
	x := &res.Results[0]
	for i := range x.Rows {
		o := &x.Rows[i]
		what := fmt.Sprintf("%+v at %d", o.Deployment, o.Concurrency)
		a.is(what, ofOption(o), a.simulate(e, o.Deployment, o.Concurrency, 1))
		if d := written(a.T, x, o); d != nil {
			got := a.simulate(e, *d, o.Concurrency, 1)
			if got.tpot != o.TPOT || got.throughput != o.Throughput {
				a.Errorf("the files of %s run something else: %+v", what, *d)
			}
		}
		if o.Deployment.Devices() != o.Used || o.Used > e.Devices {
			a.Errorf("%s uses %d devices of %d, the row says %d", what, o.Deployment.Devices(), e.Devices, o.Used)
		}
		if e.Limits.Any() && o.Judged.Sure() < search.DefaultConfidence {
			a.Errorf("%s meets its limits with %g", what, o.Judged.Sure())
		}
		if i > 0 && o.Throughput > x.Rows[i-1].Throughput {
			a.Errorf("row %d carries %g, the one before %g", i, o.Throughput, x.Rows[i-1].Throughput)
		}
		if e.Mode == experiment.Disaggregated {
			a.separate++
			continue
		}
		a.found(e, o, what)
	}
}

// found asks the optimizer for the one deployment that an experiment found, if it can
// express it: every rank has as many requests.
func (a *agreement) found(e *experiment.Experiment, o *experiment.Option, what string) {
	p := &o.Deployment.Pools[0]
	ranks := p.Replicas * max(1, p.Layout.DP)
	if e.Prefix > 0 || o.Concurrency%ranks != 0 {
		return
	}
	q := optimizerOf(e, o.Used, p.Settings)
	q.BatchRange, q.Budget = []int{o.Concurrency / ranks, o.Concurrency / ranks}, o.Budget
	r, err := optimize.Run(a.Context(), new(session.Session), q)
	if err != nil {
		a.Fatalf("%s: %v", what, err)
	}
	rows := r.Devices[0].Searches[0].Rows
	for i := range rows {
		if row := &rows[i]; sameLayout(&row.Candidate.Layout, &p.Layout) && max(1, row.Replicas) == p.Replicas && row.Best.Concurrency == o.Concurrency {
			a.is(what+" of the optimizer", ofRow(row), ofOption(o))
			a.byExperiment++
		}
	}
}

// optimizer searches the same space and looks at its rows.
func (a *agreement) optimizer(e *experiment.Experiment) {
	batch := e.Workers.MaxBatch
	settings := []string{fmt.Sprintf("max_sequences=%d", batch)}
	if e.Engine.Name == "vllm" && e.Model != "openai/gpt-oss-20b" {
		settings = append(settings, fmt.Sprintf("graph.max_batch=%d", a.captured(e.System))) // as experiments have it
	}
	q := optimizerOf(e, e.Devices, settings)
	q.BatchRange, q.Confidence = []int{batch}, 0.2+0.7*a.random.Float64()
	if q.LengthLow = 1; a.varied < 3 { // few, as they are simulated for long
		a.varied++
		q.LengthLow = 0.8
	}
	r, err := optimize.Run(a.Context(), new(session.Session), q)
	if err != nil {
		a.Fatalf("%+v: %v", q, err)
	}
	p := &r.Devices[0].Searches[0]
	if p.Evaluation != optimize.BySimulation {
		a.Fatalf("%s is evaluated by %s", e.System, p.Evaluation)
	}
	for i := range p.Rows {
		row := &p.Rows[i]
		what := fmt.Sprintf("%s on %d %s under %s, %s, %d requests", q.Model, q.NumDevices, e.System, q.Engine.Name, row.Label, row.Best.Concurrency)
		d := p.Deployment(row, row.Best.Batch)
		whole := *e
		whole.Prefix = 0
		a.is(what, ofRow(row), a.simulate(&whole, d, row.Best.Concurrency, q.LengthLow))
		if q.Limits.Any() && row.Judged.Sure() < q.Confidence {
			a.Errorf("%s meets its limits with %g, asked for %g", what, row.Judged.Sure(), q.Confidence)
		}
		if q.LengthLow < 1 { // of experiments all lengths are equal
			continue
		}
		got, err := estimate.Run(a.Context(), new(session.Session), estimate.Request{
			Experiment: whole, Workers: estimate.Workers{Count: max(1, row.Replicas), Layout: row.Candidate.Layout, Batch: batch, Budget: row.Candidate.Budget}, Concurrency: row.Best.Concurrency,
		})
		if err != nil {
			a.Fatalf("%s: %v", what, err)
		}
		a.is(what+" of cli estimate", ofEstimate(got), ofRow(row))
		a.byOptimizer++
	}
	if s := p.Safe; s != nil && s.Throughput > p.Rows[0].Best.Throughput*(1+1e-9) && q.Confidence <= optimize.SafeChance {
		a.Errorf("the safe choice carries %g, the best row %g", s.Throughput, p.Rows[0].Best.Throughput)
	}
}

// captured is how many tokens vLLM captures for many sequences.
func (a *agreement) captured(system string) int {
	p, err := engine.LookupVersion("vllm", "")
	d, unknown := device.Lookup(system)
	if err != nil || unknown != nil {
		a.Fatal(err, unknown)
	}
	return p.On(d, engine.Use{Devices: 1}).Graph.MaxBatch
}

// simulate is the simulation of a deployment under the load of an experiment.
func (a *agreement) simulate(e *experiment.Experiment, d deployment.Deployment, concurrency int, low float64) figures {
	q := simulate.Request{Deployment: d, Limits: e.Limits}
	q.Concurrency, q.Input, q.Output, q.Prefix, q.LengthLow = concurrency, e.Input, e.Output, e.Prefix, low
	got, err := simulate.Run(a.Context(), new(session.Session), q)
	if err != nil {
		a.Fatalf("%+v: %v", d, err)
	}
	return ofSimulation(got)
}

// is compares.
func (a *agreement) is(what string, got, want figures) {
	if got != want {
		a.Errorf("%s: %+v, elsewhere %+v", what, got, want)
	}
}

// optimizerOf is an experiment as the optimizer is asked, with engine settings.
func optimizerOf(e *experiment.Experiment, devices int, settings []string) optimize.Request {
	q := optimize.Request{Model: e.Model, Devices: []string{e.System}, NumDevices: devices, Input: e.Input, Output: e.Output, Limits: e.Limits, Engine: e.Engine}
	q.Engine.Settings = settings
	return q
}

// sameLayout compares what engines are told of layouts.
func sameLayout(a, b *parallel.Layout) bool {
	return a.Devices == b.Devices && a.TP == b.TP && a.PP == b.PP && max(1, a.DP) == max(1, b.DP) && max(1, a.EP) == max(1, b.EP)
}
