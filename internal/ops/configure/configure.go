package configure

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/ways"
)

// Request asks for the best deployments of several experiments.
type Request struct {
	Experiments []experiment.Experiment `json:"experiments"`
	experiment.How
}

// Response is the comparison of experiments.
type Response struct {
	// Best is the experiment with the most throughput per device within its limits, null if
	// none is; At is its index, or -1.
	Best *string `json:"best"`
	At   int     `json:"-"`
	// Results are those of the experiments, in their order.
	Results []experiment.Result `json:"experiments"`
	Caution string              `json:"caution"`

	Request Request `json:"-"`
}

// chose names the best experiment.
func (r *Response) chose(best int) {
	if r.At = best; best >= 0 {
		r.Best = &r.Results[best].Experiment.Name
	}
}

// Run runs experiments. One that fails is reported and the others finish; that there is
// none, or that all fail, is an error.
func Run(ctx context.Context, s *session.Session, r Request) (*Response, error) {
	if len(r.Experiments) == 0 { // they are checked one by one, since some may fail
		return nil, session.BadInput(errors.New("there is no experiment to run"))
	}
	r.Top, r.Table = cmp.Or(r.Top, experiment.DefaultTop), true
	out := &Response{Request: r, Results: make([]experiment.Result, len(r.Experiments)), Caution: session.Caution}
	if err := experiment.Each(ctx, r.Experiments, out.Results, func(e experiment.Experiment) (*experiment.Result, error) {
		found, err := experiment.Find(ctx, s, &r.How, searchrun.Load{}, e, true)
		return found, roomier(s, &r.How, e, err)
	}); err != nil {
		return nil, err
	}
	most, best := 0.0, -1
	for i := range out.Results {
		if rows := out.Results[i].Rows; len(rows) > 0 {
			if v := rows[0].PerDevice(&out.Results[i].Experiment); v > most {
				most, best = v, i
			}
		}
	}
	out.chose(best)
	return session.Finish(ctx, out, nil)
}

// roomier adds to the error of a model that does not fit the number of GPUs on which it does.
func roomier(s *session.Session, how *experiment.How, e experiment.Experiment, err error) error {
	if _, ok := errors.AsType[*experiment.NoRoomError](err); !ok {
		return err
	}
	for _, n := range ways.Devices(e.Devices, ways.MostGrowth, experiment.MaxDevices) {
		if e.Devices = n; experiment.Runs(s, how, searchrun.Load{}, e) == nil {
			return fmt.Errorf("%w; %d GPUs have room", err, n)
		}
	}
	return err
}

// Generate gives a deployment of an experiment that works, without a search.
func Generate(ctx context.Context, s *session.Session, e experiment.Experiment, files session.Sources) (*Response, error) {
	e.Mode = experiment.Aggregated
	r := Request{Experiments: []experiment.Experiment{e}, How: experiment.How{Sources: files, Top: 1}}
	found, err := experiment.Unsearched(ctx, s, &r.How, e)
	if err != nil {
		return nil, roomier(s, &r.How, e, err)
	}
	out := &Response{Request: r, Results: []experiment.Result{*found}, Caution: session.Caution}
	out.chose(0)
	return session.Finish(ctx, out, nil)
}
