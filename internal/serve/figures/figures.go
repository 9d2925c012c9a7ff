package figures

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
)

// Times are those of requests by one statistic: their mean, or a percentile.
type Times struct {
	TTFT    units.Seconds // to the first token; 0 of a deployment that only generates
	TPOT    units.Seconds // per token after the first; 0 where there is none
	Latency units.Seconds // of a whole request; 0 of a deployment that does a part of it
	// SLORatio is how many times as long as its limit the time of a request takes that misses its limit most, at the percentile that is
	// judged: 1.2 is 20 % too long. It has no unit, and is 0 unless limits are judged together.
	SLORatio units.Seconds
}

// Longer is the times when all take so many times as long.
func (t Times) Longer(by units.Seconds) Times {
	t.TTFT, t.TPOT, t.Latency = by*t.TTFT, by*t.TPOT, by*t.Latency
	return t
}

// Sampling is the relative standard errors of simulated times, which come from the number of requests that were simulated.
type Sampling struct {
	TTFT    float64 `json:"ttft"`
	TPOT    float64 `json:"tpot"`
	Latency float64 `json:"request_latency"`
}

// Figures are how fast a deployment is at one load.
type Figures struct {
	Times
	Sampling   Sampling // of the times; 0 of formulas
	Throughput float64  // tokens per second, of answers unless the deployment only computes prompts
}

// Outcome is what an evaluator says of a deployment at one load.
type Outcome struct {
	Batch       int // requests of a data-parallel rank
	Concurrency int // requests in flight, over all ranks and copies
	Figures
	Use memory.Use // of the fullest step
	// OOM is the phase whose step does not fit; the times then mean nothing.
	OOM Phase
	Steps
}

// Steps are the engine steps behind an outcome of formulas.
type Steps struct {
	Makespan                  units.Seconds // of a whole prefill phase
	PrefillTime, DecodeTime   units.Seconds // of one step
	PrefillBound, DecodeBound step.Bounds
	PrefillBatch              int // requests of a full prefill step, over all ranks
	Chunks                    int // that a prompt is cut into
}

// Phase is a part of the work of a deployment.
type Phase string

// The phases.
const (
	Prefill Phase = "prefill"
	Decode  Phase = "decode"
)
