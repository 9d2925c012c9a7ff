package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/trial"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// ConfigureRequest asks for the best deployments of several experiments.
type ConfigureRequest struct {
	Experiments []Experiment `json:"experiments"`
	Sources

	Top  int `json:"top_n,omitempty"` // rows of each experiment; 0 = 5
	Jobs int `json:"-"`               // workers, which no answer depends on; 0 = 8
}

// ConfigureResponse is what was found.
type ConfigureResponse struct {
	Request ConfigureRequest
	// Results are those of the experiments, in their order.
	Results []ExperimentResult
	// Best is the index of the experiment with the most throughput per device within
	// its limits, or -1.
	Best int
}

// ExperimentResult is the result of one experiment.
type ExperimentResult struct {
	Experiment Experiment // complete
	// Failure is why the experiment could not be run; "" if it was.
	Failure string
	Experts bool
	Tier    device.Tier
	// Rows are the best deployments within the limits, one for each layout that
	// decodes, the most throughput first.
	Rows []Option
	// Near is the deployment nearest to the limits where none is within them, and
	// Nearest limits that it meets.
	Near    *Option
	Nearest workload.Limits
	// Frontier is the trade-off of speed for a user and throughput of a device.
	Frontier []Speed
	// Rejected are the layouts that cannot be run, each with its reason.
	Rejected []string
	Notes    []string
}

// Option is a deployment with its figures.
type Option struct {
	// Deployment is whole: simulating it at the concurrency gives the figures.
	Deployment deployment.Deployment
	// Copies of X prefill and Y decode workers, or of one worker that does both (X 0).
	Copies, X, Y int
	Used         int // devices
	Concurrency  int
	// Batch is the largest batch of a data-parallel rank, Prompts that of one for
	// prefill.
	Batch, Prompts int
	// Budget is the most tokens of a step of the workers that compute prompts.
	Budget int

	TTFT, TPOT, Latency units.Seconds
	Throughput          float64 // output tokens per second of the cluster
	RequestRate         float64
	Memory              units.Bytes // of a device that generates
	Expected            calibration.Expected
	Chance              float64 // that the limits are met
	// TTFTMean and TPOTMean are means, TTFT95 and TPOT95 95th percentiles, Chance95 the
	// probability that these meet the limits.
	TTFTMean, TPOTMean units.Seconds
	TTFT95, TPOT95     units.Seconds
	Chance95           float64
	Engine             string // as people call it
	MemoryBudget       engine.Budget
	KVPeak             float64 // share of the cache in use at most
	Binds              search.Verdict
	// Energy is nil where the power of a device is unknown or nobody asked for it.
	Energy *Energy
}

// Speed is one point of a trade-off.
type Speed struct {
	User   float64 `json:"tokens_per_second_user"`
	Device float64 `json:"tokens_per_second_gpu"`
}

// The defaults of AIConfigurator.
const (
	defaultTop         = 5
	defaultISL         = 4000
	defaultOSL         = 1000
	defaultBatch       = search.DefaultBatch
	defaultWorkers     = 32
	maxCluster         = 1 << 15
	maxBatch           = 1 << 14
	experimentsAtATime = 2
)

// Configure runs experiments. One that fails is reported and the others finish; that
// there is none, or that all fail, is an error.
func (w *World) Configure(ctx context.Context, r ConfigureRequest) (*ConfigureResponse, error) {
	if len(r.Experiments) == 0 {
		return nil, badInput(errors.New("there is no experiment to run"))
	}
	r.Top = cmp.Or(r.Top, defaultTop)
	out := &ConfigureResponse{Request: r, Results: make([]ExperimentResult, len(r.Experiments)), Best: -1}
	failed := make([]error, len(r.Experiments))
	err := pool.Each(ctx, len(r.Experiments), experimentsAtATime, func(i int) {
		x, err := w.experiment(&r, r.Experiments[i])
		if err == nil {
			err = x.run(ctx, true)
		}
		out.Results[i] = x.out
		if err != nil {
			failed[i], out.Results[i].Failure = err, err.Error()
		}
	})
	if err = cmp.Or(err, pool.Bug(failed...)); err == nil && !slices.Contains(failed, nil) {
		err = allFailed(r.Experiments, failed)
	}
	if err != nil {
		return nil, err
	}
	most := 0.0
	for i := range out.Results {
		if rows := out.Results[i].Rows; len(rows) > 0 {
			if v := rows[0].PerDevice(&out.Results[i].Experiment); v > most {
				most, out.Best = v, i
			}
		}
	}
	return out, ctx.Err()
}

