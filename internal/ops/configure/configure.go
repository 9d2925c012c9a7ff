package configure

import (
	"cmp"
	"context"
	"errors"

	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Request asks for the best deployments of several experiments.
type Request struct {
	Experiments []experiment.Experiment `json:"experiments"`
	session.Sources

	Top  int `json:"top_n,omitempty"` // rows of each experiment; 0 = 5
	Jobs int `json:"-"`               // workers, which no answer depends on; 0 = 8
}

// Response is what was found.
type Response struct {
	Request Request
	// Results are those of the experiments, in their order.
	Results []experiment.Result
	// Best is the index of the experiment with the most throughput per device within
	// its limits, or -1.
	Best int
}

// Check reports what is wrong with a request as a whole; its experiments are checked one by
// one, since some may fail.
func (r *Request) Check() error {
	if len(r.Experiments) == 0 {
		return session.BadInput(errors.New("there is no experiment to run"))
	}
	return nil
}

// Run runs experiments. One that fails is reported and the others finish; that there is
// none, or that all fail, is an error.
func Run(ctx context.Context, s *session.Session, r Request) (*Response, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	r.Top = cmp.Or(r.Top, experiment.DefaultTop)
	out := &Response{Request: r, Results: make([]experiment.Result, len(r.Experiments)), Best: -1}
	how := experiment.How{Sources: r.Sources, Top: r.Top, Jobs: r.Jobs}
	if err := experiment.Each(ctx, r.Experiments, out.Results, func(e experiment.Experiment) (*experiment.Result, error) {
		return experiment.Best(ctx, s, &how, e, true)
	}); err != nil {
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
	return session.Finish(ctx, out, nil)
}

// Generate gives a deployment of an experiment that works, without a search.
func Generate(ctx context.Context, s *session.Session, e experiment.Experiment, files session.Sources) (*Response, error) {
	e.Mode = experiment.Aggregated
	r := Request{Experiments: []experiment.Experiment{e}, Sources: files, Top: 1}
	found, err := experiment.Unsearched(ctx, s, &experiment.How{Sources: files, Top: r.Top}, e)
	if err != nil {
		return nil, err
	}
	return session.Finish(ctx, &Response{Request: r, Results: []experiment.Result{*found}}, nil)
}
