package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// The defaults of AIConfigurator.
const (
	defaultISL     = 4000
	defaultOSL     = 1000
	defaultWorkers = 32
)

const (
	// MaxDevices bounds the devices of a cluster.
	MaxDevices = 1 << 15
	// MaxBatch bounds the batch of a rank.
	MaxBatch = 1 << 14
	// AtATime is how many experiments are run in parallel.
	AtATime = 2
)

// How says how experiments are run.
type How struct {
	session.Sources

	search.Margin `json:"-"` // of a fleet for a load

	Top int `json:"top_n,omitempty"` // rows of each experiment; 0 = 5
	// Table asks for what a table has beside the best deployment of each layout: where layouts are fewer than rows, those that carry the
	// next most, and why layouts have no row.
	Table bool `json:"-"`
	Jobs  int  `json:"-"` // workers, which no answer depends on; 0 = 8
}

// DefaultTop is the number of rows by default, as AIConfigurator has it.
const DefaultTop = 5

// Each fills in the results of experiments, a few at a time. Some may fail, which their
// results then say; that all of them do, or a bug, is an error.
func Each(ctx context.Context, all []Experiment, out []Result, do func(Experiment) (*Result, error)) error {
	failed := make([]error, len(all))
	err := pool.Each(ctx, len(all), AtATime, func(i int) {
		var got *Result
		if got, failed[i] = do(all[i]); failed[i] != nil {
			got.Failure = failed[i].Error()
		}
		out[i] = *got
	})
	return cmp.Or(err, Failed(all, failed))
}

// Failed is the error of experiments of which all failed, or one by a bug; else nil.
func Failed(all []Experiment, failed []error) error {
	if err := pool.Bug(failed...); err != nil || slices.Contains(failed, nil) {
		return err
	}
	same := func(err error) bool { return err.Error() == failed[0].Error() }
	if !slices.ContainsFunc(failed, func(err error) bool { return !same(err) }) {
		return failed[0]
	}
	var errs []error
	for i, err := range failed {
		errs = append(errs, fmt.Errorf("experiment %s: %w", all[i].Name, err))
	}
	return session.BadInput(errors.Join(errs...))
}

// run is an experiment in progress.
type run struct {
	world *session.Session
	how   *How
	e     *Experiment
	stage *session.Stage
	out   Result

	searchrun.Run // of which the best of each layout has a row

	space   search.Workers
	nearest *search.Result   // nearest to the limits, where there are no rows
	closest *search.Rejected // the layout that comes nearest to running, where none does
}

// about is what a simulation says beside its figures.
type about struct {
	tier  device.Tier
	notes []string
}

// begin prepares an experiment. It returns a run even with an error.
func begin(w *session.Session, how *How, e Experiment) (*run, error) {
	mix, err := lengths(w, &e)
	e.Complete()
	x := &run{world: w, how: how, e: &e, out: Result{Experiment: e}}
	if err = errors.Join(err, e.Check()); err != nil {
		return x, session.BadInput(err)
	}
	asked := e.Asked()
	if x.stage, err = w.Stage(&asked, &how.Sources); err != nil {
		return x, err
	}
	x.out.Experts = x.stage.Model.HasExperts()
	if x.stage.Kinds = mix; mix == nil {
		err = session.Within(x.stage.Model, session.Span{Name: "isl", Tokens: e.Input}, session.Span{Name: "osl", Tokens: e.Output}, 0)
	} else if m := x.stage.Model; mix.Longest > m.Context() {
		err = fmt.Errorf("the longest requests have %d tokens, more than the %d positions of %s", mix.Longest, m.Context(), m.Name())
	}
	if err != nil {
		return x, session.BadInput(err)
	}
	return x, x.prepare()
}

// open prepares an experiment and its space: for a load, if there is one, otherwise for its devices. It returns a run even with an error.
func open(w *session.Session, how *How, load searchrun.Load, e Experiment) (*run, error) {
	if load == (searchrun.Load{}) {
		x, err := begin(w, how, e)
		if err == nil {
			x.packs(x.Simulated)
			err = x.fill()
		}
		return x, err
	}
	e.Devices = 2 // to begin with: the load decides
	x, err := begin(w, how, e)
	x.out.Experiment = *x.e
	if err == nil {
		err = x.widen()
	}
	x.out.Left = nil // units that are too small
	if err != nil {
		return x, err
	}
	x.out.Experiment.Devices = x.e.Devices
	x.packs(x.Carry(load, MaxDevices, how.Margin))
	return x, nil
}

// packs makes the space that of deployments of the workers.
func (x *run) packs(by search.Scored) {
	x.Space = func(ctx context.Context) []search.Branch { return x.space.Branches(ctx, x.Simulated, by) }
}

// Runs reports why no deployment of an experiment runs, before any is simulated.
func Runs(w *session.Session, how *How, load searchrun.Load, e Experiment) error {
	_, err := open(w, how, load, e)
	return err
}

// Find finds the best deployments of an experiment. For a load they are those with the fewest devices: units of workers of every size, each
// with as many copies as the load needs. Otherwise they carry the most throughput within the limits, and with frontier the result has the
// trade-off of all speeds. The result names the experiment even with an error.
func Find(ctx context.Context, w *session.Session, how *How, load searchrun.Load, e Experiment, frontier bool) (*Result, error) {
	x, err := open(w, how, load, e)
	defer x.out.present()
	if frontier {
		x.out.Frontier = []Speed{} // also of an experiment that fails
	}
	if err == nil {
		err = x.find(ctx)
	}
	if err == nil {
		err = x.finish(ctx, load, frontier)
	}
	return &x.out, err
}

// First finds the best deployment of several experiments. They are searched as one space, so that only what may be the best of all is
// simulated precisely. It returns the result of the experiment that has it, with its place; nil if none meets the limits. Experiments that
// do not run have errors.
func First(ctx context.Context, w *session.Session, how *How, load searchrun.Load, all []Experiment, frontier bool) (best *Result, place int, failed []error, err error) {
	runs, searches := make([]*run, len(all)), make([]*searchrun.Run, len(all))
	failed = make([]error, len(all))
	for i := range all {
		x, err := open(w, how, load, all[i])
		if failed[i] = err; err == nil {
			runs[i], searches[i] = x, &x.Run
		}
	}
	if err := searchrun.Together(ctx, searches); err != nil {
		return nil, 0, failed, err
	}
	var x *run
	for i, other := range runs {
		if other == nil {
			continue
		}
		if other.scored(); len(other.Rows) > 0 && (x == nil || other.out.Score > x.out.Score) {
			x, place = other, i
		}
	}
	if x == nil {
		return nil, 0, failed, nil
	}
	defer x.out.present()
	if frontier {
		x.out.Frontier = []Speed{}
	}
	return &x.out, place, failed, x.finish(ctx, load, frontier)
}

// finish turns what was found into rows.
func (x *run) finish(ctx context.Context, load searchrun.Load, frontier bool) error {
	if load != (searchrun.Load{}) && len(x.Rows) > 0 {
		return x.atLoad(ctx, load)
	}
	if err := x.summarize(ctx); err != nil || !frontier || load != (searchrun.Load{}) {
		return err
	}
	swept, err := x.space.Sweep(ctx, x.Simulated, x.Workers())
	if err == nil {
		x.frontier(swept)
	}
	return err
}