// allFailed says why no experiment could be run: once, if it is the same for all.
func allFailed(e []Experiment, failed []error) error {
	same := func(err error) bool { return err.Error() == failed[0].Error() }
	if !slices.ContainsFunc(failed, func(err error) bool { return !same(err) }) {
		return failed[0]
	}
	var errs []error
	for i, err := range failed {
		errs = append(errs, fmt.Errorf("experiment %s: %w", e[i].Name, err))
	}
	return badInput(errors.Join(errs...))
}

// PerDevice is the throughput per device of an experiment, idle ones included.
func (o *Option) PerDevice(e *Experiment) float64 { return o.Throughput / float64(e.Devices) }

// Ahead is how many times as much per device the best row carries as another
// experiment's, and whether that may be due to the errors of both predictions, taken as
// independent.
func (x *ExperimentResult) Ahead(other *ExperimentResult) (ratio float64, withinError bool) {
	a, b := &x.Rows[0], &other.Rows[0]
	ratio = a.PerDevice(&x.Experiment) / b.PerDevice(&other.Experiment)
	half := func(e calibration.Error) float64 { return (e.High - e.Low) / 2 } // of an 80 % interval, in logarithms
	return ratio, math.Log(ratio) < math.Hypot(half(a.Expected.Throughput), half(b.Expected.Throughput))
}

// User is the tokens per second that a user sees, 0 where there is no second token.
func (o *Option) User() float64 { return o.TPOT.Rate() }

// experiment is one in progress.
type experiment struct {
	world *World
	r     *ConfigureRequest
	e     *Experiment
	stage *stage
	out   ExperimentResult

	subject *trial.Subject
	eval    *search.Simulated
	space   search.Workers
	results []search.Result
	rows    []*search.Result // the best of each layout
	near    *search.Result   // nearest to the limits, where there are no rows
	closest string           // why the layout that comes nearest to running does not, where none does
}

// about is what a simulation says beside its figures.
type about struct {
	tier  device.Tier
	notes []string
}

// experiment prepares one.
func (w *World) experiment(r *ConfigureRequest, e Experiment) (*experiment, error) {
	mix, err := w.lengths(&e)
	e.complete()
	x := &experiment{world: w, r: r, e: &e, out: ExperimentResult{Experiment: e}}
	if err = errors.Join(err, e.check()); err != nil {
		return x, badInput(err)
	}
	asked := e.asked()
	if x.stage, err = w.stage(&asked, &r.Sources); err != nil {
		return x, err
	}
	x.out.Experts = x.stage.Model.HasExperts()
	for _, d := range x.devices() {
		if why := engine.Foreign(x.stage.Engine.Name, d); why != "" {
			return x, badInput(errors.New(why))
		}
	}
	if x.stage.Kinds = mix; mix != nil {
		err = fits(x.stage.Model, mix.Longest)
	} else {
		err = within(x.stage.Model, span{"isl", e.Input}, span{"osl", e.Output}, 0)
	}
	if err != nil {
		return x, badInput(err)
	}
	return x, x.prepare()
}

// devices are those of the systems of an experiment.
func (x *experiment) devices() []*device.Profile {
	out := []*device.Profile{x.stage.Device}
	if x.e.DecodeSystem != "" {
		out = append(out, x.stage.Systems[x.e.DecodeSystem])
	}
	return out
}

// run searches, with the trade-off of all speeds if that is wanted, and sums up.
func (x *experiment) run(ctx context.Context, frontier bool) error {
	if err := x.search(ctx); err != nil {
		return err
	}
	if frontier {
		points, err := x.space.Sweep(ctx, x.eval, cmp.Or(x.r.Jobs, defaultJobs))
		if err != nil {
			return err
		}
		x.frontier(points)
	}
	return x.summarize(ctx)
}
