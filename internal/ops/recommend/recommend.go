package recommend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Request asks for the fewest devices that carry a load within limits. The devices of its
// experiments are not given.
type Request struct {
	Experiments []experiment.Experiment `json:"experiments"`
	experiment.How

	// One of these is the load: requests per second, or in flight.
	Rate        float64 `json:"target_request_rate,omitempty"`
	Concurrency int     `json:"target_concurrency,omitempty"`
}

// Response is how many devices a load needs. All figures are at the load.
type Response struct {
	Rate        float64 `json:"target_request_rate,omitempty"`
	Concurrency int     `json:"target_concurrency,omitempty"`
	// Best is the experiment that needs the fewest devices, null if none carries the load
	// within its limits; At is its index, or -1. GPUs is how many.
	Best *string `json:"best"`
	At   int     `json:"-"`
	GPUs *int    `json:"total_gpus_needed"`
	// Results are those of the experiments, in their order. The devices of an experiment
	// are the most that a unit was looked for on.
	Results []experiment.Result `json:"experiments"`
	Caution string              `json:"caution"`

	Request Request `json:"-"`
}

// Run finds the fewest devices for a load: for units of workers of every size, as many
// copies as the load needs. An experiment that fails is reported and the others finish;
// that all fail is an error.
func Run(ctx context.Context, s *session.Session, r Request) (*Response, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	r.Top = cmp.Or(r.Top, experiment.DefaultTop)
	out := &Response{
		Request: r, Rate: r.Rate, Concurrency: r.Concurrency, Results: make([]experiment.Result, len(r.Experiments)), At: -1, Caution: session.Caution,
	}
	load := searchrun.Load{Rate: r.Rate, Requests: r.Concurrency}
	if err := experiment.Each(ctx, r.Experiments, out.Results, func(e experiment.Experiment) (*experiment.Result, error) {
		return experiment.Find(ctx, s, &r.How, load, e, false)
	}); err != nil {
		return nil, err
	}
	for i := range out.Results {
		if rows := out.Results[i].Rows; len(rows) > 0 && (out.At < 0 || experiment.Fewer(&rows[0], &out.Results[out.At].Rows[0]) < 0) {
			out.At = i
		}
	}
	if out.At >= 0 {
		best := &out.Results[out.At]
		out.Best, out.GPUs = &best.Experiment.Name, &best.Rows[0].Used
	}
	return session.Finish(ctx, out, nil)
}

// Check reports what is wrong with the request itself.
func (r *Request) Check() error {
	const rate, concurrency field.Name = "target_request_rate", "target_concurrency"
	var err error
	switch {
	case len(r.Experiments) == 0:
		err = errors.New("no experiment to run")
	case (r.Rate != 0) == (r.Concurrency != 0):
		err = field.Errorf("give one of %s and %s", rate, concurrency)
	case !(r.Rate >= 0) || math.IsInf(r.Rate, 1):
		err = field.Errorf("%s must be positive and finite, got %g", rate, r.Rate)
	case r.Concurrency != 0:
		err = field.Between(concurrency, r.Concurrency, 1, session.MaxTokens)
	}
	return session.BadInput(err)
}

// Load is the load in words.
func (r *Request) Load() string {
	if r.Concurrency > 0 {
		return fmt.Sprintf("%d concurrent requests", r.Concurrency)
	}
	return fmt.Sprintf("%g req/s", r.Rate)
}
