package recommend

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/trial"
)

// Request asks for the fewest devices that carry a load within limits. The devices of its
// experiments are not given.
type Request struct {
	Experiments []experiment.Experiment `json:"experiments"`
	session.Sources

	// One of these is the load: requests per second, or in flight.
	Rate        float64 `json:"target_request_rate,omitempty"`
	Concurrency int     `json:"target_concurrency,omitempty"`

	Top  int `json:"top_n,omitempty"` // rows of each experiment; 0 = 5
	Jobs int `json:"-"`               // workers, which no answer depends on; 0 = 8
}

// Response is what was found.
type Response struct {
	Request Request
	// Results are those of the experiments, in their order. The devices of an experiment
	// are the most that a unit was looked for on.
	Results []experiment.Result
	// Best is the index of the experiment that needs the fewest devices, or -1.
	Best int
}

// Run finds the fewest devices for a load: for units of workers of every size, as many
// copies as the load needs. An experiment that fails is reported and the others finish;
// that all fail is an error.
func Run(ctx context.Context, s *session.Session, r Request) (*Response, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	r.Top = cmp.Or(r.Top, experiment.DefaultTop)
	out := &Response{Request: r, Results: make([]experiment.Result, len(r.Experiments)), Best: -1}
	how, load := experiment.How{Sources: r.Sources, Top: r.Top, Jobs: r.Jobs}, trial.Load{Rate: r.Rate, Requests: r.Concurrency}
	if err := experiment.Each(ctx, r.Experiments, out.Results, func(e experiment.Experiment) (*experiment.Result, error) {
		return experiment.Fewest(ctx, s, &how, load, e)
	}); err != nil {
		return nil, err
	}
	for i := range out.Results {
		if rows := out.Results[i].Rows; len(rows) > 0 && (out.Best < 0 || experiment.Fewer(&rows[0], &out.Results[out.Best].Rows[0]) < 0) {
			out.Best = i
		}
	}
	return session.Finish(ctx, out, nil)
}

// Check reports what is wrong with the request itself.
func (r *Request) Check() error {
	const rate, concurrency field.Name = "target_request_rate", "target_concurrency"
	var err error
	switch {
	case len(r.Experiments) == 0:
		err = errors.New("there is no experiment to run")
	case (r.Rate != 0) == (r.Concurrency != 0):
		err = field.Errorf("give one of %s and %s", rate, concurrency)
	case !(r.Rate >= 0) || math.IsInf(r.Rate, 1):
		err = field.Errorf("%s must be positive and finite, got %g", rate, r.Rate)
	case r.Concurrency != 0:
		err = field.Between(concurrency, r.Concurrency, 1, session.MaxTokens)
	}
	return session.BadInput(err)
}
