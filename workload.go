package plimsoll

import (
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// Workload is the requests sent to a deployment. One of Concurrency, Rate and Trace
// must be given.
type Workload struct {
	// Concurrency is the number of requests in flight in a closed loop, as benchmarks
	// run it.
	Concurrency int `json:"concurrency,omitempty"`
	// Rate is requests per second in an open loop.
	Rate float64 `json:"rate,omitempty"`
	// Trace is a file of recorded requests: Azure or BurstGPT CSV, Mooncake JSONL,
	// or a CSV of arrival, input and output. It has its own lengths.
	Trace string `json:"trace,omitempty"`

	// Arrival is the arrival process for Rate; "" is Poisson. Variation is the
	// coefficient of variation of Gamma arrivals.
	Arrival   Arrival `json:"arrival,omitempty"`
	Variation float64 `json:"arrival_variation,omitempty"`

	// Requests is the total number of requests; 0 is 10 · Concurrency, or 1000 for a
	// Rate. A trace is replayed completely.
	Requests int `json:"num_prompts,omitempty"`
	Lengths
	// Prefix is how many tokens all prompts begin with that are in the engine's prefix
	// cache from the start; every prompt is longer.
	Prefix int    `json:"prefix_length,omitempty"`
	Seed   uint64 `json:"seed,omitempty"` // of the random numbers; 0 is 1
}

// Lengths are the lengths of prompts and outputs, in tokens: uniform between
// Low·Input and Input, and between Low·Output and Output. With equal lengths (Low 1)
// all requests run in lockstep, unlike real traffic; benchmarks use 0.8.
type Lengths struct {
	Input  int     `json:"input_length,omitempty"`     // 0 is 1024
	Output int     `json:"output_length,omitempty"`    // 0 is 256
	Low    float64 `json:"length_ratio_low,omitempty"` // 0 is 1
	// InputBins and OutputBins replace Input and Output.
	InputBins  []Bin `json:"input_distribution,omitempty"`
	OutputBins []Bin `json:"output_distribution,omitempty"`
}

// Bin is a range of lengths and its share of the requests. Weights need not add
// up to one.
type Bin struct {
	Min    int     `json:"min_tokens"`
	Max    int     `json:"max_tokens"` // exclusive
	Weight float64 `json:"weight"`
}

// ReadLengths reads bins from a file's content: YAML bins, a CSV column of
// lengths, or a trace. The name is for error messages; its extension selects the
// format.
func ReadLengths(data []byte, name string) ([]Bin, error) {
	d, err := workload.ReadDistribution(data, name)
	if err != nil {
		return nil, mistake(err)
	}
	out := make([]Bin, len(d.Bins))
	for i, b := range d.Bins {
		out[i] = Bin(b)
	}
	return out, nil
}

// Arrival is an arrival process.
type Arrival string

// The arrival processes.
const (
	Poisson  Arrival = "poisson"
	Gamma    Arrival = "gamma" // as bursty as Variation says; 1 is Poisson
	Constant Arrival = "constant"
)

// Limits are the limits a deployment has to meet; 0 is none. In JSON they are in
// milliseconds.
type Limits struct {
	TTFT    time.Duration // to the first token
	TPOT    time.Duration // per output token
	Latency time.Duration // of a whole request
}

// limitsJSON is Limits in milliseconds.
type limitsJSON struct {
	TTFT    float64 `json:"ttft_limit,omitempty"`
	TPOT    float64 `json:"tpot_limit,omitempty"`
	Latency float64 `json:"latency_limit,omitempty"`
}

// MarshalJSON writes the limits in milliseconds.
func (l Limits) MarshalJSON() ([]byte, error) {
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	return json.Marshal(limitsJSON{ms(l.TTFT), ms(l.TPOT), ms(l.Latency)})
}

// UnmarshalJSON reads limits in milliseconds.
func (l *Limits) UnmarshalJSON(data []byte) error {
	var in limitsJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	ms := func(x float64) time.Duration { return duration(units.Seconds(x / 1e3)) }
	*l = Limits{ms(in.TTFT), ms(in.TPOT), ms(in.Latency)}
	return nil
}

// internal is the limits in the form of package workload.
func (l Limits) internal() workload.Limits {
	return workload.Limits{
		TTFT: units.Seconds(l.TTFT.Seconds()), TPOT: units.Seconds(l.TPOT.Seconds()), Latency: units.Seconds(l.Latency.Seconds()),
	}
}

// check reports limits below zero.
func (l Limits) check() error {
	var errs []error
	for _, x := range []struct {
		name  field.Name
		limit time.Duration
	}{{"ttft_limit", l.TTFT}, {"tpot_limit", l.TPOT}, {"latency_limit", l.Latency}} {
		if x.limit < 0 {
			errs = append(errs, field.Errorf("%s must be positive, got %v", x.name, x.limit))
		}
	}
	return errors.Join(errs...)
}

// duration rounds to nanoseconds.
func duration(s units.Seconds) time.Duration {
	ns := math.Round(float64(s) * 1e9)
	switch { // what does not fit, conversion leaves open
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= math.MinInt64:
		return math.MinInt64
	}
	return time.Duration(ns)
}

// internal is the workload in the form of package app.
func (w *Workload) internal() (simulate.Traffic, error) {
	process, err := w.Arrival.internal()
	out := simulate.Traffic{
		Concurrency: w.Concurrency, Rate: w.Rate, Trace: w.Trace, Process: process, Variation: w.Variation, Requests: w.Requests,
		Input: w.Input, Output: w.Output, LengthLow: w.Low, Prefix: w.Prefix,
		InputLengths: distribution(w.InputBins), OutputLengths: distribution(w.OutputBins),
	}
	errs := []error{err}
	switch l := &w.Lengths; {
	case w.Trace == "":
		errs = append(errs, l.checkLengths())
	case l.Input != 0 || l.Output != 0 || l.Low != 0 || l.InputBins != nil || l.OutputBins != nil:
		errs = append(errs, field.Errorf("%s has its own lengths; omit the others", field.Name("trace")))
	}
	return out, errors.Join(errs...)
}

// internal is the arrival in the form of package sim.
func (a Arrival) internal() (sim.Process, error) {
	switch a {
	case "", Poisson:
		return sim.Poisson, nil
	case Gamma:
		return sim.Gamma, nil
	case Constant:
		return sim.Constant, nil
	}
	return 0, oneOf("arrival", string(a), []string{string(Poisson), string(Gamma), string(Constant)})
}

// distribution is bins in the form of package workload, nil without any.
func distribution(bins []Bin) *workload.Distribution {
	if len(bins) == 0 {
		return nil
	}
	out := &workload.Distribution{}
	for _, b := range bins {
		out.Bins = append(out.Bins, workload.Bin(b))
	}
	return out
}

// check reports lengths that no request can have.
func (l *Lengths) checkLengths() error {
	one := func(length, bins field.Name, tokens, otherwise int, from []Bin) error {
		if tokens != 0 && len(from) > 0 {
			return field.Errorf("give either %s or %s, not both", length, bins)
		}
		name := length
		if len(from) > 0 {
			name = bins
		}
		if tokens == 0 {
			tokens = otherwise
		}
		drawn := sim.Lengths{Tokens: tokens, Low: l.Low, Distribution: distribution(from)}
		if err := drawn.Check(); err != nil {
			return field.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return errors.Join(
		one("input_length", "input_distribution", l.Input, simulate.DefaultInput, l.InputBins),
		one("output_length", "output_distribution", l.Output, simulate.DefaultOutput, l.OutputBins),
	)
}
