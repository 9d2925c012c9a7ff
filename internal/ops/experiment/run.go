package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/trial"
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

	// Beat, if not nil, is the score of another experiment on the same devices: one that has less has no rows.
	Beat *float64 `json:"-"`
	Top  int      `json:"top_n,omitempty"` // rows of each experiment; 0 = 5
	// Fill adds the next best deployments of the same layouts where fewer layouts are within the limits than rows are asked for.
	Fill bool `json:"-"`
	Jobs int  `json:"-"` // workers, which no answer depends on; 0 = 8
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

	subject *trial.Subject
	eval    *search.Simulated
	space   search.Workers
	results []search.Result
	rows    []*search.Result // the best of each layout
	near    *search.Result   // nearest to the limits, where there are no rows
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

// Runs reports why no deployment of an experiment runs, before any is simulated; with a load of as many devices as it needs.
func Runs(w *session.Session, how *How, e Experiment, loaded bool) error {
	if loaded {
		e.Devices = 2 // as in [Fewest]
	}
	x, err := begin(w, how, e)
	switch {
	case err != nil:
		return err
	case loaded:
		return x.widen()
	}
	return x.workers(x.e.Devices)
}

// Best finds the deployments with the most throughput within the limits, with the trade-off
// of all speeds if frontier is set. The result names the experiment even with an error.
func Best(ctx context.Context, w *session.Session, how *How, e Experiment, frontier bool) (*Result, error) {
	x, err := begin(w, how, e)
	defer x.out.present()
	if frontier {
		x.out.Frontier = []Speed{} // also of an experiment that fails
	}
	if err != nil {
		return &x.out, err
	}
	if err := x.search(ctx); err != nil || x.out.Beaten {
		return &x.out, err
	}
	if err := x.summarize(ctx); err != nil || !frontier {
		return &x.out, err
	}
	swept, err := x.space.Sweep(ctx, x.eval, cmp.Or(how.Jobs, session.DefaultJobs))
	if err == nil {
		x.frontier(swept)
	}
	return &x.out, err
}
