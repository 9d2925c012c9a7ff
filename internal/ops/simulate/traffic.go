package simulate

import (
	"cmp"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// checkPositions checks fixed lengths.
func (r *Traffic) checkPositions(m *model.Model) error {
	if r.Trace != "" || r.InputLengths != nil || r.OutputLengths != nil || r.Workloads != nil {
		return nil
	}
	return session.Within(m, session.Span{Name: "input_length", Tokens: r.Input}, session.Span{Name: "output_length", Tokens: r.Output}, 0)
}

// onLength are the notes on requests longer than the model was trained on.
func (r *Traffic) onLength(s *session.Stage, c traffic.Client) []string {
	m := s.Model
	if s.Kinds != nil {
		return session.OnLength(m, s.Kinds.Longest)
	}
	tokens := 0
	if t, ok := c.(*traffic.Trace); ok {
		for i := range t.Requests {
			tokens = max(tokens, t.Requests[i].Input+t.Requests[i].Output)
		}
		return session.OnLength(m, tokens)
	}
	input, output := r.Input, r.Output
	if r.InputLengths != nil {
		input = session.Longest(r.InputLengths)
	}
	if r.OutputLengths != nil {
		output = session.Longest(r.OutputLengths)
	}
	return session.OnLength(m, input+output)
}

// Traffic is the load: request lengths, and a concurrency, a rate or a trace.
type Traffic struct {
	// Exactly one of these is set.
	Concurrency int     `json:"concurrency,omitempty" minimum:"1" maximum:"100000000"`
	Rate        float64 `json:"rate,omitempty" exclusiveMinimum:"0" maximum:"1000000"`
	Trace       string  `json:"trace,omitempty"`
	// Process and Variation describe the arrivals of a rate.
	Process   traffic.Process `json:"arrival,omitempty"`
	Variation float64         `json:"arrival_variation,omitempty" minimum:"0" maximum:"100"`

	// Requests is the number of a benchmark; 0 = 10 × concurrency, or 1000. In steady state it is the most to simulate; 0 = 50000.
	// Of a trace it takes the first; 0 = all.
	Requests int `json:"num_prompts,omitempty" minimum:"1" maximum:"100000000"`
	// Input and Output are lengths in tokens; 0 = 1024 and 256. Lengths are uniform
	// from LengthLow of them to all; 0 = 1.
	Input     int     `json:"input_length,omitempty" minimum:"1" maximum:"100000000"`
	Output    int     `json:"output_length,omitempty" minimum:"1" maximum:"100000000"`
	LengthLow float64 `json:"length_ratio_low,omitempty" exclusiveMinimum:"0" maximum:"1"`
	// Prefix is the length of the prefix that all prompts share, cached from the start.
	Prefix int `json:"prefix_length,omitempty" minimum:"0" maximum:"100000000"`
	// InputLengths and OutputLengths, if set, replace those.
	InputLengths  *workload.Distribution `json:"input_distribution,omitempty"`
	OutputLengths *workload.Distribution `json:"output_distribution,omitempty"`
	// Workloads, if set, replace all lengths: a mix of workloads.
	Workloads []session.Workload `json:"workloads,omitempty"`
}

// fixedInput and fixedOutput report whether lengths are those of one number.
func (r *Traffic) fixedInput() bool {
	return r.InputLengths == nil && r.Workloads == nil && r.Trace == ""
}

func (r *Traffic) fixedOutput() bool {
	return r.OutputLengths == nil && r.Workloads == nil && r.Trace == ""
}

// MaxVariation is the most variation of arrivals, far beyond any traffic.
const MaxVariation = 100

// checkArrivals reports errors in the arrivals.
func (r *Traffic) checkArrivals() error {
	ways := 0
	for _, given := range []bool{r.Concurrency != 0, r.Rate != 0, r.Trace != ""} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return field.Errorf("give one of %s, %s and %s", field.Name("concurrency"), field.Name("rate"), field.Name("trace"))
	}
	if r.Rate == 0 && r.Process != traffic.Poisson {
		return field.Errorf("%s %v needs %s", field.Name("arrival"), r.Process, field.Name("rate"))
	}
	return CheckArrivals(r.Process, r.Variation)
}

// CheckArrivals reports errors in how requests of a rate come.
func CheckArrivals(p traffic.Process, variation float64) error {
	const arrival, named field.Name = "arrival", "arrival_variation"
	switch {
	case variation != 0 && p != traffic.Gamma:
		return field.Errorf("%s needs %s gamma", named, arrival)
	case p == traffic.Gamma && !(variation > 0 && variation <= MaxVariation):
		return field.Errorf("%s gamma needs %s above 0 and at most %d, got %g", arrival, named, MaxVariation, variation)
	}
	return nil
}

// Client generates the requests.
func Client(w *session.Session, s *session.Stage, r *Traffic) (traffic.Client, error) {
	var mix traffic.Mix
	if s.Kinds != nil {
		mix = s.Kinds.Mix
	}
	input := traffic.Lengths{Tokens: r.Input, Low: r.LengthLow, Distribution: r.InputLengths}
	output := traffic.Lengths{Tokens: r.Output, Low: r.LengthLow, Distribution: r.OutputLengths}
	switch {
	case r.Trace != "":
		trace, err := w.Trace(r.Trace, r.Requests)
		if err != nil {
			return nil, err
		}
		return &traffic.Trace{Requests: trace.Requests, BlockTokens: trace.BlockTokens}, nil
	case r.Rate > 0:
		return traffic.OpenLoop{
			Rate: r.Rate, Process: r.Process, Variation: r.Variation, Requests: cmp.Or(r.Requests, 1000), Input: input, Output: output,
			Prefix: r.Prefix, Mix: mix,
		}, nil
	}
	loop := traffic.Benchmark(r.Concurrency, input, output)
	loop.Requests, loop.Prefix, loop.Mix = cmp.Or(r.Requests, loop.Requests), r.Prefix, mix
	return loop, nil
}

// workloads reads the workloads of some traffic.
func workloads(w *session.Session, s *session.Stage, t *Traffic) error {
	if t.Workloads == nil {
		return nil
	}
	t.Workloads = slices.Clone(t.Workloads) // shared with other requests
	k, err := w.Kinds(t.Workloads)
	if err != nil {
		return err
	}
	s.Kinds, t.Prefix = k, k.Prefix
	return nil
}
